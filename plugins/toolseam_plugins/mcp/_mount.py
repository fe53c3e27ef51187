"""One mounted server: connected, listed, called, and connected again when it was lost."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from toolseam import ErrorCode, ToolError
from toolseam_plugins.mcp._client_listing import Listing, listed
from toolseam_plugins.mcp._client_results import fault_of
from toolseam_plugins.mcp._client_stdio import Child, environment
from toolseam_plugins.mcp._client_talk import Lost, RemoteFault, Talk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam._settings_keys import Mount as MountSettings
    from toolseam_plugins.mcp._client_listing import Definition
    from toolseam_plugins.mcp._client_talk import Progress

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_CONNECT_S = 30.0
_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602
_NOT_READ = frozenset({-32700, -32600})


class Mount:
    """A server of the operator's; lives in the event loop of the mounts.

    `listing` is the last good catalogue, None before there was one; `fault` says why the last
    try to connect or to list failed: no call is sent before one succeeds. `fresh_s` is how many
    seconds a list by URL is relied on: a server there says that it has changed only beside an
    answer.
    """

    fresh_s = 60.0

    def __init__(self, name: str, settings: MountSettings) -> None:
        self.name = name
        self.settings = settings
        self.listing: Listing | None = None
        self.fault: Lost | None = None
        self.last_words: tuple[str, ...] = ()
        self._log = logging.getLogger(f"toolseam.mount.{name}")
        self._turn = asyncio.Lock()
        self._talk: Talk | None = None
        self._listed_at = 0.0
        self._endings: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Connect and list, once; what fails is remembered and not raised."""
        try:
            await self._ready()
        except Lost as lost:
            self._log.warning("is not available: %s", lost.text)

    @property
    def server_asked(self) -> Mapping[str, int]:
        """What the server asked of us, and was refused."""
        return {} if self._talk is None else self._talk.refused

    async def call(
        self, tool: Definition, arguments: dict[str, Any], progress: Progress, *, reads: bool
    ) -> dict[str, Any]:
        """Call a tool by the definition that was pinned; at most once, whatever happens.

        Raises `ToolError`.
        """
        try:
            talk = await self._ready()
            self._hold_to(tool)
            return await talk.ask(
                "tools/call", {"name": tool.name, "arguments": arguments}, progress
            )
        except Lost as lost:
            raise failure_of(lost, reads=reads) from None
        except RemoteFault as fault:
            code = await self._code_of(fault, tool, reads=reads)
            raise fault_of(fault, code, tool.name) from None

    async def close(self) -> None:
        """End the connection."""
        if self._talk is not None:
            self._end(self._talk)
        if self._endings:
            await asyncio.wait(self._endings)

    def _end(self, talk: Talk) -> None:
        """End a connection beside everything else: a child may take its time."""
        if hasattr(talk, "transport"):
            task = asyncio.ensure_future(talk.close())
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    def _hold_to(self, tool: Definition) -> None:
        known = None if self.listing is None else self.listing.tools.get(tool.name)
        if known is None or known.sha256 != tool.sha256:
            raise definition_changed(self.name)

    async def _code_of(self, fault: RemoteFault, tool: Definition, *, reads: bool) -> ErrorCode:
        """Return the code for an error of the protocol, by its number and by what is listed."""
        if fault.code == _METHOD_NOT_FOUND:
            return ErrorCode.NOT_FOUND
        if fault.code == _INVALID_PARAMS:
            # The protocol has one number for bad arguments and for a tool that is not there.
            there = await self._still_lists(tool)
            return ErrorCode.INVALID_ARGUMENTS if there else ErrorCode.NOT_FOUND
        if fault.code in _NOT_READ or reads:
            return ErrorCode.UNAVAILABLE
        return ErrorCode.EXECUTION_ERROR

    async def _still_lists(self, tool: Definition) -> bool:
        if self._talk is not None:
            self._talk.changed = True
        try:
            await self._ready()
        except Lost:
            return True
        return self.listing is not None and tool.name in self.listing.tools

    async def _ready(self) -> Talk:
        """Return a connection whose catalogue is known; raises `Lost`."""
        async with self._turn:
            try:
                async with asyncio.timeout(min(_CONNECT_S, self.settings.timeout_s)):
                    return await self._connected()
            except TimeoutError:
                lost = Lost("no_answer", "the server did not answer in time", sent=False)
            except Lost as fault:
                lost = Lost(fault.reason, fault.text, sent=False)
            self.fault = lost
            raise lost

    async def _connected(self) -> Talk:
        talk = self._talk
        if talk is None or talk.lost is not None:
            if talk is not None:
                self._talk = None
                self._end(talk)
            talk = await self._connect()
        elif talk.changed or (
            self.settings.url is not None and monotonic() > self._listed_at + self.fresh_s
        ):
            await self._list(talk)
        return talk

    async def _connect(self) -> Talk:
        talk = Talk()
        try:
            await self._introduce(talk)
            await self._list(talk)
        except Lost:
            try:
                self.last_words = await _last_words(talk)
            finally:  # the time may be up while they are waited for
                self._end(talk)
            raise
        except BaseException:
            self._end(talk)
            raise
        self._talk = talk
        return talk

    async def _introduce(self, talk: Talk) -> None:
        """Open the transport and agree on a version; nothing is offered to the server."""
        import importlib_metadata

        said = self.settings
        if said.command is not None:
            words = [said.command, *said.args]
            talk.transport = await Child.start(words, environment(said.env), talk, self._log)
            web = None
        else:
            web = _web(said)
            web.begin(talk)
            talk.transport = web
        own = {"name": "toolseam", "version": importlib_metadata.version("toolseam")}
        offer: dict[str, Any] = {
            "protocolVersion": VERSIONS[0],
            "capabilities": {},
            "clientInfo": own,
        }
        try:
            answer = await talk.ask("initialize", offer)
        except RemoteFault as fault:
            raise Lost("protocol", f"the server refused to begin (error {fault.code})") from None
        version = answer.get("protocolVersion")
        if version not in VERSIONS:
            raise Lost("protocol", "the server speaks no version of the protocol that is known")
        if web is not None:
            web.version = str(version)
        await talk.tell("notifications/initialized")

    async def _list(self, talk: Talk) -> None:
        """Take the catalogue; until all of it was read it counts as changed."""
        self._listed_at = monotonic()
        talk.changed = False
        try:
            self.listing = await listed(talk)
        except BaseException:
            talk.changed = True
            raise
        self.fault = None


