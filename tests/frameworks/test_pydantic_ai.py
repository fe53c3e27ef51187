"""pydantic-ai: failures, arguments as they were written, and calls deferred to people."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from support.tools import ADA, Counted, fine, plugin
from support.writes import EVE, OWNER, Broken, Rename
from toolseam import Actor, Host, Session, ToolResult
from toolseam_plugins.interop import to_pydantic_ai

NEW = '{"name": "new"}'


def agent_of(session: Session, *turns: list[ToolCallPart], approver: Actor | None = EVE) -> Any:
    """Return an agent over the session's tools whose model asks for these calls, then is done."""
    said: Iterator[Any] = iter([*turns, [TextPart("done")]])
    model = FunctionModel(lambda messages, info: ModelResponse(parts=next(said)))
    tools = to_pydantic_ai(session, approver=approver)
    return Agent(model, tools=tools, output_type=[str, DeferredToolRequests])


def call(name: str, args: Any, call_id: str = "c1") -> ToolCallPart:
    """Return one call of a model."""
    return ToolCallPart(name, args, call_id)


def told(result: Any) -> list[tuple[str, str]]:
    """Return outcome and text of every call."""
    parts = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    return [(part.outcome, part.content) for part in parts]


def run(agent: Any, **more: Any) -> Any:
    """Run an agent to its end, or to where it waits."""
    return asyncio.run(agent.run("q" if "message_history" not in more else None, **more))


def decided(agent: Any, waits: Any, **approvals: Any) -> Any:
    """Go on with a run that waits."""
    results = DeferredToolResults(approvals=approvals)
    return run(agent, message_history=waits.all_messages(), deferred_tool_results=results)


def test_its_own_test_model_calls_every_tool() -> None:
    """The framework's model that calls all that it is told of gets an answer from each."""
    host = Host(tools=[Counted(fine, name="one"), Counted(fine, name="two")])
    agent = Agent(TestModel(), tools=to_pydantic_ai(host.session(actor=ADA)))

    result = asyncio.run(agent.run("q"))

    assert told(result) == [("success", "fine"), ("success", "fine")]


@pytest.mark.parametrize(
    "written",
    [
        '{"scope": "one',
        '{"scope": "one", "scope": "all"}',
        '["one"]',
        "17",
        '{"scope": NaN}',
        "[" * 2_000,
        '{"scope": "\\ud83d"}',
        '{"scope": "one", "more": 1}',
        {"scope": float("inf")},
    ],
    ids=["cut", "twice", "array", "number", "nan", "deep", "surrogate", "unknown", "inf"],
)
def test_whatever_is_written_is_the_seams_to_judge(written: Any) -> None:
    """No retry of the framework's is spent, nothing runs, and the answer names the code (P14)."""
    tool = Counted(fine, parameters={"properties": {"scope": {"type": "string"}}})
    session = Host(tools=[tool]).session(actor=ADA)
    turns = [[call("probe", written, f"c{n}")] for n in range(3)]

    result = run(agent_of(session, *turns))

    assert tool.count == 0
    assert [(o, t[:25]) for o, t in told(result)] == [("failed", "Error (invalid_arguments)")] * 3


def test_an_object_in_a_text_is_unpacked_once() -> None:
    """What the seam mends is not lost on the way to it."""
    tool = plugin(
        lambda arguments: ToolResult.text(arguments["scope"]),
        parameters={"properties": {"scope": {"type": "string"}}},
    )

    result = run(
        agent_of(Host(tools=[tool]).session(actor=ADA), [call("probe", r'"{\"scope\":\"x\"}"')])
    )

    assert told(result) == [("success", "x")]


def test_a_person_approves_what_the_request_shows() -> None:
    """The run ends with the call and its preview, and goes on with a person's word."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, [call("rename", NEW)])

    waits = run(agent)
    before = rename.row
    result = decided(agent, waits, c1=True)

    assert [each.tool_call_id for each in waits.output.approvals] == ["c1"]
    shown = waits.output.metadata["c1"]
    assert (shown["preview"], shown["arguments"]) == (["old -> new"], {"name": "new"})
    assert before == "old"
    assert told(result) == [("success", "renamed to new")]
    assert [step.status for step in session.steps] == ["ok"]


def test_a_denied_call_never_reaches_the_tool() -> None:
    """What a person denies is answered by the framework."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)])

    result = decided(agent, run(agent), c1=ToolDenied("not today"))

    assert rename.row == "old"
    assert "not today" in told(result)[0][1]


@pytest.mark.parametrize("how", ["row", "arguments"])
def test_what_changed_since_it_was_shown_does_not_run(how: str) -> None:
    """Another state of the row, or other arguments than those shown, are a conflict (S4)."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)])

    waits = run(agent)
    rename.row = "meanwhile" if how == "row" else "old"
    other = ToolApproved(override_args={"name": "other"})
    result = decided(agent, waits, c1=True if how == "row" else other)

    assert rename.row in ("meanwhile", "old")
    assert told(result)[0][1].startswith("Error (conflict)")


def test_an_approval_in_another_session_asks_again() -> None:
    """A word that was given on another session's preview is none here: the call waits anew."""
    rename = Rename()
    host = Host(tools=[rename])
    first = agent_of(host.session(actor=OWNER), [call("rename", NEW)])
    other = agent_of(host.session(actor=OWNER))

    again = decided(other, run(first), c1=True)

    assert rename.row == "old"
    assert again.output.metadata["c1"]["preview"] == ["old -> new"]


def test_a_machine_approves_nothing() -> None:
    """A service account's approval is none."""
    rename = Rename()
    robot = Actor("robot", {"admin"}, service=True)
    agent = agent_of(
        Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)], approver=robot
    )

    result = decided(agent, run(agent), c1=True)

    assert rename.row == "old"
    assert told(result)[0][1].startswith("Error (approval_denied)")


def test_a_call_that_is_refused_asks_nobody() -> None:
    """Arguments that break the schema are answered at once."""
    agent = agent_of(Host(tools=[Rename()]).session(actor=OWNER), [call("rename", '{"nope": 1}')])

    result = run(agent)

    assert result.output == "done"
    assert told(result)[0][1].startswith("Error (invalid_arguments)")


def test_twice_is_never_with_approvals() -> None:
    """Of four approved calls of a write that breaks the contract one runs (S3)."""
    broken = Broken()
    turn = [call("rename", NEW, f"c{n}") for n in range(4)]
    agent = agent_of(Host(tools=[broken]).session(actor=OWNER), turn)

    result = decided(agent, run(agent), c0=True, c1=True, c2=True, c3=True)

    assert broken.count == 1
    assert [t.partition(":")[0] for _, t in told(result)] == ["Error (contract_error)"] * 4
