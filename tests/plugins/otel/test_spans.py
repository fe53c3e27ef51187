import asyncio
import threading
import time
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from support.spans import BrokenProcessor, Spans
from support.tools import ADA, approved, fine, plugin
from toolseam import Actor, ErrorCode, Host, ToolArtifact, ToolError, ToolResult, hookimpl
from toolseam_plugins import otel
from toolseam_plugins.otel import Telemetry


def said(arguments: Any) -> ToolResult:
    """Answer."""
    return fine()


def test_a_call_is_a_span_of_the_conventions(spans: Spans) -> None:
    """Name, kind and attributes are those of the GenAI conventions, and ours say the facts."""
    table = ToolArtifact.table("Rows", ["id"], [["1"]])
    tool = plugin(lambda arguments: ToolResult.text("grün", table), name="look")
    host = spans.host(tool)

    host.call("look")

    (step,) = host.steps
    assert (spans.only.name, spans.only.kind) == ("execute_tool look", SpanKind.INTERNAL)
    assert dict(spans.only.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": step.id,
        "gen_ai.conversation.id": step.run_id,
        "toolseam.distribution": "host code",
        "toolseam.distribution.version": "",
        "toolseam.effect": "none",
        "toolseam.content.bytes": 5,
        "toolseam.content.truncated": False,
        "toolseam.artifacts": 1,
        "toolseam.masked": 0,
    }
    assert spans.only.status.status_code is StatusCode.UNSET


def test_a_span_says_what_was_cut_and_masked(spans: Spans) -> None:
    """Sizes and counts are told: of the whole text, of what is left, and of masked secrets."""
    secret = "sk-" + "proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    tool = plugin(lambda arguments: ToolResult.text(f"{secret} {'x' * 60_000}"))
    session = spans.host(tool).session(zone="external_global")

    session.call_wire("probe")

    told = spans.only.attributes
    assert told["toolseam.content.bytes"] == 50_000
    assert told["toolseam.content.truncated"] is True
    assert told["toolseam.content.original_bytes"] > 60_000
    assert told["toolseam.masked"] == 1


@pytest.mark.parametrize("code", [c for c in ErrorCode if c is not ErrorCode.CONTRACT_ERROR])
def test_every_failure_has_its_code_and_no_word(spans: Spans, code: ErrorCode) -> None:
    """`error.type` is our code and the status ERROR, without the message and without an event."""

    def failing(arguments: Any) -> ToolResult:
        raise ToolError("Mind the gap.", code, metadata={"reason": "own_word"})

    spans.host(plugin(failing)).call("probe")

    assert spans.only.attributes["error.type"] == code.value
    assert spans.only.status.status_code is StatusCode.ERROR
    assert spans.only.status.description is None
    assert spans.only.events == ()
    assert "Mind" not in spans.only.to_json()
    assert "own_word" not in spans.only.to_json()


def test_a_broken_contract_is_told_by_its_code(spans: Spans) -> None:
    """What a tool gave in the place of a result is in no span; where it broke the rule neither."""
    host = spans.host(plugin(lambda arguments: {"content": "loot"}))

    host.call("probe")

    assert spans.only.attributes["error.type"] == "contract_error"
    assert "loot" not in spans.only.to_json()
    assert "toolseam.reason" not in spans.only.attributes


def test_what_a_tool_raises_is_no_event(spans: Spans) -> None:
    """An exception is an `execution_error` without its text, its type or its traceback."""

    def raising(arguments: Any) -> ToolResult:
        raise ValueError("loot")

    spans.host(plugin(raising)).call("probe")

    assert spans.only.attributes["error.type"] == "execution_error"
    assert spans.only.events == ()
    assert "loot" not in spans.only.to_json()


def test_a_refused_call_has_a_span_and_says_why(spans: Spans) -> None:
    """A call that never reached its tool is a short span with the framework's own reason."""
    host = spans.host(plugin(said, data_class="secret_adjacent"), plugin(said, name="write"))

    host.call("probe")
    host.call("probe", {"no": "such"}, actor=ADA)

    first, second = spans.ended
    assert first.name == "execute_tool probe"
    assert first.attributes["error.type"] == "permission_denied"
    assert first.attributes["toolseam.reason"] == "no_actor"
    assert second.attributes["error.type"] == "invalid_arguments"
    assert first.end_time >= first.start_time


