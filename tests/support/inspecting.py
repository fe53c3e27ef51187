"""The inspector of a host on a real server on loopback, asked by a client or by raw bytes."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import httpx2
import uvicorn

from support.tools import ADA
from toolseam_plugins import inspector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam import Actor, Host

_SECONDS = 60


class _Server(uvicorn.Server):
    """A server that looks every few milliseconds whether it is to end, and not every hundred."""

    async def main_loop(self) -> None:
        """Wait for the end."""
        while not self.should_exit:
            await asyncio.sleep(0.005)


class _Replied:
    """What `http.client` reads a reply from."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, *_: object) -> io.BytesIO:
        """Return what was received."""
        return io.BytesIO(self._raw)


@attrs.frozen
class Answered:
    """A reply as it came: status, headers in lower case, and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


@attrs.define(eq=False)
class Page:
    """The page of a host: where it is, a client that may come in, and its app."""

    app: Any
    host: Host
    port: int
    client: httpx2.Client

    @property
    def origin(self) -> str:
        """Where browsers find it."""
        return f"http://127.0.0.1:{self.port}"

    def enter(self) -> None:
        """Use a link up, as the page does."""
        token = self.app.new_link().partition("#")[2]
        entered = self.client.post("/api/enter", json={"token": token})
        assert entered.status_code == 200
        self.client.headers["X-Toolseam-Key"] = entered.json()["key"]

    def get(self, path: str, status: int = 200) -> Any:
        """Return the JSON that a path answers."""
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()

    def post(self, path: str, said: object, status: int = 200) -> Any:
        """Return the JSON that a path answers to what is sent there."""
        answer = self.client.post(path, json=said)
        assert answer.status_code == status, answer.text
        return answer.json()

    def call(self, tool: str, arguments: str = "{}", **more: Any) -> Any:
        """Make a call in the playground and return its step."""
        said = {"tool": tool, "arguments_json": arguments, **more}
        return self.post("/api/call", said)["step"]

    def admitted(self) -> dict[str, str]:
        """Return the headers that let a request in."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        return {"Cookie": cookies, "X-Toolseam-Key": self.client.headers["X-Toolseam-Key"]}

    def raw(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answered:
        """Send one request exactly as it is given, and return what came back."""
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
        with socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS) as line:
            head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")
            received = b""
            try:
                line.sendall(head + body)
                while part := line.recv(65_536):
                    received += part
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before all of it was read
        reply = http.client.HTTPResponse(_Replied(received), method=method)  # type: ignore[arg-type]
        reply.begin()
        found = {name.lower(): value for name, value in reply.getheaders()}
        return Answered(reply.status, found, reply.read())


@contextmanager
def inspected(host: Host, *, actor: Actor = ADA, **more: Any) -> Iterator[Page]:
    """Serve the inspector of a host, and come in."""
    # As the command does: without its protocol every answer would take forty milliseconds.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        app = inspector.asgi(host, origin=f"http://127.0.0.1:{port}", actor=actor, **more)
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = _Server(config)
        thread = threading.Thread(target=server.run, args=[[door]])
        door.listen()
        thread.start()
        try:
            # Without TLS no authority is asked, and reading all takes longer than most tests.
            client = httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", timeout=_SECONDS, verify=False
            )
            with client:
                page = Page(app, host, port, client)
                page.enter()
                yield page
        finally:
            app.close()
            server.should_exit = True
            thread.join(_SECONDS)
            assert not thread.is_alive()


@contextmanager
def reading(page: Page) -> Iterator[Iterator[Any]]:
    """Read the stream; its first line has been read."""
    with page.client.stream("GET", "/api/stream") as stream:
        lines = map(json.loads, stream.iter_lines())
        assert next(lines) == {"kind": "hello"}
        yield lines


def until(lines: Iterator[Any], kind: str, count: int = 1) -> list[Any]:
    """Return the lines up to the last of so many of a kind."""
    found: list[Any] = []
    for line in lines:
        found.append(line)
        count -= line["kind"] == kind
        if count == 0:
            return found
    raise AssertionError(found)
