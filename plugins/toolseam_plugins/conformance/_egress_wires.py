"""The adapters of providers as ways out: the raw bytes that a whole run sends over the wire.

A server of the loopback stands in each maker's place. It asks for every planted tool at once, and
then has nothing more to ask.
"""

from __future__ import annotations

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

from toolseam import Actor
from toolseam.providers import Endpoint
from toolseam.runs import Decision
from toolseam_plugins.providers import KINDS, make

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from toolseam.providers import Provider
    from toolseam_plugins.conformance._egress_traffic import Traffic

    Body = dict[str, Any]

ANSWER = "They said it."
QUESTION = "What do they say?"
_APPROVER = Actor("approver", frozenset({"admin"}))


def drive(traffic: Traffic, provider: Provider) -> None:
    """Run every planted tool in one turn, approve what waits, and come to an end."""
    session = traffic.session()
    run = session.run(provider, QUESTION)
    if run.pending:
        asked = [each for each in run.pending if each.needs_approval]
        decisions = [Decision.approve(each, actor=_APPROVER) for each in asked]
        run = session.resume(run.id, decisions, provider)
    if run.answer != ANSWER:
        raise AssertionError(f"{provider.name} did not come to its end: {run.reason}")


def wires() -> dict[str, Callable[[Traffic], bytes]]:
    """Return a sink for each adapter whose SDK is installed."""
    return {kind: _sink(kind) for kind, made in KINDS.items() if made.is_installed()}


def _sink(kind: str) -> Callable[[Traffic], bytes]:
    def heard(traffic: Traffic) -> bytes:
        with listening(kind, traffic.names) as server:
            provider = make(Endpoint(kind, kind, "m", base_url=server.url, timeout_s=10))
            drive(traffic, cast("Provider", provider))
        return b"\n".join(server.heard)

    return heard


@contextlib.contextmanager
def listening(kind: str, names: Sequence[str]) -> Generator[_Server]:
    """Stand in the place of a maker's API that asks for these tools at once, and then no more."""
    server = _Server(_BODIES[kind], names, "/v1" if kind.startswith("openai") else "")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(
        self, body: Callable[[Sequence[str]], Body], names: Sequence[str], path: str
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.url = f"http://127.0.0.1:{self.server_port}{path}"
        self.heard: list[bytes] = []
        self._body = body
        self._names = names

    @property
    def said(self) -> str:
        """All that was sent to it, as text."""
        return b"\n".join(self.heard).decode()

    def answer(self, raw: bytes) -> bytes:
        """Keep a request as it came, and return the answer."""
        first = not self.heard
        self.heard.append(raw)
        return json.dumps(self._body(self._names if first else ())).encode()


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        answer = cast("_Server", self.server).answer(f"{self.path}\n{self.headers}".encode() + body)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base has it
        """Stay silent."""


# -- the answers: calls of the tools that are named, or else the end ------------------------------


def _chat(names: Sequence[str]) -> Body:
    function = [{"name": name, "arguments": "{}"} for name in names]
    calls: list[Body] = [
        {"id": f"call_{n}", "type": "function", "function": each} for n, each in enumerate(function)
    ]
    said: Body = {"role": "assistant", "content": None, "tool_calls": calls}
    message = said if names else {"role": "assistant", "content": ANSWER}
    finish = "tool_calls" if names else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    base: Body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return {**base, "choices": [choice], "usage": usage}


def _responses(names: Sequence[str]) -> Body:
    calls: list[Body] = [
        {"type": "function_call", "id": f"f_{n}", "call_id": f"call_{n}", "name": name}
        | {"arguments": "{}", "status": "completed"}
        for n, name in enumerate(names)
    ]
    said: Body = {"type": "output_text", "text": ANSWER, "annotations": []}
    message: Body = {"type": "message", "id": "m", "role": "assistant", "content": [said]}
    base: Body = {"id": "1", "object": "response", "created_at": 1, "model": "m", "tools": []}
    more = {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto"}
    return {**base, **more, "output": calls or [{**message, "status": "completed"}]}


def _messages(names: Sequence[str]) -> Body:
    calls: list[Body] = [
        {"type": "tool_use", "id": f"call_{n}", "name": name, "input": {}}
        for n, name in enumerate(names)
    ]
    content = calls or [{"type": "text", "text": ANSWER}]
    more = {"stop_reason": "tool_use" if names else "end_turn", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": "1", "type": "message", "role": "assistant", "model": "m", "usage": usage, **more}


def _contents(names: Sequence[str]) -> Body:
    calls: list[Body] = [{"functionCall": {"name": name, "args": {}}} for name in names]
    content = {"role": "model", "parts": calls or [{"text": ANSWER}]}
    return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]}


_BODIES: dict[str, Callable[[Sequence[str]], Body]] = {
    "openai": _chat,
    "openai_responses": _responses,
    "anthropic": _messages,
    "google": _contents,
}
