"""OpenAI's Agents SDK: raw arguments, and runs that a person's word lets go on."""

import asyncio
import json
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, RunState
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext

from support.tools import ADA, Counted, fine
from support.writes import EVE, OWNER, Broken, Rename
from toolseam import Actor, Host, Session
from toolseam_plugins.interop import to_openai_agents

NEW = {"name": "new"}
QUIET = RunConfig(tracing_disabled=True)


def agent_of(
    session: Session,
    *turns: list[Any],
    approver: Actor | None = EVE,
    waiting: dict[str, Any] | None = None,
) -> Any:
    """Return an agent over the session's tools whose model asks for these calls, then is done."""
    model = ScriptedModel([*turns, [assistant_message("done")]])
    tools = to_openai_agents(session, approver=approver, waiting=waiting)
    return Agent("assistant", tools=list(tools), model=model)


def call(name: str, arguments: Any, call_id: str = "c1") -> Any:
    """Return one call of a model."""
    return function_call(name, arguments, call_id=call_id)


def run(agent: Any, given: Any = "q") -> Any:
    """Run an agent to its end, or to where it waits."""
    return asyncio.run(Runner.run(agent, given, run_config=QUIET))


def decided(agent: Any, waits: Any, *, approve: bool = True) -> Any:
    """Say the same of every call that waits, and go on."""
    state = waits.to_state()
    for item in waits.interruptions:
        state.approve(item) if approve else state.reject(item)
    return run(agent, state)


def told(result: Any) -> list[str]:
    """Return what every call was answered."""
    items = result.to_input_list()
    return [each["output"] for each in items if each.get("type") == "function_call_output"]


@pytest.mark.parametrize(
    "written",
    [
        '{"scope": "one',
        '{"scope": "one", "scope": "all"}',
        '["one"]',
        "scope=one",
        '{"scope": NaN}',
        '{"scope": "one", "more": 1}',
    ],
    ids=["cut", "twice", "array", "words", "nan", "unknown"],
)
def test_whatever_is_written_is_the_seams_to_judge(written: str) -> None:
    """Nothing runs, the run goes on, and the answer names the code (P14)."""
    tool = Counted(fine, parameters={"properties": {"scope": {"type": "string"}}})

    result = run(agent_of(Host(tools=[tool]).session(actor=ADA), [call("probe", written)]))

    assert tool.count == 0
    assert [text[:25] for text in told(result)] == ["Error (invalid_arguments)"]


@pytest.mark.parametrize("written", ["[" * 2_000, r'{"scope": "\ud83d"}', "\ud83d"])
def test_what_the_sdk_cannot_read_itself_is_answered_too(written: str) -> None:
    """A tool that is called directly refuses what would end a run before it (P02)."""
    tool = Counted(fine, parameters={"properties": {"scope": {"type": "string"}}})
    (made,) = to_openai_agents(Host(tools=[tool]).session(actor=ADA))
    context = ToolContext(None, tool_name="probe", tool_call_id="c1", tool_arguments=written)

    text = asyncio.run(made.on_invoke_tool(context, written))

    assert (tool.count, text[:25], type(text)) == (0, "Error (invalid_arguments)", str)


def test_a_person_approves_what_waits() -> None:
    """The run is interrupted, its preview lies with the call's id, and it goes on approved."""
    rename, waiting = Rename(), dict[str, Any]()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, [call("rename", NEW)], waiting=waiting)

    waits = run(agent)
    before, shown = rename.row, waiting[waits.interruptions[0].call_id]
    result = decided(agent, waits)

    assert (shown.lines, shown.arguments) == (("old -> new",), NEW)
    assert before == "old"
    assert (told(result), result.final_output) == (["renamed to new"], "done")
    assert [step.status for step in session.steps] == ["ok"]
    assert waiting == {}


def test_a_denied_call_never_reaches_the_tool() -> None:
    """What a person rejects is answered by the SDK."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)])

    result = decided(agent, run(agent), approve=False)

    assert (rename.row, len(told(result))) == ("old", 1)


def test_what_changed_since_it_was_shown_does_not_run() -> None:
    """Another state of the row between interruption and approval is a conflict (S4)."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)])

    waits = run(agent)
    rename.row = "meanwhile"
    result = decided(agent, waits)

    assert rename.row == "meanwhile"
    assert told(result)[0].startswith("Error (conflict)")


def test_an_approval_of_a_stored_run_is_of_no_use_in_another_session() -> None:
    """A run that was written down and goes on elsewhere runs nothing that was not shown there."""
    rename = Rename()
    host = Host(tools=[rename])
    first = agent_of(host.session(actor=OWNER), [call("rename", NEW)])
    other = agent_of(host.session(actor=OWNER))
    stored = run(first).to_state().to_string()

    async def later() -> Any:
        state = await RunState.from_string(other, stored)
        for item in state.get_interruptions():
            state.approve(item)
        return await Runner.run(other, state, run_config=QUIET)

    result = asyncio.run(later())

    assert rename.row == "old"
    assert told(result)[0].startswith("Error (approval_denied)")


def test_what_a_person_has_seen_stays_what_is_approved() -> None:
    """A call that waits on while another is decided keeps the preview that was shown."""
    rename, waiting = Rename(), dict[str, Any]()
    turn = [call("rename", NEW, "c1"), call("rename", {"name": "other"}, "c2")]
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), turn, waiting=waiting)

    waits = run(agent)
    seen = waiting["c2"]
    state = waits.to_state()
    state.approve(waits.interruptions[0])
    again = run(agent, state)
    result = decided(agent, again)

    assert rename.row == "new"
    assert seen.lines == ("old -> other",)
    assert [text.partition(":")[0] for text in told(result)] == [
        "renamed to new",
        "Error (conflict)",
    ]


@pytest.mark.parametrize(
    "approver", [Actor("robot", {"admin"}, service=True), None], ids=["a machine", "nobody"]
)
def test_not_everybody_approves(approver: Actor | None) -> None:
    """A service account's approval is none, and without an approver nothing waits."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, [call("rename", NEW)], approver=approver)

    result = run(agent)
    if result.interruptions:
        result = decided(agent, result)

    assert rename.row == "old"
    assert told(result)[0].startswith("Error (approval_denied)")


def test_a_tool_that_is_called_past_the_run_has_no_approval() -> None:
    """Who turns the SDK's own question off gets no further."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), [call("rename", NEW)])
    agent.tools[0].needs_approval = False

    result = run(agent)

    assert rename.row == "old"
    assert told(result)[0].startswith("Error (approval_denied)")


def test_a_call_that_is_refused_asks_nobody() -> None:
    """Arguments that break the schema are answered without an interruption."""
    session = Host(tools=[Rename()]).session(actor=OWNER)

    result = run(agent_of(session, [call("rename", json.dumps({"nope": 1}))]))

    assert result.interruptions == []
    assert told(result)[0].startswith("Error (invalid_arguments)")


def test_twice_is_never_with_approvals() -> None:
    """Of four approved calls of a write that breaks the contract one runs (S3)."""
    broken = Broken()
    turn = [call("rename", NEW, f"c{n}") for n in range(4)]
    agent = agent_of(Host(tools=[broken]).session(actor=OWNER), turn)

    result = decided(agent, run(agent))

    assert broken.count == 1
    assert [t.partition(":")[0] for t in told(result)] == ["Error (contract_error)"] * 4
