"""A server that is reached by streamable HTTP.

httpcore2, the transport below httpx2, has no redirects, cookies, proxies or variables of the
environment to be turned off, and connects to the addresses that were judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import ssl
from typing import TYPE_CHECKING, Any

import httpcore2

from toolseam import ToolError
from toolseam.guards import AllowedHost, EgressGuard, read_web_address, tls_context
from toolseam_plugins.mcp._client_events import Events, too_large
from toolseam_plugins.mcp._client_talk import MESSAGE_BYTES, Lost

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable, Mapping

    from toolseam.guards import EgressTarget, WebAddress
    from toolseam_plugins.mcp._client_talk import Talk

_CONNECT_S = 10.0
_ADDRESSES = 4
_STREAMS = 20
_OK, _REDIRECT, _REFUSED, _NOT_FOUND, _SERVER = 200, 300, 400, 404, 500
_JSON, _EVENTS = "application/json", "text/event-stream"
_NOT_ALLOWED = frozenset({401, 403})
_SESSION = re.compile(r"[\x21-\x7e]{1,256}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,8000}")
_UNREACHED = (httpcore2.ConnectError, httpcore2.ConnectTimeout)
_BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException)
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})


class Web:
    """One server by its URL; it keeps the session that the server gave out."""

    def __init__(self, guard: EgressGuard, url: str, token: str | None, trust: str | None) -> None:
        address = read_web_address(url)
        self.version = ""
        self._url = url
        self._address = address
        self._guard = guard
        self._token = token
        self._trust = trust
        self._session: str | None = None
        self._pool: httpcore2.AsyncConnectionPool | None = None
        self._talk: Talk | None = None

    @classmethod
    def to(cls, url: str, *, token_env: str | None, private: bool, authorities: str | None) -> Web:
        """Prepare for a URL of the operator; nothing is sent yet.

        Raises `Lost` where it may not be reached like this.
        """
        try:
            address = read_web_address(url)
        except ToolError:
            raise Lost("not_configured", "`url` is no http or https address", sent=False) from None
        here = address.host in _HERE
        token = None if token_env is None else os.environ.get(token_env, "")
        if token is not None and not _TOKEN.fullmatch(token):
            text = f"the variable {token_env} is not set, or no token"
            raise Lost("not_configured", text, sent=False)
        if token is not None and address.scheme != "https" and not here:
            text = "a token goes to other machines by https alone"
            raise Lost("not_configured", text, sent=False)
        allowed = AllowedHost(private=private or here, ports=(address.port,))
        return cls(EgressGuard({address.host: allowed}), url, token, authorities)

    def begin(self, talk: Talk) -> None:
        """Say who takes what comes back."""
        self._talk = talk

    async def send(self, message: bytes, answered: Callable[[], bool] | None = None) -> None:
        """Post one message, and read what comes back until it is answered."""
        pool = await self._opened()
        place = _place(self._address)
        headers = [*self._headers(), ("Content-Type", _JSON)]
        events = Events()
        try:
            async with pool.stream("POST", place, headers=headers, content=message) as response:
                await self._take(response, events, answered)
            if answered is not None and not answered():
                await self._resume(pool, events, answered)
        except _UNREACHED as error:
            raise _unreached(error) from None
        except _BROKEN:
            raise Lost("connection_lost", "the connection ended before the answer") from None

    async def close(self) -> None:
        """Give the session back, and close the connections."""
        if self._pool is None:
            return
        if self._session is not None:
            with contextlib.suppress(Lost, TimeoutError, *_UNREACHED, *_BROKEN):
                await self._give_back(self._pool)
        await self._pool.aclose()

    async def _give_back(self, pool: httpcore2.AsyncConnectionPool) -> None:
        async with asyncio.timeout(1):
            async with pool.stream("DELETE", _place(self._address), headers=self._headers()):
                pass

    def _headers(self) -> list[tuple[str, str]]:
        headers = [
            ("Host", self._address.origin.partition("://")[2]),
            ("User-Agent", "toolseam"),
            ("Accept", "application/json, text/event-stream"),
            ("Accept-Encoding", "identity"),
        ]
        if self.version:
            headers.append(("MCP-Protocol-Version", self.version))
        if self._session is not None:
            headers.append(("Mcp-Session-Id", self._session))
        if self._token is not None:
            headers.append(("Authorization", f"Bearer {self._token}"))
        return headers

    async def _opened(self) -> httpcore2.AsyncConnectionPool:
        """Make the pool when it is first needed: each of its connections is judged again."""
        if self._pool is None:
            secure = self._address.scheme == "https"
            context = await asyncio.to_thread(_trusting, self._trust) if secure else None
            self._pool = httpcore2.AsyncConnectionPool(
                context, max_connections=20, network_backend=Network(self._judge)
            )
        return self._pool

    async def _judge(self) -> EgressTarget:
        try:
            return await asyncio.to_thread(self._guard.judge, self._url, _CONNECT_S)
        except ToolError as error:
            reason = "unresolved" if error.retriable else "not_allowed"
            text = f"the server's address was refused: {error.message}"
            raise Lost(reason, text, sent=False) from None

    async def _resume(
        self, pool: httpcore2.AsyncConnectionPool, events: Events, answered: Callable[[], bool]
    ) -> None:
        """Ask for the rest of an answer whose stream has ended; the call is not sent again."""
        for _ in range(_STREAMS):
            if events.last_id is None:
                break
            await asyncio.sleep(events.retry_s)
            headers = [*self._headers(), ("Last-Event-ID", events.last_id)]
            async with pool.stream("GET", _place(self._address), headers=headers) as response:
                if response.status != _OK or _kind(_named(response.headers)) != _EVENTS:
                    raise Lost("connection_lost", "the server does not go on with its answer")
                await self._until(response, events, answered)
            if answered():
                return
        raise Lost("protocol", "the server's answer holds no answer to this request")

    async def _until(
        self, response: httpcore2.Response, events: Events, answered: Callable[[], bool]
    ) -> None:
        assert self._talk is not None  # noqa: S101 - `begin` came before
        async for event in events.read(response.aiter_stream()):
            self._talk.receive(event)
            if answered():
                return

    async def _take(
        self, response: httpcore2.Response, events: Events, answered: Callable[[], bool] | None
    ) -> None:
        """Read an answer as far as it is wanted; a session that it names is kept."""
        talk, headers = self._talk, _named(response.headers)
        assert talk is not None  # noqa: S101 - `begin` came before
        kind = _kind(headers)
        if headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise Lost("protocol", "the answer is encoded, and that was not asked for")
        if _OK <= response.status < _REDIRECT:
            session = headers.get("mcp-session-id", "")
            self._session = session if _SESSION.fullmatch(session) else self._session
        elif self._is_refusal(response.status) or kind != _JSON:
            raise self._refusal(response.status, talk)
        if answered is None:
            return
        if kind == _EVENTS:
            await self._until(response, events, answered)
        elif kind == _JSON:
            talk.receive(await _whole(response.aiter_stream()))
        if response.status >= _REFUSED and not answered():
            raise self._refusal(response.status, talk)

    def _is_refusal(self, status: int) -> bool:
        """Say whether a status counts, whatever error of the protocol stands below it."""
        forgotten = status == _NOT_FOUND and self._session is not None
        return status < _REFUSED or status in _NOT_ALLOWED or forgotten

    def _refusal(self, status: int, talk: Talk) -> Lost:
        """Say what a status means; what the server did not take has done nothing."""
        if status < _REFUSED:
            text = f"the server redirects ({status}), which is not followed"
            return Lost("redirect", text, sent=False)
        if status in _NOT_ALLOWED:
            text = f"the server does not take the token, or wants one ({status})"
            return Lost("unauthorized", text, sent=False)
        if status == _NOT_FOUND and self._session is not None:
            lost = Lost("connection_lost", "the server has forgotten the session", sent=False)
            talk.end(lost)  # the next call begins another
            return lost
        return Lost("http_status", f"the server answered {status}", sent=status >= _SERVER)


def _unreached(error: BaseException | None) -> Lost:
    """Tell a certificate that is wrong from a server that is not there."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            text = "the server's certificate is wrong, or of no authority that is trusted"
            return Lost("certificate", text, sent=False)
        error = error.__cause__ or error.__context__
    return Lost("unreachable", "no connection to the server could be made", sent=False)


