import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mcp_stub import declared, stub, tool
from support.spans import Spans
from toolseam import Actor, Host
from toolseam_plugins.mcp import mounts

ADA = Actor("ada", {"admin"})
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

SERVER = """
import json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from toolseam import Actor, Host, ToolResult, tool
from toolseam_plugins.mcp import serve_stdio
from toolseam_plugins.otel import Telemetry

kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)

@tool(effect="read_only", data_class="public_content")
def greet() -> ToolResult:
    '''Greet somebody.'''
    return ToolResult.text("Hello")

with Host(tools=[greet], plugins=[Telemetry()]) as host:
    serve_stdio(host, actor=Actor("ada"))
found = [
    [s.name, f"{s.context.trace_id:032x}", f"{s.context.span_id:016x}"]
    + [s.parent and f"{s.parent.span_id:016x}", s.attributes.get("gen_ai.operation.name")]
    for s in kept.get_finished_spans()
]
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
"""


METAS = ({"traceparent": f"00-{TRACE}-{SPAN}-01"}, {"traceparent": "loot"})


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """Return the spans of a server in a process of its own, of a call with each `_meta`."""
    client = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    calls = [{"name": "greet", "arguments": {}, "_meta": meta} for meta in METAS]
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": c}
            for n, c in enumerate(calls, 2)
        ),
    ]
    kept = tmp_path_factory.mktemp("served") / "spans.json"
    said = "".join(f"{json.dumps(line)}\n" for line in lines)
    words = [sys.executable, "-c", SERVER, str(kept)]
    done = subprocess.run(
        words, input=said, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.count('"Hello"') == len(METAS), done.stderr
    found: list[list[Any]] = json.loads(kept.read_text())
    return found


def test_a_call_over_mcp_belongs_to_the_clients_trace(served: list[list[Any]]) -> None:
    """The server's span hangs under what `traceparent` names, by way of the SDK's if it has one."""
    spans = [span for span in served if span[1] == TRACE]

    (own,) = [span for span in spans if span[0] == "execute_tool greet"]
    by_id = {span[2]: span for span in spans}
    above = by_id.get(own[3])
    assert (own[3] if above is None else above[3]) == SPAN
    assert above is None or above[0] == "tools/call greet"


def test_a_call_over_mcp_has_one_span_of_ours(served: list[list[Any]]) -> None:
    """Without `traceparent` too there is one span of the call, and no more than the SDK's above."""
    spans = [span for span in served if span[1] != TRACE]

    own = [span for span in spans if span[0] == "execute_tool greet"]
    assert len(own) == 1
    assert len([span for span in spans if span[4] == "execute_tool"]) <= 2
    assert "loot" not in json.dumps(spans)


def test_a_mounted_server_is_told_whose_call_it_is(tmp_path: Path, spans: Spans) -> None:
    """The `_meta` of the request names the span of the call; nothing else of it is told."""
    server = stub(tmp_path / "depot")
    said = {"depot": {**server.said, "tools": declared(tool())}}
    with spans.host(settings={"mounts": said}, also=[mounts]) as host:
        assert host.call("depot__find", {"text": "lamp"}, actor=ADA).success

    (call,) = server.calls()
    made = spans.named("execute_tool depot__find").context
    assert set(call["_meta"]) == {"progressToken", "traceparent"}
    named = f"00-{made.trace_id:032x}-{made.span_id:016x}-"
    assert call["_meta"]["traceparent"].startswith(named)
    assert spans.only.attributes["gen_ai.tool.type"] == "extension"
    others = [each for each in server.received if each["method"] != "tools/call"]
    assert "traceparent" not in json.dumps(others)


def test_a_mounted_server_is_told_nothing_unless_calls_are_traced(
    tmp_path: Path, spans: Spans
) -> None:
    """A span of the application that nobody asked toolseam to trace stays with the application."""
    server = stub(tmp_path / "depot")
    said = {"depot": {**server.said, "tools": declared(tool())}}
    with (
        Host(plugins=[mounts], settings={"mounts": said}) as host,
        spans.tracer.start_as_current_span("outer"),
    ):
        host.call("depot__find", {"text": "lamp"}, actor=ADA)

    (call,) = server.calls()
    assert set(call["_meta"]) == {"progressToken"}
