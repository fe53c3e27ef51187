"""A loopback server in a provider's place: it keeps the raw bytes of every request it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@attrs.frozen
class Heard:
    """One request as it came over the wire; names of headers are in small letters."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The body, parsed."""
        return json.loads(self.raw)


@attrs.frozen
class Answer:
    """What is sent back; several `parts` go out one by one, as a stream does.

    `cut` closes the connection in the middle of it.
    """

    parts: tuple[bytes, ...]
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False


@attrs.define
class Recorder:
    """Where it listens, what it was sent, and what it will answer, in order."""

    port: int
    answers: list[Answer | Callable[[Heard], Answer]]
    heard: list[Heard] = attrs.field(factory=list)

    @property
    def url(self) -> str:
        """The base of every path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def raw(self) -> bytes:
        """The raw bytes of all requests: bodies, paths and headers."""
        lines = [f"{each.path}\n{each.headers}\n".encode() + each.raw for each in self.heard]
        return b"\n".join(lines)

    def next(self, heard: Heard) -> Answer:
        """Return what is answered now; the last answer is given again and again."""
        self.heard.append(heard)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, Answer) else answer(heard)


def as_json(body: object, status: int = 200, **headers: str) -> Answer:
    """Answer with a JSON text."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer((json.dumps(body).encode(),), status, headers=named)


def as_events(
    events: Iterable[Any], *, named: bool = False, done: bool = False, cut: bool = False
) -> Answer:
    """Answer with server-sent events; `named` ones carry their type, `done` ends as OpenAI does."""
    parts = [
        (f"event: {event['type']}\n" if named else "").encode()
        + f"data: {json.dumps(event)}\n\n".encode()
        for event in events
    ]
    ends = [b"data: [DONE]\n\n"] if done else []
    return Answer((*parts, *ends), kind="text/event-stream", cut=cut)


@contextmanager
def recording(*answers: Answer | Callable[[Heard], Answer]) -> Iterator[Recorder]:
    """Listen on a port of the loopback until the block ends.

    Args:
        answers: one a request, in order; the last one is repeated.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    recorder = Recorder(server.server_port, list(answers))
    server.recorder = recorder
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    recorder: Recorder


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        assert isinstance(server, _Server)
        answer = server.recorder.next(Heard(self.path, headers, raw))
        with suppress(ConnectionError):
            self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", answer.kind)
        for name, value in answer.headers:
            self.send_header(name, value)
        if len(answer.parts) == 1 and not answer.cut:
            self.send_header("content-length", str(len(answer.parts[0])))
            self.end_headers()
            self.wfile.write(answer.parts[0])
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in answer.parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        if answer.cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base has it
        """Stay silent."""
