"""MCP servers on loopback by streamable HTTP, which answer as a test wants and remember it all."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from support.mcp_stub import tool

VERSION = "2025-06-18"


@attrs.frozen
class Heard:
    """One request: `headers` by names in lower case, `message` None where it had no body."""

    method: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any] | None

    @property
    def asks(self) -> str:
        """The method of its message."""
        return "" if self.message is None else str(self.message.get("method"))


@attrs.frozen
class Said:
    """One answer; `chunks` are sent one after the other, and the connection ends."""

    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)
    chunks: tuple[bytes, ...] = ()


Answer = Callable[[Heard], Said | None]


@attrs.define
class Web:
    """Where it listens, what it heard, and what it says; None is the usual answer."""

    url: str
    answer: Answer
    heard: list[Heard] = attrs.field(factory=list)

    def asked(self, method: str) -> list[Heard]:
        """Return what it heard of one method of the protocol."""
        return [each for each in self.heard if each.asks == method]


def says(result: Any, heard: Heard, **headers: str) -> Said:
    """Answer a request in JSON."""
    assert heard.message is not None
    body = json.dumps({"jsonrpc": "2.0", "id": heard.message["id"], "result": result}).encode()
    return Said(200, {"Content-Type": "application/json", **headers}, (body,))


def streams(heard: Heard, *messages: Any) -> Said:
    """Answer a request in server-sent events; None stands for the answer itself."""
    assert heard.message is not None
    text = {"content": [{"type": "text", "text": "streamed"}]}
    answer = {"jsonrpc": "2.0", "id": heard.message["id"], "result": text}
    events = [answer if each is None else each for each in messages]
    chunks = [f"event: message\r\ndata: {json.dumps(each)}\r\n\r\n".encode() for each in events]
    return Said(200, {"Content-Type": "text/event-stream"}, tuple(chunks))


def usual(heard: Heard) -> Said:
    """Answer as a server of one tool does."""
    if heard.asks == "initialize":
        about = {"name": "web", "version": "1"}
        hello = {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": about}
        return says(hello, heard, **{"Mcp-Session-Id": "s-1"})
    if heard.asks == "tools/list":
        return says({"tools": [tool()]}, heard)
    if heard.asks == "tools/call":
        return says({"content": [{"type": "text", "text": "answered"}]}, heard)
    return Said(202 if heard.method == "POST" else 200)


@contextmanager
def web(answer: Answer = lambda _: None, tls: ssl.SSLContext | None = None) -> Iterator[Web]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 10
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            heard = Heard(self.command, self.path, headers, json.loads(body) if body else None)
            served.heard.append(heard)
            said = served.answer(heard) or usual(heard)
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            for chunk in said.chunks:
                self.wfile.write(chunk)
                self.wfile.flush()
            self.close_connection = True

        do_GET = do_DELETE = do_POST  # noqa: N815 - as http.server calls them

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # a client that goes away is what is tested

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "http" if tls is None else "https"
    served = Web(f"{scheme}://127.0.0.1:{server.server_port}/mcp", answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