def _kind(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _named(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in headers}


def _place(address: WebAddress) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=address.scheme.encode(),
        host=address.host.encode(),
        port=address.port,
        target=address.path.encode(),
    )


async def _whole(stream: AsyncIterable[bytes]) -> bytes:
    body = bytearray()
    async for chunk in stream:
        body += chunk
        if len(body) > MESSAGE_BYTES:
            raise too_large()
    return bytes(body)


def _trusting(authorities: str | None) -> ssl.SSLContext:
    try:
        return tls_context(authorities)
    except OSError:
        text = "the file of `authorities` cannot be read"
        raise Lost("not_configured", text, sent=False) from None


class Network(httpcore2.AsyncNetworkBackend):
    """Connects to judged addresses only, whatever host it is asked for."""

    def __init__(self, judge: Callable[[], Any]) -> None:
        self._judge = judge
        backend: Any = httpcore2.AnyIOBackend()
        self._backend: httpcore2.AsyncNetworkBackend = backend

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name; the addresses are judged
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - each address has its share
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that takes it, each with its share of the time."""
        target: EgressTarget = await self._judge()
        addresses = target.addresses[:_ADDRESSES]
        failed: Exception = httpcore2.ConnectTimeout()
        for address in addresses:
            try:
                return await self._backend.connect_tcp(address, port, _CONNECT_S / len(addresses))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed
