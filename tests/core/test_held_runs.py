"""Runs that are held in memory: nobody knows what a write did, until a person says it."""

from typing import Any

import attrs
import pytest

from support.tools import ADA, plugin
from toolseam import Actor, Host, ToolError, ToolResult
from toolseam.runs import Decision, HeldRun, Run, RunError
from toolseam.testing import ScriptedProvider


def preview(arguments: Any, context: Any) -> ToolResult:
    """Say what would be written."""
    return ToolResult.text("would write")


def broken(arguments: Any) -> ToolResult:
    """Write, and fail before anybody knows."""
    raise ToolError("It is not known.", "execution_error")


def lost() -> Any:
    """Return a write of which nobody knows what it did."""
    return plugin(broken, name="write", preview=preview, effect="idempotent_write")


def fenced(made: Host, *names: str) -> Run:
    """Return a run with such writes, held as a driver that must not repeat them holds it."""
    provider = ScriptedProvider([[(name, {}) for name in names], "done"])
    session = made.session(actor=ADA)
    run = session.run(provider, "q")
    said = [Decision.approve(each, actor=ADA) for each in run.pending if each.needs_approval]
    ended = session.resume(run.id, said, provider)
    made._state.store.hold(ended)
    return ended


def held(made: Host) -> HeldRun:
    """Return the one run that is held."""
    (found,) = made.held_runs()
    return found


@pytest.fixture
def made() -> Any:
    """A host without a store."""
    with Host(tools=[lost()], settings={"enable": ["write"]}) as host:
        yield host


def test_a_held_run_shows_the_writes_that_nobody_knows(made: Host) -> None:
    """Each with its place, its arguments and how the attempt ended."""
    run = fenced(made, "write", "write")

    found = held(made)

    assert (found.id, found.owner, found.reason, found.goes_on) == (run.id, "ada", "fenced", True)
    assert [(each.round, each.position, each.tool) for each in found.calls] == [
        (1, 0, "write"),
        (1, 1, "write"),
    ]
    assert {(each.status, str(each.arguments)) for each in found.open} == {
        ("execution_error", "{}")
    }


def test_what_a_person_says_is_kept_for_whoever_goes_on(made: Host) -> None:
    """The run is held until the last call is told of; then it is released, once."""
    run = fenced(made, "write", "write")
    store, session = made._state.store, made.session()
    first, second = held(made).open

    assert session.settle(run.id, [first], "done", actor=ADA) is False
    with pytest.raises(RunError) as early:
        store.release(run.id)
    assert session.settle(run.id, [second], "not_done", actor=ADA) is True
    told = store.release(run.id)

    assert early.value.code == "conflict"
    assert [(each.position, each.verdict, each.said_by) for each in told] == [
        (0, "done", "ada"),
        (1, "not_done", "ada"),
    ]
    assert made.held_runs() == ()
    with pytest.raises(RunError) as again:
        store.release(run.id)
    assert again.value.code == "not_found"


def test_nothing_is_said_twice_and_nothing_of_a_stranger(made: Host) -> None:
    """A call that was told of, one that is not there, and a run that is not held are refused."""
    run = fenced(made, "write")
    session = made.session()
    (call,) = held(made).open
    session.settle(run.id, [call], "done", actor=ADA)

    codes: list[str] = []
    for run_id, said in (
        (run.id, call),
        (run.id, attrs.evolve(call, position=7)),
        ("nobody", call),
    ):
        with pytest.raises(RunError) as refused:
            session.settle(run_id, [said], "not_done", actor=ADA)
        codes.append(refused.value.code)

    assert codes == ["conflict", "not_found", "not_found"]
    (told,) = made._state.store.release(run.id)
    assert told.verdict == "done"


@pytest.mark.parametrize(
    "actor", [Actor("robot", {"admin"}, service=True), Actor("eve", {"guest"})], ids=str
)
def test_only_people_who_might_approve_may_say_it(actor: Actor) -> None:
    """A service account may not, and nobody to whom the tool is closed."""
    settings = {"enable": ["write"], "tools": {"write": {"requires_admin": True}}}
    with Host(tools=[lost()], settings=settings) as made:
        admin = attrs.evolve(ADA, roles=frozenset({"admin"}))
        provider = ScriptedProvider([("write", {})])
        session = made.session(actor=admin)
        run = session.run(provider, "q")
        ended = session.resume(
            run.id, [Decision.approve(run.pending[0], actor=admin)], ScriptedProvider(["done"])
        )
        made._state.store.hold(ended)
        with pytest.raises(RunError) as refused:
            session.settle(run.id, held(made).open, "done", actor=actor)

        assert refused.value.code == "permission_denied"
        assert len(held(made).open) == 1


def test_a_run_that_ends_is_held_no_more(made: Host) -> None:
    """Its end is the end of what was asked of people."""
    run = fenced(made, "write")

    made._state.store.end(run)

    assert made.held_runs() == ()