async def _last_words(talk: Talk) -> tuple[str, ...]:
    transport = getattr(talk, "transport", None)
    return await transport.last_words() if isinstance(transport, Child) else ()


def _web(said: MountSettings) -> Any:  # noqa: ANN401 - `Web`, of a module that needs an extra
    """Prepare to reach a URL."""
    try:
        from toolseam_plugins.mcp._client_http import Web
    except ImportError:
        text = "a mount by URL needs the extra `mcp`: pip install 'toolseam[mcp]'"
        raise Lost("missing_extra", text, sent=False) from None
    return Web.to(
        said.url or "",
        token_env=said.token_env,
        private=said.private,
        authorities=said.authorities,
    )


def definition_changed(mount: str) -> ToolError:
    """Return the failure of a tool that is no longer what the operator declared."""
    message = (
        f"The server of the mount {mount} defines this tool otherwise than the operator accepted;"
        f" nothing was sent. `toolseam mount {mount}` shows the definition."
    )
    return ToolError(message, ErrorCode.UNAVAILABLE, metadata={"reason": "definition_changed"})


def failure_of(lost: Lost, *, reads: bool) -> ToolError:
    """Return the failure of a call without an answer.

    One that may have reached the server may have acted there: what writes is `execution_error`
    then, so that its effect counts as unknown.
    """
    acted = lost.sent and not reads
    said = f"{lost.text[:1].upper()}{lost.text[1:]}."
    message = f"{said} The change may still apply." if acted else said
    code = ErrorCode.EXECUTION_ERROR if acted else ErrorCode.UNAVAILABLE
    retriable = not lost.sent and lost.reason in {"connection_lost", "unreachable", "no_answer"}
    return ToolError(message, code, retriable=retriable, metadata={"reason": lost.reason})