def test_a_write_without_approval_has_one_span(spans: Spans) -> None:
    """The refusal and the approved call are a span each; a preview is none."""
    tool = plugin(said, effect="idempotent_write", preview=said)
    host = spans.host(tool)

    host.call("probe", actor=ADA)
    host.call("probe", actor=ADA, approval=approved(host, "probe"))

    refused, done = spans.ended
    assert refused.attributes["error.type"] == "approval_denied"
    assert "error.type" not in done.attributes
    assert done.attributes["toolseam.effect"] == "done"
    assert [s.attributes["gen_ai.tool.call.id"] for s in spans.ended] == [s.id for s in host.steps]


def test_a_name_that_a_model_made_up_is_not_told(spans: Spans) -> None:
    """Who asks for a tool that is not there chose its name; a span does not repeat it."""
    spans.host(plugin(said)).call("my_password_is_tiger")

    assert spans.only.name == "execute_tool"
    assert spans.only.attributes["error.type"] == "not_found"
    assert "tiger" not in spans.only.to_json()


def test_a_call_that_overran_has_one_span(spans: Spans) -> None:
    """The span ends with the caller's `timeout`; when the tool ends, nothing more is told."""
    ended: list[bool] = []

    def slow(arguments: Any) -> ToolResult:
        time.sleep(0.3)
        ended.append(True)
        return fine()

    host = spans.host(plugin(slow))

    host.call("probe", timeout=0.05)
    assert spans.only.attributes["error.type"] == "timeout"
    until = time.monotonic() + 5
    while not ended and time.monotonic() < until:
        time.sleep(0.01)
    host.close()
    assert ended
    assert len(spans.ended) == 1


def test_a_call_that_is_cancelled_has_one_span(spans: Spans) -> None:
    """A cancellation by the host ends the span as `cancelled`."""

    async def endless(arguments: Any) -> ToolResult:
        await asyncio.sleep(60)
        return fine()

    async def main() -> None:
        task = asyncio.create_task(spans.host(plugin(endless)).acall("probe"))
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())

    assert spans.only.attributes["error.type"] == "cancelled"


def test_a_call_that_was_given_up_before_it_began_leaves_nothing_open(spans: Spans) -> None:
    """Calls that wait for a thread and are given up end their span, and none stays open."""
    telemetry = Telemetry(spans.provider)
    settings = {"limits": {"threads": 1, "waiting": 20}}

    def slow(arguments: Any) -> ToolResult:
        time.sleep(0.05)
        return fine()

    host = Host(tools=[plugin(slow)], plugins=[telemetry], settings=settings)

    async def main() -> None:
        await asyncio.gather(*(host.acall("probe", timeout=0.06) for _ in range(12)))

    asyncio.run(main())
    host.close()

    assert len(spans.ended) == 12
    assert telemetry._open == {}


def test_a_call_that_begins_after_its_end_leaves_nothing_open(spans: Spans) -> None:
    """A tool whose caller was told of the timeout before it began has one span, the short one."""
    begun = threading.Event()

    class Slow:
        @hookimpl(wrapper=True)
        def execute(self, context: Any) -> Any:
            time.sleep(0.3)
            try:
                return (yield)
            finally:
                begun.set()

    telemetry = Telemetry(spans.provider)
    host = Host(tools=[plugin(said)], plugins=[telemetry, Slow()])

    host.call("probe", timeout=0.05)

    assert begun.wait(5)
    assert spans.only.attributes["error.type"] == "timeout"
    assert telemetry._open == {}


def test_a_broken_span_processor_is_not_felt(spans: Spans, caplog: Any) -> None:
    """What a span processor raises where a span begins or ends changes no result."""
    host = spans.host(plugin(said))
    spans.provider.add_span_processor(BrokenProcessor())

    assert host.call("probe").content == "fine"
    assert host.call("nothing").is_error
    assert host.violations == ()
    assert "no span: RuntimeError" in caplog.text


def test_the_door_of_the_plugin_has_no_other_names() -> None:
    """A name that is not there is an attribute error, and each host gets a plugin of its own."""
    assert otel.plugin is not otel.plugin
    with pytest.raises(AttributeError, match="Telemetri"):
        _ = otel.Telemetri


def test_other_wrappers_keep_their_place(spans: Spans) -> None:
    """A wrapper beside it may replace an answer; the span says what the caller got."""

    class Counting:
        @hookimpl(wrapper=True)
        def execute(self, arguments: Any) -> Any:
            result = yield
            return ToolResult.text(result.content * 2)

    host = Host(tools=[plugin(said)], plugins=[Counting(), Telemetry(spans.provider)])

    assert host.call("probe", actor=Actor("ada")).content == "finefine"
    assert spans.only.attributes["toolseam.content.bytes"] == 8
