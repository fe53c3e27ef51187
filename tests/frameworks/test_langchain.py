"""LangChain: messages, graphs that wait for people, and LangChain's own kit for tools."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from support import openai_wire
from support.provider_recorder import recording
from support.tools import ADA, CountedAsync, fine, plugin
from support.writes import EVE, OWNER, Broken, Rename
from toolseam import Actor, ErrorCode, Host, Session, ToolArtifact, ToolResult
from toolseam.testing import canary
from toolseam_builtin.system import list_packages
from toolseam_plugins.interop import to_langchain

CONFIG = {"configurable": {"thread_id": "1"}}


class Scripted(GenericFakeChatModel):
    """LangChain's own fake of a model, which says what is given."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take any tools."""
        return self


def wanted(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """Return a message that asks for calls."""
    made = [
        {"name": name, "args": args, "id": f"call_{n}", "type": "tool_call"}
        for n, (name, args) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def agent_of(session: Session, *said: AIMessage, approver: Actor | None = EVE, **more: Any) -> Any:
    """Return an agent over the session's tools, with a memory, that says these messages."""
    model = Scripted(messages=iter([*said, AIMessage("done")]))
    given = {"checkpointer": InMemorySaver(), **more}
    return create_agent(model, to_langchain(session, approver=approver), **given)


def asked(agent: Any) -> dict[str, Any]:
    """Begin a run."""
    state: dict[str, Any] = agent.invoke({"messages": [("user", "q")]}, CONFIG)
    return state


def answered(state: dict[str, Any]) -> list[tuple[str, str]]:
    """Return status and text of the tools' messages."""
    return [(m.status, m.content) for m in state["messages"] if m.type == "tool"]


def only(session: Session) -> BaseTool:
    """Return the one tool of a session."""
    (found,) = to_langchain(session)
    return found


# -- one tool --------------------------------------------------------------------------------------


def test_a_message_has_text_status_and_code_only() -> None:
    """A failure's message carries its code as artifact, a success none."""

    def execute(arguments: dict[str, Any]) -> ToolResult:
        if arguments["n"]:
            return ToolResult.error("gone", ErrorCode.NOT_FOUND, metadata={"a": 1})
        return ToolResult.text("here", ToolArtifact.text("a", "b"), data={"c": 1})

    parameters = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    probe = only(Host(tools=[plugin(execute, parameters=parameters)]).session(actor=ADA))

    good, bad = (
        probe.invoke({"type": "tool_call", "id": "7", "name": "probe", "args": {"n": n}})
        for n in (0, 1)
    )

    assert (type(good), good.content, good.status) == (ToolMessage, "here", "success")
    assert (good.artifact, good.tool_call_id, good.name) == (None, "7", "probe")
    assert (bad.content, bad.status) == ("Error (not_found): gone", "error")
    assert bad.artifact == {"error_code": "not_found"}
    assert type(bad.content) is str


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": "x"}, "x"),
        ('{"text": "x"}', "x"),
        ('{"text": "x"', "Error (invalid_arguments)"),
        ("plain words", "Error (invalid_arguments)"),
        ({"text": "ship \ud83d now"}, "Error (invalid_arguments)"),
        ({"text": "x", "more": 1}, "Error (invalid_arguments)"),
        ({"text": float("nan")}, "Error (invalid_arguments)"),
        ("", "Error (invalid_arguments)"),
    ],
    ids=["object", "JSON", "truncated", "words", "surrogate", "unknown", "nan", "nothing"],
)
def test_whatever_is_given_is_answered(given: Any, said: str) -> None:
    """Called without a call's id a tool gives plain text, of refusals too, and never raises."""
    parameters = {"properties": {"text": {"type": "string"}}, "required": ["text"]}

    def execute(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.text(arguments["text"])

    probe = only(Host(tools=[plugin(execute, parameters=parameters)]).session(actor=ADA))

    told = [probe.invoke(given), asyncio.run(probe.ainvoke(given))]

    assert [each[: len(said)] for each in told] == [said, said]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_call_that_was_cut_never_runs(streaming: bool) -> None:
    """LangChain mends the arguments of a cut stream; the seam gets them cut, and refuses (P14)."""
    half = '{"scope": "one", "depth": 1'
    first = (
        openai_wire.chat_chunks(openai_wire.call_chunk("probe", half), finish="length")
        if streaming
        else openai_wire.chat(calls=[("probe", half, "call_1")], finish="length")
    )
    last = openai_wire.chat_chunks({"content": "done"}) if streaming else openai_wire.chat("done")
    tool = CountedAsync(fine, parameters={"properties": {"scope": {"type": "string"}}})

    with recording(first, last) as recorder:
        url = f"{recorder.url}/v1"
        model = ChatOpenAI(model="m", base_url=url, api_key="k", max_retries=0, streaming=streaming)
        agent = create_agent(model, to_langchain(Host(tools=[tool]).session(actor=ADA)))
        state = agent.invoke({"messages": [("user", "q")]})

    assert tool.count == 0
    assert [text[:25] for _, text in answered(state)] == ["Error (invalid_arguments)"] * streaming


def test_calls_of_a_turn_run_at_once_in_threads() -> None:
    """An agent that is not awaited runs them in threads, and each message has its own call's id."""
    meeting = threading.Barrier(4)

    def execute(arguments: dict[str, Any]) -> ToolResult:
        meeting.wait(30)
        return ToolResult.text(f"number {arguments['n']}")

    parameters = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    session = Host(tools=[plugin(execute, parameters=parameters)]).session(actor=ADA)

    state = asked(agent_of(session, wanted(*(("probe", {"n": n}) for n in range(4)))))

    told = {m.tool_call_id: m.content for m in state["messages"] if m.type == "tool"}
    assert told == {f"call_{n}": f"number {n}" for n in range(4)}


def test_an_argument_of_the_adapters_own_name_is_no_way_in() -> None:
    """What the adapter asks of LangGraph cannot be said by the model."""
    probe = only(Host(tools=[plugin(lambda arguments: fine())]).session(actor=ADA))

    assert probe.invoke({"seam_turn": "x"}).startswith("Error (invalid_arguments)")
    assert "seam_turn" not in json.dumps(probe.args)


def test_a_graph_keeps_no_canary() -> None:
    """What a checkpointer stores of a run has none of the run-only members either."""
    can = canary()

    def execute(arguments: object) -> ToolResult:
        members = {"data": {"x": can.text}, "metadata": {"x": can.text}}
        return ToolResult.text("rows", ToolArtifact.text("a", can.text), **members)

    memory = InMemorySaver()
    session = Host(tools=[plugin(execute)]).session(actor=ADA)
    agent = agent_of(session, wanted(("probe", {})), checkpointer=memory)

    state = asked(agent)

    assert answered(state) == [("success", "rows")]
    stored = repr([dict(memory.storage), dict(memory.blobs), dict(memory.writes)])
    assert "rows" in stored
    assert not can.is_in(stored)


# -- people ----------------------------------------------------------------------------------------


def test_a_person_approves_what_the_interrupt_shows() -> None:
    """The graph waits with the preview; its digest lets exactly that call run, once."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, wanted(("rename", {"name": "new"})))

    (waits,) = asked(agent)["__interrupt__"]
    before = rename.row
    state = agent.invoke(Command(resume={"approve": waits.value["digest"]}), CONFIG)

    shown = {key: value for key, value in waits.value.items() if key != "digest"}
    assert json.loads(json.dumps(shown)) == {
        "tool": "rename",
        "arguments": {"name": "new"},
        "preview": ["old -> new"],
        "failed": False,
        "cut": False,
    }
    assert before == "old"
    assert answered(state) == [("success", "renamed to new")]
    assert [step.status for step in session.steps] == ["ok"]


def test_a_person_approves_an_awaited_call() -> None:
    """An agent that is awaited waits in the same way."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), wanted(("rename", {"name": "new"})))

    async def whole() -> dict[str, Any]:
        state = await agent.ainvoke({"messages": [("user", "q")]}, CONFIG)
        digest = state["__interrupt__"][0].value["digest"]
        done: dict[str, Any] = await agent.ainvoke(Command(resume={"approve": digest}), CONFIG)
        return done

    assert answered(asyncio.run(whole())) == [("success", "renamed to new")]


@pytest.mark.parametrize(
    "said",
    [{"deny": "no"}, "approve", True, {"approve": True}, {"approve": "0" * 64}, {"approve": None}],
    ids=repr,
)
def test_whatever_is_no_approval_denies(said: Any) -> None:
    """Only the digest of what was shown lets a call run."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), wanted(("rename", {"name": "new"})))

    asked(agent)
    state = agent.invoke(Command(resume=said), CONFIG)

    assert rename.row == "old"
    assert [text.partition(":")[0] for _, text in answered(state)] == ["Error (approval_denied)"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("not on a Friday", "A person refused this call: not on a Friday."),
        ("", "A person refused this call."),
        ("\x1b[2Jno\u202e", "A person refused this call: \u241b[2Jno\ufffd."),
    ],
)
@pytest.mark.parametrize("awaited", [False, True])
def test_the_model_is_told_why_a_person_refused(reason: str, told: str, awaited: bool) -> None:
    """The reason is cleaned like any text, and the step is that of a denied call."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, wanted(("rename", {"name": "new"})))

    asked(agent)
    word = Command(resume={"deny": reason})
    state = asyncio.run(agent.ainvoke(word, CONFIG)) if awaited else agent.invoke(word, CONFIG)

    assert answered(state) == [("error", f"Error (approval_denied): {told}")]
    assert rename.row == "old"
    (step,) = session.steps
    assert (step.tool, step.status, step.effect) == ("rename", "approval_denied", "none")
    assert step.arguments == {"name": "new"}


def test_a_long_reason_is_bounded() -> None:
    """No more of it reaches the model than of any failure's message."""
    session = Host(tools=[Rename()]).session(actor=OWNER)
    agent = agent_of(session, wanted(("rename", {"name": "new"})))

    asked(agent)
    state = agent.invoke(Command(resume={"deny": "x" * 100_000}), CONFIG)

    ((_, told),) = answered(state)
    assert len(told) < 2_200
    assert "[truncated:" in told


def test_what_changed_since_it_was_shown_does_not_run() -> None:
    """Another state of the row between interrupt and approval is a conflict (S4)."""
    rename = Rename()
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), wanted(("rename", {"name": "new"})))

    (waits,) = asked(agent)["__interrupt__"]
    rename.row = "changed meanwhile"
    state = agent.invoke(Command(resume={"approve": waits.value["digest"]}), CONFIG)

    assert rename.row == "changed meanwhile"
    assert answered(state)[0][1].startswith("Error (conflict)")


def test_an_approval_is_of_no_use_in_another_session() -> None:
    """A graph that goes on over another session's tools runs nothing that it has not shown."""
    rename = Rename()
    host, memory = Host(tools=[rename]), InMemorySaver()
    call = wanted(("rename", {"name": "new"}))
    first = agent_of(host.session(actor=OWNER), call, checkpointer=memory)
    other = agent_of(host.session(actor=OWNER), checkpointer=memory)

    (waits,) = asked(first)["__interrupt__"]
    state = other.invoke(Command(resume={"approve": waits.value["digest"]}), CONFIG)

    assert rename.row == "old"
    assert answered(state)[0][1].startswith("Error (approval_denied)")


def test_each_of_several_calls_is_decided_for_itself() -> None:
    """Of two writes in one turn the approved one runs, and the other is denied."""
    rename = Rename()
    turn = wanted(("rename", {"name": "one"}), ("rename", {"name": "two"}))
    agent = agent_of(Host(tools=[rename]).session(actor=OWNER), turn)

    waits = asked(agent)["__interrupt__"]
    said = {
        each.id: {"approve": each.value["digest"]}
        if each.value["arguments"] == {"name": "two"}
        else {"deny": ""}
        for each in waits
    }
    state = agent.invoke(Command(resume=said), CONFIG)

    assert len(waits) == 2
    assert rename.row == "two"
    assert [status for status, _ in answered(state)] == ["error", "success"]


