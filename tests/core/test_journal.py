"""Runs with a journal: who repeats one does nothing twice, and a write of unknown effect never."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from support.audit import echo, writer
from support.tools import ADA, Counted, plugin
from toolseam import Actor, Host, ToolResult, hookimpl
from toolseam.providers import ProviderError, ProviderFault
from toolseam.runs import Budget, Decision, RunChange
from toolseam.testing import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolseam.runs import Run


class Kept:
    """A journal in memory; `lost` are writes whose outcome never came, as `write_1_0`."""

    run_id = "run-1"
    gone = False

    def __init__(self, **lost: Any) -> None:
        self.texts: dict[str, bytes] = {}
        self.lost = lost

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what is kept, or make it."""
        if key not in self.texts:
            self.texts[key] = await make()
        return self.texts[key]

    def fate(self, key: str) -> Any:
        """Tell what is known of a write whose outcome was lost."""
        return self.lost.get(f"write_{key.replace('.', '_')}", "none")


def counted(give: Callable[[], Any] = lambda: ToolResult.text("read"), **more: Any) -> Counted:
    """Return a tool that counts its calls and may be given a number."""
    return Counted(give, parameters={"properties": {"a": {"type": "integer"}}}, **more)


def run(journal: Kept, script: list[Any], *tools: Any, **more: Any) -> Run:
    """Make or repeat the run in a host of its own."""
    with Host(tools=tools) as host:
        session = host.session(actor=ADA)
        return session.run(ScriptedProvider(script), "q", journal=journal, **more)


def calls(made: Run) -> list[Any]:
    """Return the steps of its calls."""
    return [step for step in made.steps if step.kind == "tool"]


def facts(made: Run) -> tuple[Any, ...]:
    """Return what must be the same whoever repeats a run."""
    return made.id, made.status, made.answer, made.messages, made.usage, made.rounds, made.mark


def test_a_repeated_run_asks_nobody_and_calls_nothing() -> None:
    """What was finished comes from the journal, under the same ids and with the same messages."""
    journal = Kept()
    tool = counted(data_class="editor_content")
    script: list[Any] = [
        [("probe", {}), ("absent", {}), ("probe", {})],
        ("probe", {"a": 1}),
        "done",
    ]

    first = run(journal, script, tool)
    again = run(journal, [], tool)

    assert facts(again) == facts(first)
    assert [step.id for step in again.steps] == [step.id for step in first.steps]
    assert (first.id, first.mark, tool.count) == ("run-1", "editor_content", 3)
    assert sorted(journal.texts) == ["1.0", "1.1", "1.2", "1/0", "2.0", "2/0", "3/0"]


def test_a_repeated_run_goes_on_after_the_last_thing_that_was_kept() -> None:
    """Only the call whose answer is missing is made again, and only what follows is asked."""
    journal = Kept()
    tool = counted()
    run(journal, [("probe", {}), ("probe", {"a": 1}), "done"], tool)
    del journal.texts["2.0"], journal.texts["3/0"]

    again = run(journal, ["another end"], tool)

    assert (again.answer, tool.count) == ("another end", 3)


def test_the_calls_that_a_tool_makes_keep_their_numbers_for_it() -> None:
    """A step after a call that called others has the same id, whether these are made again."""

    def outer(arguments: Any, context: Any) -> ToolResult:
        context.call("echo", {"text": "x"})
        return ToolResult.text("outer")

    journal = Kept()
    tools = plugin(outer, name="outer"), echo()
    script: list[Any] = [("outer", {}), ("echo", {"text": "y"}), "done"]

    first = run(journal, script, *tools)
    again = run(journal, [], *tools)

    assert [step.id for step in again.steps] == [step.id for step in first.steps]


def test_a_failure_of_a_provider_is_kept_too() -> None:
    """The next of the chain is asked once, and a repeated run asks neither."""
    journal = Kept()
    down = ScriptedProvider([ProviderError("x", ProviderFault.CONNECTION)], name="down")
    with Host() as host:
        session = host.session(actor=ADA)
        first = session.run([down, ScriptedProvider(["done"])], "q", journal=journal)
        again = session.run([down, ScriptedProvider([])], "q", journal=journal)

    assert facts(again) == facts(first)
    assert (first.answer, len(down.requests)) == ("done", 1)


