"""An own server for the HTTP application: one listening socket, ended by a signal."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_plugins.mcp._http import McpApp

_GRACE_S = 2
_HTTP = 80


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        address: an IP address of this machine.
        port: 0 takes one that is free.

    Raises `OSError` where it is taken or not ours, `ValueError` for what is no IP address.
    """
    family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET  # noqa: PLR2004
    # With any other protocol than TCP by number asyncio would not switch Nagle's delay off.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def names_of(listener: socket.socket) -> frozenset[str]:
    """Return what a `Host` header says of a listening socket, exactly."""
    address, port = listener.getsockname()[:2]
    place = ipaddress.ip_address(address)
    shown = f"[{address}]" if place.version == 6 else address  # noqa: PLR2004
    names = {shown, "localhost"} if place.is_loopback else {shown}
    # Of the port that is meant without a word a client says nothing.
    bare = names if port == _HTTP else set[str]()
    return frozenset(bare | {f"{name}:{port}" for name in names})


def serve_http(
    app: McpApp, listener: socket.socket, *, begun: Callable[[], object] | None = None
) -> None:
    """Serve until SIGTERM or Ctrl-C; calls under way have two seconds to end.

    Args:
        app: what `asgi` returned.
        listener: what `listen` returned; it is closed.
        begun: called once, when requests are answered and a signal ends the server well.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if begun is not None:
                begun()

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = Server(config)

    def end(number: int, frame: object) -> None:  # noqa: ARG001 - what a signal brings
        server.should_exit = True

    if threading.current_thread() is threading.main_thread():
        # For one that comes before the server takes signals itself, and for the one that it hands
        # on when it has ended: to end well is all that was asked.
        before = signal.signal(signal.SIGTERM, end)
        try:
            asyncio.run(server.serve([listener]))
        finally:
            signal.signal(signal.SIGTERM, before)
    else:
        asyncio.run(server.serve([listener]))