@pytest.mark.parametrize(
    "approver", [Actor("robot", {"admin"}, service=True), None], ids=["a machine", "nobody"]
)
def test_not_everybody_approves(approver: Actor | None) -> None:
    """A service account's approval is none, and without an approver nothing waits."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, wanted(("rename", {"name": "new"})), approver=approver)

    state = asked(agent)
    for waits in state.get("__interrupt__", ()):
        state = agent.invoke(Command(resume={"approve": waits.value["digest"]}), CONFIG)

    assert rename.row == "old"
    assert answered(state)[0][1].startswith("Error (approval_denied)")


def test_nothing_waits_where_nothing_remembers() -> None:
    """A graph without a checkpointer, and a bare call, are answered at once."""
    rename = Rename()
    session = Host(tools=[rename]).session(actor=OWNER)
    agent = agent_of(session, wanted(("rename", {"name": "new"})), checkpointer=None)

    (tool,) = to_langchain(session, approver=EVE)
    told = [answered(asked(agent))[0][1], tool.invoke({"name": "new"})]

    assert {each.partition(":")[0] for each in told} == {"Error (approval_denied)"}


def test_langchain_alone_is_enough() -> None:
    """Without LangGraph the tools work, and nobody can be asked."""
    code = """
import sys

sys.modules["langgraph"] = None
from support.writes import EVE, OWNER, Rename
from toolseam import Host
from toolseam_plugins.interop import to_langchain

