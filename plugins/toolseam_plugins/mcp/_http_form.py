"""What a request to the HTTP server has to be before it is read, and how it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_plugins.mcp._envelope import INVALID_REQUEST, Unreadable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BODY = 1_000_000
"""Bytes of a request's body."""

_DIGITS = 20
_REFUSALS = {
    401: "Unauthorized: a bearer token is needed.",
    403: "Forbidden: another origin.",
    404: "Not found: no such path, or no such session.",
    405: "Method not allowed.",
    413: f"A request has at most {BODY:,} bytes.",
    415: "A request is application/json.",
    421: "This server does not go by that name.",
    503: "The server is stopping.",
}

_BESIDE = {
    401: [(b"www-authenticate", b"Bearer")],
    405: [(b"allow", b"GET, POST, DELETE")],
}


def form_fault(scope: Scope) -> int:
    """Return the status for a request that is none of MCP's, or 0."""
    if scope["method"] not in {"GET", "POST", "DELETE"}:
        return 405
    if scope["method"] != "POST":
        return 0
    kind = header(scope, b"content-type").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        return 415
    length = header(scope, b"content-length", b"0")
    countable = length.isdigit() and len(length) <= _DIGITS
    return 0 if countable and int(length) <= BODY else 413


def headers(scope: Scope, name: bytes) -> list[bytes]:
    """Return every header of a name."""
    return [value for key, value in scope["headers"] if key == name]


def header(scope: Scope, name: bytes, absent: bytes = b"") -> bytes:
    """Return a header; of a doubled one something that no rule takes."""
    found = headers(scope, name)
    return absent if not found else found[0] if len(found) == 1 else b"\0"


def with_length(headers: Iterable[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    """Return headers for a body of another length."""
    return [(k, str(length).encode() if k == b"content-length" else v) for k, v in headers]


async def whole_body(receive: Receive) -> bytes | None:
    """Read the body, or stop where it is too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > BODY:
            return None
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read once more, and then what else the client does."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return again


async def refuse(send: Send, status: int) -> None:
    answer = Unreadable(INVALID_REQUEST, _REFUSALS[status]).answer()
    await respond(send, status, answer)


async def respond(send: Send, status: int, body: bytes) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    headers += _BESIDE.get(status, [])
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