def test_the_time_of_a_request_stays_spent() -> None:
    """A budget of seconds counts what the request took in the process that made it."""

    class Slow(ScriptedProvider):
        async def complete(self, request: Any) -> Any:
            time.sleep(0.3)  # noqa: ASYNC251 - the clock is what is tested
            return await super().complete(request)

    journal = Kept()
    with Host(tools=[echo()]) as host:
        session, budget = host.session(actor=ADA), Budget(seconds=0.2)
        slow = Slow([("echo", {"text": "x"}), "never"])
        first = session.run(slow, "q", journal=journal, budget=budget)
        again = session.run(ScriptedProvider([]), "q", journal=journal, budget=budget)

    assert [first.reason, again.reason] == ["budget_exhausted"] * 2


def test_a_tool_that_broke_the_contract_stays_withdrawn_in_a_repeated_run() -> None:
    """The breach is kept with the answer: the tool is not called again afterwards."""
    journal = Kept()
    broken = counted(lambda: None)
    run(journal, [("probe", {}), "done"], broken)
    del journal.texts["2/0"]

    again = run(journal, [("probe", {"a": 1}), "done"], broken)

    assert broken.count == 1
    assert "will not run again" in str(again.messages[-2])


def test_a_nested_call_that_broke_the_contract_withdraws_its_tool_in_a_repeated_run() -> None:
    """Whoever made the call answered well, and the tool that it called is not called again."""

    def outer(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(context.call("probe", {}).content)

    journal, broken = Kept(), counted(lambda: None)
    tools = plugin(outer, name="outer"), broken
    run(journal, [("outer", {}), "done"], *tools)
    del journal.texts["2/0"]

    again = run(journal, [("probe", {"a": 1}), "done"], *tools)

    assert broken.count == 1
    assert "will not run again" in str(again.messages[-2])


def test_a_wrapper_that_broke_the_contract_withdraws_no_tool_in_a_repeated_run() -> None:
    """The tool was not at fault, and is called again, as it would be in the first one."""

    def junk() -> Any:
        yield

    journal, tool, wrapper = Kept(), counted(), hookimpl(wrapper=True)(junk)
    script: list[Any] = [("probe", {}), "done"]
    with Host(tools=[tool], plugins=[SimpleNamespace(execute=wrapper)]) as host:
        session = host.session(actor=ADA)
        first = session.run(ScriptedProvider(script), "q", journal=journal)
    del journal.texts["2/0"]

    again = run(journal, [("probe", {"a": 1}), "done"], tool)

    assert (calls(first)[0].status, tool.count) == ("contract_error", 2)
    assert [step.status for step in calls(again)] == ["contract_error", "ok"]


def resumed(journal: Kept, host: Host, run_id: str, said: list[Decision], script: Any) -> Run:
    """Go on with a run that waited."""
    session = host.session()
    return session.resume(run_id, said, ScriptedProvider(script), journal=journal)


def test_a_write_that_was_approved_is_not_made_again() -> None:
    """Repeated, the run that went on asks neither the store, nor the preview, nor the tool."""
    done: list[str] = []
    first, second = Kept(), Kept()
    with Host(tools=[writer(done)]) as host:
        session = host.session(actor=ADA)
        script: list[Any] = [("write", {"text": "y"})]
        waits = session.run(ScriptedProvider(script), "q", journal=first)
        said = [Decision.approve(waits.pending[0], actor=ADA)]
        ended = resumed(second, host, waits.id, said, ["done"])
    with Host(tools=[writer(done)]) as host:
        again = resumed(second, host, waits.id, [], [])

    assert facts(again) == facts(ended)
    assert (ended.answer, done) == ("done", ["y"])


@pytest.mark.parametrize(
    ("fate", "status", "effect", "run_status"),
    [
        ("unknown", "execution_error", "unknown", "held"),
        ("done", "ok", "done", "completed"),
        ("not_done", "unavailable", "none", "completed"),
    ],
)
def test_a_write_of_which_only_the_intent_is_known_is_never_made_again(
    fate: str, status: str, effect: str, run_status: str
) -> None:
    """The run is held for a person, and goes on with what he says; repeated, it stands there."""
    done: list[str] = []
    lost = Kept(write_1_0=fate)
    with Host(tools=[writer(done)]) as host:
        script = [("write", {"text": "y"})]
        waits = host.session(actor=ADA).run(ScriptedProvider(script), "q", journal=Kept())
        said = [Decision.approve(waits.pending[0], actor=ADA)]
        ended = resumed(lost, host, waits.id, said, ["done"])
        again = resumed(lost, host, waits.id, [], [])
        held = host.held_runs()

    step: Any = next(step for step in ended.steps if step.kind == "tool")
    assert (step.status, step.effect, ended.status, done) == (status, effect, run_status, [])
    assert facts(again) == facts(ended)
    assert [(run.id, run.goes_on) for run in held] == [("run-1", True)] * (run_status == "held")


def test_a_repeated_run_tells_of_each_call_what_was_told_of_it() -> None:
    """What was cut or left out of an answer, and why it was none, stays so in its step."""
    big = ToolResult.text("x" * 60_000, data={"a": 1}, metadata={"b": "y" * 60_000})
    tools = counted(lambda: big), counted(lambda: None, name="broken")
    journal = Kept()
    script: list[Any] = [[("probe", {}), ("broken", {})], "done"]

    first, again = run(journal, script, *tools), run(journal, [], *tools)

    def told(made: Run) -> list[Any]:
        names = ("status", "effect", "reason", "truncated", "original_size", "notes")
        return [tuple(getattr(step, name) for name in names) for step in calls(made)]

    cut, broken = calls(first)
    assert (cut.truncated, bool(cut.notes), bool(broken.reason)) == (True, True, True)
    assert told(again) == told(first)


# -- a write whose outcome was lost ---------------------------------------------------------------


def held_and_settled(journal: Kept, script: list[Any], tools: Any, verdict: Any) -> tuple[Run, Run]:
    """Return a run that is held, and what comes of it once an administrator has told of it."""
    root = Actor("root", {"admin"})
    with Host(tools=tools(first=True)) as host:
        waits = host.session(actor=ADA).run(ScriptedProvider(script[:1]), "q", journal=Kept())
        said = [Decision.approve(each, actor=ADA) for each in waits.pending if each.needs_approval]
        resumed(journal, host, waits.id, said, ["never"])
    taken = journal.texts["taken"]
    with Host(tools=tools(first=False)) as host:
        # Its process was lost, and this one knows of the intent alone.
        journal.texts = {"taken": taken}
        held = resumed(journal, host, waits.id, [], [])
        (found,) = host.held_runs()
        (call,) = found.open
        assert host.session().settle(found.id, [call], verdict, actor=root)
        key = f"{call.round}.{call.position}"
        journal.lost = {f"write_{key.replace('.', '_')}": verdict}
        del journal.texts[key]
        return held, resumed(journal, host, waits.id, [], script[1:])


@pytest.mark.parametrize("verdict", ["done", "not_done"])
def test_after_a_write_that_was_lost_no_call_of_its_turn_is_made(verdict: str) -> None:
    """People are asked of that one alone, and the rest is made once they have told of it."""
    done: list[str] = []
    script: list[Any] = [[("write", {"text": "a"}), ("write", {"text": "b"})], "done"]
    lost = Kept()

    def tools(*, first: bool) -> Any:
        lost.lost = {"write_1_0": "unknown"}
        done.clear()
        return [writer(done)]

    held, ended = held_and_settled(lost, script, tools, verdict)

    (step,) = calls(held)
    told, made = calls(ended)
    assert (held.status, step.effect, told.id) == ("held", "unknown", step.id)
    assert (ended.answer, made.effect, done) == ("done", "done", ["b"])


@pytest.mark.parametrize(("verdict", "effect"), [("done", "done"), ("not_done", "none")])
@pytest.mark.parametrize("now", ["gone", "a read that needs approval"])
def test_a_lost_call_of_a_tool_that_is_no_write_any_more_is_told_of(
    now: str, verdict: str, effect: str
) -> None:
    """Whoever removes the tool, and whoever approves a read, can still say what it did."""

    def tools(*, first: bool) -> Any:
        lost.lost = {"write_1_0": "unknown"}
        if now == "gone":
            return [writer([])] if first else []
        return [counted(name="write", requires_approval=True)]

    lost = Kept()
    arguments = {"text": "y"} if now == "gone" else {"a": 1}
    held, ended = held_and_settled(lost, [("write", arguments), "done"], tools, verdict)

    (step,) = calls(held)
    (told,) = calls(ended)
    assert (held.status, step.effect, ended.status) == ("held", "unknown", "completed")
    assert (step.tool, step.arguments and step.arguments.value) == ("write", arguments)
    assert told.effect == effect


def test_a_write_that_was_made_stays_done_when_its_tool_is_gone() -> None:
    """What has happened is told of as it was, whoever repeats the run."""
    journal = Kept()
    with Host(tools=[writer([])]) as host:
        script: list[Any] = [("write", {"text": "y"})]
        waits = host.session(actor=ADA).run(ScriptedProvider(script), "q", journal=Kept())
        said = [Decision.approve(waits.pending[0], actor=ADA)]
        resumed(journal, host, waits.id, said, ["done"])
    with Host() as host:
        again = resumed(journal, host, waits.id, [], [])

    (step,) = calls(again)
    assert (step.status, step.effect, again.answer) == ("ok", "done", "done")


# -- what ends a run ------------------------------------------------------------------------------


class Own(BaseException):
    """What no run survives, and a tool raises of its own accord."""


@pytest.mark.parametrize("error", [Own, KeyboardInterrupt])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_that_raises_what_ends_a_run_is_not_called_again(
    error: type[BaseException], is_async: bool
) -> None:
    """It is recorded as stopped, and raised; whoever repeats the run finds it ended (§5)."""
    count = 0

    def execute(arguments: Any) -> ToolResult:
        nonlocal count
        count += 1
        raise error

    async def aexecute(arguments: Any) -> ToolResult:
        return execute(arguments)

    journal, tool = Kept(), plugin(aexecute if is_async else execute, name="probe")
    script: list[Any] = [[("probe", {}), ("probe", {"a": 1})], "never"]
    with pytest.raises(error):
        run(journal, script, tool)
    with Host(tools=[tool]) as host:
        steps: list[Any] = []
        host.listen(steps.append)
        again = host.session(actor=ADA).run(ScriptedProvider([]), "q", journal=journal)

    assert (again.status, again.reason, count) == ("cancelled", "cancelled", 1)
    assert [step.status for step in steps if step.kind == "tool"] == ["cancelled"]


# -- who repeats a run ----------------------------------------------------------------------------


def test_whoever_repeats_a_run_slowly_spends_none_of_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A budget of seconds ends a run where it has ended, however long its journal takes."""
    late = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + late, time=time.time)
    monkeypatch.setattr("toolseam._run_state.time", clock)

    class Slow(Kept):
        async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
            nonlocal late
            late += 100
            return await super().once(key, make)

    journal, budget = Kept(), Budget(seconds=60)
    first = run(journal, [("probe", {}), "done"], counted(), budget=budget)
    slow = Slow()
    slow.texts = journal.texts
    again = run(slow, [], counted(), budget=budget)

    assert facts(again) == facts(first)
    assert (first.status, late) == ("completed", 300)


@pytest.mark.parametrize("gone", [True, False])
def test_nobody_is_told_of_the_end_of_a_run_that_another_process_has(gone: bool) -> None:
    """Who lost a run stops, and it goes on elsewhere; else it has ended with what was raised."""

    class Taken(Kept):
        async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
            self.gone = gone
            raise Own

    told: list[Any] = []
    with Host() as host:
        host.listen_to_runs(told.append)
        session = host.session(actor=ADA)
        with pytest.raises(Own):
            session.run(ScriptedProvider(["never"]), "q", journal=Taken())

    changes = [each.status for each in told if isinstance(each, RunChange)]
    assert changes == ["running", "cancelled"][: 1 if gone else 2]