(tool,) = to_langchain(Host(tools=[Rename()]).session(actor=OWNER), approver=EVE)
print(tool.invoke({"name": "new"}))
"""
    path = {"PYTHONPATH": str(Path(__file__).parents[1])}

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=os.environ | path,
    )

    assert done.stdout.startswith("Error (approval_denied)")


def test_a_call_that_is_refused_asks_nobody() -> None:
    """Arguments that break the schema are answered without an interrupt."""
    session = Host(tools=[Rename()]).session(actor=OWNER)

    state = asked(agent_of(session, wanted(("rename", {"nope": 1}))))

    assert "__interrupt__" not in state
    assert answered(state)[0][1].startswith("Error (invalid_arguments)")


def test_twice_is_never_with_approvals() -> None:
    """Of six approved calls of a write that breaks the contract one runs (S3)."""
    broken = Broken()
    host = Host(tools=[broken])
    turns = [wanted(("rename", {"name": "x"})) for _ in range(6)]
    agent = agent_of(host.session(actor=OWNER), *turns)

    state = asked(agent)
    for _ in range(6):
        if waits := state.get("__interrupt__"):
            state = agent.invoke(Command(resume={"approve": waits[0].value["digest"]}), CONFIG)

    assert broken.count == 1
    assert len(answered(state)) == 6
    assert {text.partition(":")[0] for _, text in answered(state)} == {"Error (contract_error)"}


# -- LangChain's own kit ---------------------------------------------------------------------------


TEXT = {"properties": {"text": {"type": "string"}}}
# The kit cannot call a tool without arguments whose schema is plain JSON: each has one at least.
KIT: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (plugin(lambda arguments: fine(), parameters=TEXT), {"text": "x"}),
    "failing": (plugin(lambda arguments: 1 / 0, parameters=TEXT), {"text": "x"}),
    "broken": (plugin(lambda arguments: None, parameters=TEXT), {"text": "x"}),
    "async": (CountedAsync(fine, parameters=TEXT), {"text": "x"}),
    "write": (Rename(), {"name": "x"}),
    "builtin": (list_packages, {"filter": "attrs"}),
}


class _Kit:
    """What the kit asks: a tool of a session, and arguments that suit it."""

    @pytest.fixture(autouse=True, params=list(KIT))
    def chosen(self, request: pytest.FixtureRequest) -> None:
        """Choose a tool."""
        self._plugin, self._example = KIT[request.param]

    @property
    def tool_constructor(self) -> BaseTool:
        """Return the tool."""
        host = Host(tools=[self._plugin])
        return only(host.session(actor=Actor.system, zone="local"))

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        """Return the arguments."""
        return self._example


class TestKitOfUnits(_Kit, ToolsUnitTests):
    """What the kit asks without a call."""


class TestKitOfCalls(_Kit, ToolsIntegrationTests):
    """What the kit asks of calls, plain and awaited."""
