"""What an MCP client is told: the tools of its session, and one answer a call.

Nothing here knows a version of the SDK: what goes in and out is plain JSON.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolseam import Effect, Step, Zone
from toolseam_plugins.mcp._server_notes import Notes
from toolseam_plugins.otel import extract

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam import Actor, Host, Session, ToolSpec, WireText
    from toolseam_plugins.mcp._server_notes import Send

LOGGER = logging.getLogger("toolseam.mcp")

LEVELS = ("debug", "info")
"""The levels of a client's log at which it is told what a tool says while it works."""


KEPT = 256
"""Steps of a session in memory; a client may stay for months."""

IDLE_S = 1_800.0
"""Seconds without a request after which a conversation with an end is forgotten."""

_HINTS = {
    Effect.READ_ONLY: {"readOnlyHint": True},
    Effect.IDEMPOTENT_WRITE: {"readOnlyHint": False, "idempotentHint": True},
}


class Key(NamedTuple):
    """What a conversation is known by: whose it is, and the client's session.

    `session` is empty for all that somebody asks without one; that conversation has no end.
    """

    owner: Actor | None = None
    session: str = ""


class Caller(NamedTuple):
    """Who asks: the key of a conversation, and the raw arguments of this call.

    `arguments` is JSON text, or a mapping where no transport of ours was between.
    """

    key: Key = Key()
    arguments: bytes | Mapping[str, Any] | None = None


class _Held:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.used = monotonic()
        self.level = "info"


class Peer:
    """Answers the clients of one server; lives in one event loop.

    Args:
        host: whose tools they are.
        open_session: returns a new session for the key of a conversation.
        structured: tools whose declared data goes out as `structuredContent` besides.
    """

    def __init__(
        self,
        host: Host,
        open_session: Callable[[Key], Session],
        structured: frozenset[str] = frozenset(),
    ) -> None:
        self._host = host
        self._loaded = False
        self._open = open_session
        self._structured = structured
        self._held: dict[Key, _Held] = {}
        self._calls = 0
        self._end: Callable[[], None] | None = None

    def close(self) -> None:
        """Forget every session."""
        self._held.clear()

    def session(self, key: Key) -> Session:
        """Return the session of a conversation, a new one for a new key."""
        held = self._held.get(key)
        if held is None:
            self._forget_idle()
            held = self._held[key] = _Held(self._open(key))
        held.used = monotonic()
        return held.session

    def touch(self, key: Key) -> None:
        """Note that a client is still there, whatever it asked."""
        if key in self._held:
            self._held[key].used = monotonic()

    def forget(self, key: Key) -> None:
        """Forget a conversation that its client has ended."""
        self._held.pop(key, None)

    def level(self, key: Key) -> str:
        """Return the level of a conversation's log; `info` where its client has set none."""
        held = self._held.get(key)
        return "info" if held is None else held.level

    def set_level(self, key: Key, level: str) -> None:
        """Set the level of a conversation's log."""
        self.session(key)
        self._held[key].level = level

    def _forget_idle(self) -> None:
        before = monotonic() - IDLE_S
        for key in [key for key, held in self._held.items() if key.session and held.used < before]:
            del self._held[key]

    async def tools(self, caller: Caller) -> list[dict[str, Any]]:
        """Return the tools that this client is offered, as MCP describes them."""
        if not self._loaded:
            # Whatever was not imported yet is now, and others are served meanwhile.
            await asyncio.to_thread(self._host.tools)
            self._loaded = True
        session = self.session(caller.key)
        specs = {spec.name: spec for spec in session.tools()}
        told = session.schemas("mcp")
        for tool in told:
            spec = specs.get(tool["name"])
            if spec is None:
                continue
            tool["annotations"] = _hints(spec)
            if self._is_structured(spec):
                tool["outputSchema"] = spec.promised_schema
        return told

    async def call(
        self, caller: Caller, name: str, send: Send, meta: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Make a call and return its one answer; nothing but a cancellation is raised.

        Args:
            caller: whose session, with what arguments.
            name: the tool, as `tools` named it.
            send: sends one note of progress to the client.
            meta: the request's `_meta`; whose trace it belongs to is all that is read.
        """
        session = self.session(caller.key)
        notes = Notes(asyncio.get_running_loop(), send, masked=session.zone is not Zone.LOCAL)
        token = _NOTES.set(notes)
        # While calls are under way alone: nobody says when a server in process is let go.
        if not self._calls:
            self._end = self._host.listen(_tell)
        self._calls += 1
        try:
            wire, step = await self._called(session, name, caller.arguments, notes, meta)
            await notes.end()
        finally:
            self._calls -= 1
            if not self._calls and self._end is not None:
                self._end()
            _NOTES.reset(token)
            notes.stop()
        return self._answer(session, wire, step)

    async def _called(
        self,
        session: Session,
        name: str,
        arguments: Any,  # noqa: ANN401
        notes: Notes,
        meta: Mapping[str, Any],
    ) -> tuple[WireText, Step]:
        try:
            with extract(meta):
                return await session.acall_wire(name, arguments)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            # A tool's KeyboardInterrupt is recorded and raised; out of a task it ends the loop.
            step = notes.step
            if step is None or step.wire is None:
                raise
            LOGGER.warning("%s raised %s", step.tool, type(error).__name__)
            return step.wire, step

    def _answer(self, session: Session, wire: WireText, step: Step) -> dict[str, Any]:
        failure = step.result.failure
        answer: dict[str, Any] = {
            "content": [{"type": "text", "text": str(wire)}],
            "isError": failure is not None,
        }
        if failure is not None:
            told = {"toolseam/code": failure.code.value, "toolseam/retriable": failure.retriable}
            answer["_meta"] = told
        elif step.data is not None and step.tool in self._structured:
            spec = next((each for each in session.tools() if each.name == step.tool), None)
            if spec is not None and self._is_structured(spec):
                answer["structuredContent"] = _shown(step.data.value, session.zone)
        return answer

    def _is_structured(self, spec: ToolSpec) -> bool:
        promised = spec.promised_schema if spec.name in self._structured else None
        return promised is not None and promised.get("type") == "object"


_NOTES: ContextVar[Notes | None] = ContextVar("toolseam_mcp_notes", default=None)


def _tell(what: object) -> None:
    """Hand a step or a live note to the request in whose context it happened."""
    notes = _NOTES.get()
    if notes is not None:
        notes.take(what)


def _hints(spec: ToolSpec) -> dict[str, bool]:
    hints = _HINTS.get(spec.effect, {"readOnlyHint": False, "destructiveHint": True})
    return {**hints, "openWorldHint": spec.sends_to is not None}


def _shown(data: object, zone: Zone) -> object:
    """Return declared data as its receiver may have it: secret shapes masked, as in the text."""
    if zone is Zone.LOCAL:
        return data
    if isinstance(data, dict):
        items = cast("dict[str, object]", data).items()
        return {key: _shown(value, zone) for key, value in items}
    if isinstance(data, list):
        return [_shown(value, zone) for value in cast("list[object]", data)]
    if isinstance(data, str):
        from toolseam.guards import mask_secrets

        return mask_secrets(data)[0]
    return data
