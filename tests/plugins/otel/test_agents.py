"""Runs of the loop: a span each, by the conventions, with their calls below it."""

import asyncio
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from support.spans import BrokenProcessor, Spans
from support.tools import ADA, fine, plugin
from toolseam import Decision, Host, ToolResult
from toolseam.providers import ProviderError, ProviderFault
from toolseam.testing import ScriptedProvider, canary
from toolseam_plugins.otel import Telemetry


def said(arguments: Any, context: Any = None) -> ToolResult:
    """Answer."""
    return fine()


def test_a_run_is_a_span_of_the_conventions(spans: Spans) -> None:
    """Who is asked, what it cost and how it ended; the call hangs below, the caller above."""
    provider = ScriptedProvider([("probe", {}), "Done."], name="openai:gpt-6")
    host = spans.host(plugin(said))

    with spans.tracer.start_as_current_span("outer"):
        run = host.session(actor=ADA).run(provider, "q")

    span = spans.named("invoke_agent")
    assert (span.kind, span.status.status_code) == (SpanKind.INTERNAL, StatusCode.UNSET)
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-6",
        "gen_ai.conversation.id": run.id,
        "gen_ai.usage.input_tokens": run.usage.input_tokens,
        "gen_ai.usage.output_tokens": run.usage.output_tokens,
        "toolseam.run.status": "completed",
        "toolseam.run.reason": "completed",
        "toolseam.run.rounds": 2,
        "toolseam.run.mark": run.mark.value,
        "toolseam.run.pending": 0,
    }
    assert spans.parent_of("execute_tool probe") == "invoke_agent"
    assert spans.parent_of("invoke_agent") == "outer"


@pytest.mark.parametrize("safe", [False, True])
def test_every_call_of_a_turn_is_below_its_run(spans: Spans, safe: bool) -> None:
    """One after the other or all at once, streamed or not, and nothing is current afterwards."""
    host = spans.host(plugin(said, parallel_safe=safe))

    async def main() -> Any:
        session = host.session(actor=ADA)
        turn: list[Any] = [("probe", {}), ("probe", {}), ("probe", {})]
        stream = session.astream(ScriptedProvider([turn, "a"]), "q")
        streamed: list[Any] = [each async for each in stream]
        await session.arun(ScriptedProvider([turn, "b"]), "q")
        assert streamed[-1].status == "completed"
        return get_current_span().get_span_context()

    left = asyncio.run(main())

    runs = {s.context.span_id for s in spans.ended if s.name == "invoke_agent"}
    calls = [s for s in spans.ended if s.name == "execute_tool probe"]
    assert len(runs) == 2
    assert len(calls) == 6
    assert {call.parent.span_id for call in calls} == runs
    assert not left.is_valid


def test_a_run_that_waits_has_a_span_for_each_part(spans: Spans) -> None:
    """The first ends where people are asked, the second begins with their word."""
    tool = plugin(said, effect="idempotent_write", preview=said)
    host = spans.host(tool, settings={"enable": ["probe"]})
    provider = ScriptedProvider([("probe", {}), "Done."])
    session = host.session(actor=ADA)

    run = session.run(provider, "q")
    session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)

    first, second = [s for s in spans.ended if s.name == "invoke_agent"]
    assert first.attributes["toolseam.run.status"] == "waiting_for_approval"
    assert first.attributes["toolseam.run.pending"] == 1
    assert "toolseam.run.reason" not in first.attributes
    assert second.attributes["toolseam.run.status"] == "completed"
    assert {s.attributes["gen_ai.conversation.id"] for s in (first, second)} == {run.id}


def test_a_run_that_failed_says_why(spans: Spans) -> None:
    """`error.type` is the reason, and the fault of a provider stands beside it."""
    provider = ScriptedProvider([ProviderError("No.", ProviderFault.AUTH)], name="mine")

    spans.host(plugin(said)).session(actor=ADA).run(provider, "q")

    told = spans.only
    assert told.attributes["error.type"] == "provider_failed"
    assert told.attributes["toolseam.run.fault"] == "auth"
    assert told.attributes["gen_ai.provider.name"] == "toolseam"
    assert told.status.status_code is StatusCode.ERROR
    assert told.status.description is None


def test_a_run_that_is_cancelled_has_one_span(spans: Spans) -> None:
    """It ends as `cancelled`, and its call below it too."""

    async def endless(arguments: Any) -> ToolResult:
        await asyncio.sleep(60)
        return fine()

    async def main() -> None:
        session = spans.host(plugin(endless)).session(actor=ADA)
        task = asyncio.create_task(session.arun(ScriptedProvider([("probe", {}), "x"]), "q"))
        await asyncio.sleep(0.5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())

    assert spans.named("invoke_agent").attributes["error.type"] == "cancelled"
    assert spans.parent_of("execute_tool probe") == "invoke_agent"


def test_no_word_of_a_run_is_in_its_spans(spans: Spans) -> None:
    """Question, instructions, answer, arguments, results, errors and names of people stay out."""
    words = [canary(f"otel{number}") for number in range(6)]
    tool = plugin(lambda arguments: ToolResult.text(str(words[0])), parameters={
        "type": "object", "properties": {"text": {"type": "string"}}
    })  # fmt: skip
    provider = ScriptedProvider(
        [("probe", {"text": str(words[1])}), str(words[2])], name=f"script:{words[5]} x"
    )

    run = (
        spans.host(tool).session(actor=ADA).run(provider, str(words[3]), instructions=str(words[4]))
    )

    exported = "".join(span.to_json() for span in spans.ended)
    assert run.status == "completed"
    assert [str(each) for each in words if str(each) in exported] == []
    assert ADA.name not in exported
    assert all(span.events == () for span in spans.ended)


def test_a_broken_span_processor_is_not_felt_by_a_run(spans: Spans, caplog: Any) -> None:
    """What it raises where a span begins or ends changes no run, and nothing stays open."""
    host = spans.host(plugin(said))
    spans.provider.add_span_processor(BrokenProcessor())

    run = host.session(actor=ADA).run(ScriptedProvider(["Done."]), "q")

    assert (run.status, run.answer) == ("completed", "Done.")
    assert "no span of a run: RuntimeError" in caplog.text


def test_nothing_stays_open(spans: Spans) -> None:
    """A hundred runs leave no span behind."""
    telemetry = Telemetry(spans.provider)
    with Host(tools=[plugin(said)], plugins=[telemetry]) as host:
        for _ in range(100):
            host.session(actor=ADA).run(ScriptedProvider([("probe", {}), "x"]), "q")

    assert telemetry._agents._open == {}
    assert len(spans.ended) == 200
