"""MCP over streamable HTTP: a gate before the SDK's session manager, as an ASGI application.

Nothing of a request is read, and no tool is near, before the gate has let it through: Host 421,
Origin 403, token 401, method 405, content type 415, size 413, in this order.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
from contextvars import Context
from importlib.metadata import version
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from toolseam_plugins.mcp._envelope import Unreadable, read
from toolseam_plugins.mcp._http_form import (
    BODY,
    form_fault,
    header,
    headers,
    refuse,
    replayed,
    respond,
    whole_body,
    with_length,
)
from toolseam_plugins.mcp._sdk import find_sdk, http
from toolseam_plugins.mcp._server_origin import SCOPE
from toolseam_plugins.mcp._server_peer import IDLE_S, KEPT, Caller, Key, Peer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    from toolseam import Actor, Host, Session, Zone
    from toolseam_plugins.mcp._http_form import Receive, Scope, Send

    ActorFrom = Callable[[Any], Actor | Awaitable[Actor | None] | None]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_SESSIONS = 1_000
_SMALL = 50_000
_SHORTEST = 16
_SESSION = b"mcp-session-id"
_OWN = (b"same-origin", b"none")


def asgi(  # noqa: PLR0913 - each is a word of the operator's
    host: Host,
    *,
    token: str | None = None,
    actor_from: ActorFrom | None = None,
    actor: Actor | None = None,
    hosts: Iterable[str] = LOOPBACK,
    tools: Iterable[str] | None = None,
    zone: Zone | str | None = None,
    structured: Iterable[str] = (),
    path: str | None = None,
) -> McpApp:
    """Return an ASGI application that serves MCP, to run by itself or to mount in another.

    Args:
        host: whose tools are served.
        token: the bearer token that a request must have; at least 16 characters.
        actor_from: returns who acts, from Starlette's `Request`, or None for nobody (401); may
            be async. Instead of a token: the application around knows its people.
        actor: who acts where a token is asked; without one only `public_content` answers.
        hosts: values of the `Host` header that are this server's, with or without a port; a
            browser's `Origin` must be of the same name and port as the request's `Host`.
        tools: an allow-list of names and `group:<name>`; None is no narrowing.
        zone: where the client's model stands, by default the settings' `zone`.
        structured: tools whose declared `data` goes out as `structuredContent` besides.
        path: the only path that is answered; None is every path that gets here.

    Raises `ValueError` unless exactly one of `token` and `actor_from` is given, `McpUnavailable`
    where the SDK is not installed.
    """
    if (token is None) == (actor_from is None):
        raise ValueError("give a token or actor_from: nobody is let in unasked")
    if token is not None and len(token) < _SHORTEST:
        message = f"a token has at least {_SHORTEST} characters"
        raise ValueError(message)
    sdk = find_sdk()
    allowed = None if tools is None else frozenset(tools)

    def opened(key: Key) -> Session:
        return host.session(actor=key.owner, tools=allowed, zone=zone, keep=KEPT)

    peer = Peer(host, opened, frozenset(structured))
    manager = http(sdk.make_server(peer, version("toolseam")), BODY, _SESSIONS)
    people = _Token(token, actor) if token is not None else _People(cast("ActorFrom", actor_from))
    return McpApp(manager, peer, people, frozenset(hosts), path)


class _Token:
    """Lets in who has the one token."""

    def __init__(self, token: str, actor: Actor | None) -> None:
        self._token = token.encode()
        self._actor = actor

    async def __call__(self, scope: Scope) -> tuple[Actor | None] | None:
        given = headers(scope, b"authorization")
        if len(given) != 1:
            return None
        kind, _, token = given[0].partition(b" ")
        same = hmac.compare_digest(token.strip(), self._token)
        return (self._actor,) if same and kind.lower() == b"bearer" else None


class _People:
    """Lets in whom the application around knows."""

    def __init__(self, actor_from: ActorFrom) -> None:
        self._actor_from = actor_from

    async def __call__(self, scope: Scope) -> tuple[Actor | None] | None:
        from starlette.requests import Request

        found = self._actor_from(Request(scope))
        actor = await found if inspect.isawaitable(found) else found
        return None if actor is None else (actor,)


class McpApp:
    """The application; it starts with its first request, and ends with the lifespan or the loop.

    Mounted in another application it needs no lifespan of its own.
    """

    def __init__(
        self,
        manager: Any,  # noqa: ANN401 - the SDK's
        peer: Peer,
        people: _Token | _People,
        hosts: frozenset[str],
        path: str | None,
    ) -> None:
        self._manager = manager
        self._peer = peer
        self._people = people
        self._hosts = frozenset(name.lower().encode() for name in hosts)
        self._path = path
        self._owners: dict[str, _Owned] = {}
        self._running: asyncio.Task[None] | None = None
        self._started: asyncio.Event | None = None
        self._ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one scope."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def aclose(self) -> None:
        """End every session; requests after this are answered with 503."""
        self._ended.set()
        if self._running is not None:
            await self._running
        self._peer.close()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] != "lifespan.shutdown":
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _ready(self) -> bool:
        """Start the manager in a task of its own, which is the one that ends it."""
        if self._ended.is_set():
            return False
        if self._started is None:
            self._started = asyncio.Event()
            # What the first request brings along, say its span, is not for all that follow.
            bare = Context()
            self._running = asyncio.create_task(self._run(self._started), context=bare)
        await self._started.wait()
        return True

    async def _run(self, started: asyncio.Event) -> None:
        try:
            async with self._manager.run():
                started.set()
                await self._ended.wait()
        finally:
            self._ended.set()
            started.set()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, owner = await self._judge(scope)
        if status:
            await refuse(send, status)
            return
        body = b""
        if scope["method"] == "POST":
            read_whole = await whole_body(receive)
            if read_whole is None:
                await refuse(send, 413)
                return
            body = read_whole
        if not await self._ready():
            await refuse(send, 503)
            return
        session = header(scope, _SESSION).decode("latin-1")
        arguments = None
        if body:
            # A large one may be hostile, and then costs the loop what others wait for.
            found = read(body) if len(body) < _SMALL else await asyncio.to_thread(read, body)
            if isinstance(found, Unreadable):
                await respond(send, 400, found.answer())
                return
            arguments = found.arguments
            if arguments is not None:
                body = found.json()
        passed = {**scope, SCOPE: Caller(Key(owner, session), arguments)}
        passed["headers"] = with_length(scope["headers"], len(body))
        watched = self._watched(send, scope, owner, session)
        try:
            await self._manager.handle_request(passed, replayed(body, receive), watched)
        finally:
            self._touch(session, owner)

    async def _judge(self, scope: Scope) -> tuple[int, Actor | None]:
        """Return the status that refuses a request, or 0, and who acts."""
        status = self._place_fault(scope)
        if status:
            return status, None
        allowed = await self._people(scope)
        if allowed is None:
            return 401, None
        owner = allowed[0]
        status = form_fault(scope)
        if status:
            return status, None
        session = header(scope, _SESSION).decode("latin-1")
        owned = self._owners.get(session)
        if session and (owned is None or owned.owner != owner):
            return 404, None  # as if it were not there
        self._touch(session, owner)
        return 0, owner

    def _place_fault(self, scope: Scope) -> int:
        """Return the status for a request that was sent elsewhere, or from elsewhere; or 0."""
        if self._path is not None and scope["path"] != self._path:
            return 404
        name = header(scope, b"host").lower()
        if not self._is_own(name):
            return 421
        origin = header(scope, b"origin").lower()
        # Another port of this machine is another server's page.
        if origin and origin not in {b"http://" + name, b"https://" + name}:
            return 403
        return 0 if header(scope, b"sec-fetch-site", b"none") in _OWN else 403

    def _is_own(self, name: bytes) -> bool:
        if name in self._hosts:
            return True
        bare, colon, port = name.rpartition(b":")
        return bool(colon) and port.isdigit() and bare in self._hosts

    def _watched(self, send: Send, scope: Scope, owner: Actor | None, session: str) -> Send:
        """Note whose a new session is, and forget one that its client has ended."""

        async def watch(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:  # noqa: PLR2004
                made = dict(message.get("headers", ())).get(_SESSION, b"").decode("latin-1")
                if made and made not in self._owners:
                    self._forget_idle()
                    self._owners[made] = _Owned(owner)
                if scope["method"] == "DELETE" and session:
                    self._forget(session, owner)
            await send(message)

        return watch

    def _touch(self, session: str, owner: Actor | None) -> None:
        """Note a request at its begin and end, for the gate and the peer alike."""
        if session in self._owners:
            self._owners[session].used = monotonic()
            self._peer.touch(Key(owner, session))

    def _forget(self, session: str, owner: Actor | None) -> None:
        self._owners.pop(session, None)
        self._peer.forget(Key(owner, session))

    def _forget_idle(self) -> None:
        before = monotonic() - IDLE_S
        for session, owned in list(self._owners.items()):
            if owned.used < before:
                self._forget(session, owned.owner)


class _Owned:
    def __init__(self, owner: Actor | None) -> None:
        self.owner = owner
        self.used = monotonic()
