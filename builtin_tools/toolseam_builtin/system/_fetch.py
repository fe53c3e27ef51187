"""One GET to an address that was judged, within one deadline and a bound on what is read.

httpcore2 is the transport below httpx2: it has no cookies, proxies, redirects, decoding or
variables of the environment to be turned off, and lets the connection be made elsewhere than to
what a second look-up of the name would give.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import attrs
import httpcore2

from toolseam import ErrorCode, ToolError
from toolseam.guards import tls_context
from toolseam_builtin.system._network import Network, connect, unavailable

if TYPE_CHECKING:
    import ssl

    from toolseam.guards import EgressTarget
    from toolseam_builtin.system._network import Connect

BODY_BYTES = 65_536
_ADDRESSES = 4


@attrs.frozen
class Reply:
    """What came back.

    `headers` are names in lower case and values in their order; `body` is its beginning, at most
    64 KB, and `ended` tells how it ended; `seconds` passed until the head was there.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    ended: Literal["whole", "cut", "slow", "broken"]
    seconds: float

    def header(self, name: str) -> str:
        """Return the first value of a header, or an empty text."""
        return next((value for key, value in self.headers if key == name), "")


def fetch(
    target: EgressTarget, authorities: str | None, seconds: float, connector: Connect = connect
) -> Reply:
    """Ask once and read the beginning of the answer.

    Args:
        target: what was judged; the connection goes to its addresses in turn, until one takes it.
        authorities: a PEM file of authorities besides the system's.
        seconds: for everything together.
        connector: makes the connection.

    Raises `ToolError` `unavailable`, with a reason: `unreachable`, `certificate`, `no_answer` in
    time, `no_http`.
    """
    url = target.url
    began = time.monotonic()
    network = Network(target.addresses[:_ADDRESSES], began + seconds, connector)
    context = _trust(authorities) if url.scheme == "https" else None
    try:
        with httpcore2.ConnectionPool(context, network_backend=network) as pool:
            return _ask(pool, target, began)
    except httpcore2.TimeoutException:
        raise unavailable(f"It did not answer within {seconds:.3g} s.", "no_answer") from None
    except httpcore2.ConnectError:
        raise unavailable("No connection to the host could be made.", "unreachable") from None
    except (httpcore2.ProtocolError, httpcore2.NetworkError):
        raise unavailable("It ended the connection, or did not speak HTTP.", "no_http") from None


def _ask(pool: httpcore2.ConnectionPool, target: EgressTarget, began: float) -> Reply:
    url = target.url
    place = httpcore2.URL(
        scheme=url.scheme.encode(),
        host=url.host.encode(),
        port=url.port,
        target=url.path.encode(),
    )
    asked = [
        ("Host", url.origin.partition("://")[2]),
        ("User-Agent", "toolseam"),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
    ]
    with pool.stream("GET", place, headers=asked) as response:
        seconds = time.monotonic() - began
        headers = tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in response.headers
        )
        body, ended = _beginning(response, dict(headers).get("content-encoding", "identity"))
        return Reply(response.status, headers, body, ended, seconds)


def _beginning(
    response: httpcore2.Response, encoding: str
) -> tuple[bytes, Literal["whole", "cut", "slow", "broken"]]:
    """Read no more than is looked at; an encoded body is not looked at."""
    if encoding.strip().lower() != "identity":
        return b"", "cut"
    body = bytearray()
    try:
        for chunk in response.iter_stream():
            body += chunk[: BODY_BYTES + 1 - len(body)]
            if len(body) > BODY_BYTES:
                return bytes(body[:BODY_BYTES]), "cut"
    except httpcore2.TimeoutException:
        return bytes(body), "slow"
    except (httpcore2.ProtocolError, httpcore2.NetworkError):
        return bytes(body), "broken"
    return bytes(body), "whole"


def _trust(authorities: str | None) -> ssl.SSLContext:
    try:
        return tls_context(authorities)
    except OSError:
        message = "The file of authorities for this host cannot be read."
        raise ToolError(message, ErrorCode.UNAVAILABLE) from None
