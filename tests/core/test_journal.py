"""Runs with a journal: who repeats one does nothing twice, and a write of unknown effect never."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.audit import echo, writer
from support.tools import ADA, Counted
from toolseam import Host, ToolResult
from toolseam.providers import ProviderError, ProviderFault
from toolseam.runs import Budget, Decision
from toolseam.testing import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolseam.runs import Run


class Kept:
    """A journal in memory; `lost` are writes whose outcome never came, as `write_1_0`."""

    run_id = "run-1"

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
    from support.tools import plugin

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
    import time

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
