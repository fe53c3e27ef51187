import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.trace import get_current_span

from support.spans import Spans
from support.tools import ADA, fine, plugin
from toolseam import Host, ToolResult
from toolseam.testing import ScriptedProvider
from toolseam_plugins.otel import extract, inject

TRACE = "0af7651916cd43dd8448eb211c80319c"
GIVEN = f"00-{TRACE}-b7ad6b7169203331-01"


def telling(told: list[dict[str, str]]) -> Any:
    """Return a tool that notes what it would tell another process."""

    def execute(arguments: Any) -> ToolResult:
        told.append(inject())
        return fine()

    return plugin(execute)


def inner(spans: Spans) -> Any:
    """Return a tool that makes a span of its own."""

    def execute(arguments: Any) -> ToolResult:
        with spans.tracer.start_as_current_span("inner"):
            return fine()

    return plugin(execute, parallel_safe=True)


def ainner(spans: Spans) -> Any:
    """Return the same as an async tool."""

    async def execute(arguments: Any) -> ToolResult:
        with spans.tracer.start_as_current_span("inner"):
            await asyncio.sleep(0.001)
            return fine()

    return plugin(execute)


def chain(spans: Spans) -> list[str | None]:
    """Return the parents, from the span inside the tool upwards."""
    return [spans.parent_of(name) for name in ("inner", "execute_tool probe", "outer")]


WHOLE = ["execute_tool probe", "outer", None]


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("make", [inner, ainner])
def test_a_call_is_a_child_of_its_caller(spans: Spans, make: Any, timeout: float | None) -> None:
    """Synchronously called, in place, in a loop of its own or in a worker: the chain is whole."""
    host = spans.host(make(spans))

    with spans.tracer.start_as_current_span("outer"):
        host.call("probe", timeout=timeout)

    assert chain(spans) == WHOLE


@pytest.mark.parametrize("timeout", [None, 5.0])
@pytest.mark.parametrize("make", [inner, ainner])
def test_an_awaited_call_is_a_child_of_its_caller(
    spans: Spans, make: Any, timeout: float | None
) -> None:
    """Awaited, in a worker thread or in a task of its own: the chain is whole."""
    host = spans.host(make(spans))

    async def main() -> None:
        with spans.tracer.start_as_current_span("outer"):
            await host.acall("probe", timeout=timeout)
        assert not get_current_span().get_span_context().is_valid

    asyncio.run(main())

    assert chain(spans) == WHOLE


def test_a_refused_call_is_a_child_of_its_caller(spans: Spans) -> None:
    """A span that is made of the step alone hangs where the caller is."""
    host = spans.host(inner(spans))

    with spans.tracer.start_as_current_span("outer"):
        host.call("probe", {"no": "such"})

    assert spans.parent_of("execute_tool probe") == "outer"


@pytest.mark.parametrize("fails", [False, True])
def test_a_call_within_a_call_is_its_child(spans: Spans, fails: bool) -> None:
    """`context.call` hangs under the tool that made it, refused or not."""
    given = {"no": "such"} if fails else {}
    outer = plugin(lambda arguments, context: context.call("probe", given) and fine(), name="above")

    spans.host(outer, inner(spans)).call("above", actor=ADA)

    assert spans.parent_of("execute_tool probe") == "execute_tool above"
    assert spans.parent_of("execute_tool above") is None


def test_calls_of_one_turn_are_children_of_the_run(spans: Spans) -> None:
    """Calls that run at once in a turn are siblings under the span of the run, not a chain."""
    session = spans.host(inner(spans)).session(actor=ADA)
    provider = ScriptedProvider([[("probe", {}), ("probe", {}), ("probe", {})], "Done."])

    with spans.tracer.start_as_current_span("outer"):
        run = session.run(provider, "What?")

    above = [s.parent.span_id for s in spans.ended if s.name == "execute_tool probe"]
    assert run.answer == "Done."
    assert above == [spans.named("invoke_agent").context.span_id] * 3
    assert spans.parent_of("invoke_agent") == "outer"


