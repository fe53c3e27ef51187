"""The gate before every request: where it comes from, who sends it, and what it may carry.

Nothing behind it runs, and no body is read, before all of that is settled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from toolseam_plugins.inspector._access import Access

BODY_BYTES = 1_000_000
KEY_HEADER = "x-toolseam-key"
_ENTER = "/api/enter"
_FOREIGN = "This request does not come from the page itself."
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
HEADERS = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


class Refused(Exception):
    """A request that goes no further.

    Args:
        status: of HTTP.
        code: for programs.
        message: for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    @property
    def body(self) -> bytes:
        """The answer."""
        return orjson.dumps({"error": {"code": self.code, "message": self.message}})


class Gate:
    """Lets through what the page of these origins asks for, in a browser that came in."""

    def __init__(self, app: ASGIApp, origins: Iterable[str], access: Access) -> None:
        self._app = app
        self._access = access
        self._origins = dict(map(_origin, origins))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on; every answer bears the same headers."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def bearing(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            self._judge(scope)
        except Refused as refused:
            body = refused.body
            length = str(len(body)).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", length)]
            start = {"type": "http.response.start", "status": refused.status, "headers": headers}
            await bearing(start)
            await bearing({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, bearing)

    def _judge(self, scope: Scope) -> None:
        """Raise `Refused` unless the request may be looked at."""
        sent = _Headers(scope)
        host, origin = sent.only("host"), sent.only("origin")
        if host not in self._origins:
            raise Refused(403, "forbidden", "This is not the address of the inspector.")
        if origin not in ("", self._origins[host]):
            raise Refused(403, "forbidden", _FOREIGN)
        site = sent.only("sec-fetch-site")
        if site not in {"", "same-origin", "none"} and not _is_visit(scope, sent):
            raise Refused(403, "forbidden", _FOREIGN)
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            raise Refused(405, "method_not_allowed", "Only GET and POST are answered.")
        self._admit(scope, sent)
        if scope["method"] == "POST":
            _refuse_body(sent)

    def _admit(self, scope: Scope, sent: _Headers) -> None:
        path = _path(scope)
        is_page = path in {"", "/"} or path.startswith("/static/")
        if (scope["method"] != "POST" and is_page) or (
            scope["method"] == "POST" and path == _ENTER
        ):
            return
        cookies = sent.cookies(self._access.cookie_name)
        if not self._access.knows(cookies, sent.only(KEY_HEADER)):
            message = "The link was used, or is not known here. Ask for a new one."
            raise Refused(401, "unauthenticated", message)


def _is_visit(scope: Scope, sent: _Headers) -> bool:
    """Tell whether a person follows the link from elsewhere: a file, a terminal in a browser.

    It opens the page as a window of its own, and the page alone holds nothing.
    """
    how = sent.only("sec-fetch-mode"), sent.only("sec-fetch-dest")
    is_window = scope["method"] == "GET" and how == ("navigate", "document")
    return is_window and _path(scope) == "/" and not scope["query_string"]


def _path(scope: Scope) -> str:
    """Return the path below the one where the page is mounted, as the router takes it."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    below = path.removeprefix(root)
    return below if below == "" or below.startswith("/") else path


class _Headers:
    """The headers of a request by name; one that comes twice is no header we could trust."""

    def __init__(self, scope: Scope) -> None:
        self._all: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._all.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def only(self, name: str) -> str:
        """Return the one header of this name, "" for none; raises `Refused` for several."""
        found = self._all.get(name, [])
        if len(found) > 1:
            raise Refused(400, "invalid_arguments", f"The header {name} comes twice.")
        return found[0] if found else ""

    def cookies(self, name: str) -> list[str]:
        """Return the cookies of this name."""
        pairs = (
            each.strip().partition("=")
            for line in self._all.get("cookie", ())
            for each in line.split(";")
        )
        return [value for key, _, value in pairs if key == name]


def _refuse_body(sent: _Headers) -> None:
    kind = sent.only("content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "unsupported_media_type", "Bodies are application/json.")
    length = sent.only("content-length")
    if length.isascii() and length.isdigit() and int(length[:20]) > BODY_BYTES:
        raise too_large()


def too_large() -> Refused:
    """Return the refusal of a body that is longer than what is read."""
    return Refused(413, "too_large", f"A body has at most {BODY_BYTES:,} bytes.")


def _origin(given: str) -> tuple[str, str]:
    """Return the `Host` header of an origin, and the origin as browsers write it."""
    parts = urlsplit(given)
    plain = f"{parts.scheme}://{parts.netloc}"
    if parts.scheme not in {"http", "https"} or not parts.netloc or given.rstrip("/") != plain:
        message = f"origin: expected a scheme, a host and maybe a port, not {given!r}"
        raise ValueError(message)
    # Browsers leave out the port that the scheme implies.
    port = ":443" if parts.scheme == "https" else ":80"
    place = parts.netloc.lower().removesuffix(port)
    return place, f"{parts.scheme}://{place}"
