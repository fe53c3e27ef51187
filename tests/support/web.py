"""A loopback server that answers what a test wants, byte by byte, and remembers what it heard."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answer = bytes | Callable[[socket.socket], None]


@attrs.define
class Server:
    """Where it listens, and the head of each request that it was sent."""

    port: int
    heard: list[str] = attrs.field(factory=list)
    names: list[str | None] = attrs.field(factory=list)
    """What TLS clients called it."""


def page(
    body: bytes = b"hello", *headers: str, status: str = "200 OK", kind: str = "text/plain"
) -> bytes:
    """Write an HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


@contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Serve on a port of the loopback until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1])
    if tls is not None:
        tls.sni_callback = lambda _, name, __: server.names.append(name)
    threading.Thread(target=_serve, args=(listener, server, answer, tls), daemon=True).start()
    try:
        yield server
    finally:
        listener.close()


def _serve(
    listener: socket.socket, server: Server, answer: Answer, tls: ssl.SSLContext | None
) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with suppress(OSError), connection:
                connection.settimeout(10)
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                _answer(connection, server, answer)


def _answer(connection: socket.socket, server: Server, answer: Answer) -> None:
    with connection:
        head = b""
        while b"\r\n\r\n" not in head and (not head or head.startswith(b"GET")):
            received = connection.recv(65_536)
            if not received:
                return
            head += received
        server.heard.append(head.decode("latin-1"))
        if callable(answer):
            answer(connection)
        else:
            connection.sendall(answer)
