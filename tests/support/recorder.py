"""A listener on loopback that should hear nothing."""

import socket
import threading
from collections.abc import Iterator

import attrs
import pytest


@attrs.frozen
class Recorder:
    """Where it listens, and one entry for each connection that was made."""

    port: int
    heard: list[object] = attrs.field(factory=list)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Listen on a free port for as long as a test runs."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        found = Recorder(server.getsockname()[1])

        def listen() -> None:
            while not stop.is_set():
                try:
                    client, address = server.accept()
                except TimeoutError:
                    continue
                found.heard.append(address)
                client.close()

        thread = threading.Thread(target=listen)
        thread.start()
        yield found
        stop.set()
        thread.join()
