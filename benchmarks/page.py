"""The inspector's page: how long until its first byte."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAIT_S = 30


def measure(effort: Effort) -> Iterator[Measured]:
    """Ask a running server as a browser does, with a connection of its own each time."""
    with _served() as port:
        first = _first_byte(port)
        spent = [_first_byte(port) for _ in range(10 * effort.rounds)]
    beside = f"the first visit {first * 1e3:.3g} ms, the worst of {len(spent)} others "
    yield Measured("page.first", median(spent) * 1e3, f"{beside}{max(spent) * 1e3:.3g} ms")


def _first_byte(port: int) -> float:
    began = perf_counter()
    connection = HTTPConnection("127.0.0.1", port, timeout=_WAIT_S)
    connection.request("GET", "/")
    answer = connection.getresponse()
    byte = answer.read(1)
    taken = perf_counter() - began
    connection.close()
    assert answer.status == 200
    assert byte
    return taken


@contextmanager
def _served() -> Iterator[int]:
    import uvicorn

    from toolseam import Host
    from toolseam_plugins.inspector import asgi

    # With the protocol unnamed asyncio would leave Nagle's algorithm on.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    port: int = listening.getsockname()[1]
    with Host.load() as host:
        app = asgi(host, origin=f"http://127.0.0.1:{port}")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        serving.start()
        try:
            while not server.started:
                sleep(0.005)
            yield port
        finally:
            server.should_exit = True
            serving.join(_WAIT_S)