def test_a_caller_elsewhere_is_the_parent(spans: Spans) -> None:
    """`traceparent` of a request's `_meta` puts the call under the span that it names."""
    host = spans.host(inner(spans))

    with extract({"traceparent": GIVEN, "tracestate": "a=loot"}):
        host.call("probe")
    host.call("probe")

    told, own = (s for s in spans.ended if s.name == "execute_tool probe")
    assert f"{told.context.trace_id:032x}" == TRACE
    assert f"{told.parent.span_id:016x}" == "b7ad6b7169203331"
    assert len(told.context.trace_state) == 0
    assert own.parent is None


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {"traceparent": None},
        {"traceparent": 7},
        {"traceparent": ""},
        {"traceparent": "loot"},
        {"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"},
        {"traceparent": GIVEN * 10_000},
        {"traceparent": "\ud800"},
        {"traceparent": [GIVEN]},
        {"baggage": "a=loot"},
    ],
)
def test_what_names_no_span_is_as_good_as_absent(spans: Spans, meta: Any) -> None:
    """Nothing that a caller writes there fails the call or changes whose child it is."""
    host = spans.host(inner(spans))

    with spans.tracer.start_as_current_span("outer"), extract(meta):
        assert host.call("probe").success

    assert chain(spans) == WHOLE


def test_a_nearer_span_of_the_same_trace_stays(spans: Spans) -> None:
    """Where the SDK of MCP has made its span of the same request, the call hangs under that."""
    host = spans.host(inner(spans))

    told = {"traceparent": GIVEN}
    with extract(told), spans.tracer.start_as_current_span("outer"), extract(told):
        host.call("probe")

    assert spans.parent_of("execute_tool probe") == "outer"


def test_a_tool_tells_another_process_whose_child_it_is(spans: Spans) -> None:
    """`inject` names the span of the call inside `execute`, and nothing anywhere else."""
    told: list[dict[str, str]] = []
    host = spans.host(telling(told))
    silent = Host(tools=[telling(told)])

    host.call("probe")
    with spans.tracer.start_as_current_span("outer"):
        told.append(inject())
        silent.call("probe")

    made = spans.named("execute_tool probe").context
    assert list(told[0]) == ["traceparent"]
    assert told[0]["traceparent"].startswith(f"00-{made.trace_id:032x}-{made.span_id:016x}-")
    assert told[1:] == [{}, {}]


CHILD = """
import json, sys
from pathlib import Path
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from toolseam import Actor, Host
from toolseam_plugins.otel import extract

host = Host.load(sys.argv[1], operator_file=Path(sys.argv[2]))
kept = InMemorySpanExporter()
provider = TracerProvider()  # an application may set it after the host
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
with extract(json.loads(sys.stdin.read())):
    host.call("get_python_info", actor=Actor.system)
print(json.dumps([[s.name, f"{s.context.trace_id:032x}"] for s in kept.get_finished_spans()]))
"""


def child(spans: Spans, folder: Any, settings: str) -> list[list[str]]:
    """Return the spans of a call in another process, which was told of the one here."""
    file = folder / "operator.toml"
    file.write_text(settings)
    told: list[dict[str, str]] = []
    spans.host(telling(told)).call("probe")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(file)],
        input=json.dumps(told[0]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_a_trace_goes_on_in_another_process(spans: Spans, tmp_path: Any) -> None:
    """What `inject` says here and `extract` reads there is one trace over two processes."""
    found = child(spans, tmp_path, 'trust = ["otel"]\n')

    here = spans.named("execute_tool probe").context.trace_id
    assert found == [["execute_tool get_python_info", f"{here:032x}"]]


def test_it_is_off_until_the_operator_names_it(spans: Spans, tmp_path: Any) -> None:
    """An installed plugin that nobody named traces nothing."""
    assert child(spans, tmp_path, "") == []


def test_who_does_not_trace_pays_no_import() -> None:
    """Neither a host nor the two doors of the plugin import OpenTelemetry."""
    code = (
        "import sys\n"
        "from toolseam import Host\n"
        "from toolseam_plugins.otel import extract, inject\n"
        "Host(tools=[])\n"
        "with extract({'traceparent': '00-1-1-01'}):\n"
        "    assert inject() == {}\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert ran.stdout == "[]\n"
