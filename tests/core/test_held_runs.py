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


def lost(name: str = "write") -> Any:
    """Return a write of which nobody knows what it did."""
    return plugin(broken, name=name, preview=preview, effect="idempotent_write")


def fenced(made: Host, *names: str, owner: Actor = ADA, approver: Actor | None = None) -> Run:
    """Return a run with such writes, held as a driver that must not repeat them holds it."""
    provider = ScriptedProvider([[(name, {}) for name in names], "done"])
    session = made.session(actor=owner)
    run = session.run(provider, "q")
    by = approver or owner
    said = [Decision.approve(each, actor=by) for each in run.pending if each.needs_approval]
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


ADMIN = attrs.evolve(ADA, roles=frozenset({"admin"}))
BOB, EVE = Actor("bob"), Actor("eve", {"guest"})


def refused(made: Host, run: Run, calls: Any, actor: Actor) -> tuple[str, str]:
    """Return why somebody may not say it, of which nothing is kept."""
    with pytest.raises(RunError) as fault:
        made.session().settle(run.id, calls, "done", actor=actor)
    assert len(held(made).open) == len(held(made).calls)
    return fault.value.code, str(fault.value)


@pytest.mark.parametrize("actor", [Actor("robot", {"admin"}, service=True), EVE], ids=str)
@pytest.mark.parametrize("said", ["the call", "nothing"])
def test_only_people_who_might_approve_may_say_it(actor: Actor, said: str) -> None:
    """A service account may not, and nobody to whom the tool is closed; nor of the whole run."""
    settings = {"enable": ["write"], "tools": {"write": {"requires_admin": True}}}
    with Host(tools=[lost()], settings=settings) as made:
        run = fenced(made, "write", owner=ADMIN)

        calls = held(made).open if said == "the call" else ()
        assert refused(made, run, calls, actor)[0] == "permission_denied"


def test_what_a_held_call_is_the_store_says() -> None:
    """Whoever hands a call in under another tool's name is asked for what he may of its own."""
    tools = {"write": {"requires_admin": True}}
    settings = {"enable": ["write", "easy"], "tools": tools}
    with Host(tools=[lost(), lost("easy")], settings=settings) as made:
        run = fenced(made, "write", "easy", owner=ADMIN)
        hard, easy = held(made).open

        said = [attrs.evolve(hard, tool="easy")]
        assert refused(made, run, said, EVE) == (
            "permission_denied",
            "eve may not say it of write.",
        )
        assert made.session().settle(run.id, [easy], "done", actor=EVE) is False


def test_the_owner_may_not_say_it_where_the_operator_wants_four_eyes() -> None:
    """As he may not approve it, in the same words; anybody else may who might approve it."""
    settings = {"enable": ["write"], "approval": {"four_eyes": True}}
    with Host(tools=[lost()], settings=settings) as made:
        run = fenced(made, "write", approver=BOB)
        calls = held(made).open

        for owner, said in ((ADA, calls), (ADMIN, calls), (ADA, ())):
            assert refused(made, run, said, owner) == (
                "permission_denied",
                "Somebody else has to approve (four_eyes).",
            )
        assert made.session().settle(run.id, calls, "done", actor=BOB)


def test_a_long_name_hides_no_owner() -> None:
    """Stores cut names, and what they have made of the owner's is the owner."""
    long = "a\t" * 40
    settings = {"enable": ["write"], "approval": {"four_eyes": True}}
    with Host(tools=[lost()], settings=settings) as made:
        run = fenced(made, "write", owner=Actor(long), approver=BOB)
        store: Any = made._state.store
        store._held[run.id] = attrs.evolve(held(made), owner=("a\ufffd" * 40)[:64])

        assert refused(made, run, held(made).open, Actor(long))[0] == "permission_denied"
        made.session().settle(run.id, held(made).open, "done", actor=Actor("b" * 70))
        told = held(made).calls[0].told

    assert (told and told.said_by) == "b" * 64


@pytest.mark.parametrize(
    ("actor", "four_eyes", "may"),
    [
        (ADA, False, True),
        (ADMIN, False, True),
        (EVE, False, False),
        (ADA, True, False),
        (Actor("root", {"admin"}), True, True),
    ],
    ids=["owner", "owner and admin", "stranger", "owner under four_eyes", "admin"],
)
def test_of_a_run_without_a_call_its_owner_or_an_administrator_says_it(
    actor: Actor, four_eyes: bool, may: bool
) -> None:
    """There is no tool that tells who might approve, and not anybody may end it."""
    settings = {"enable": ["write"], "approval": {"four_eyes": four_eyes}}
    with Host(tools=[lost()], settings=settings) as made:
        run = fenced(made, "write", approver=BOB)
        store: Any = made._state.store
        store._held[run.id] = attrs.evolve(held(made), calls=())

        if may:
            assert made.session().settle(run.id, (), "done", actor=actor)
        else:
            assert refused(made, run, (), actor)[0] == "permission_denied"


def test_a_run_that_ends_is_held_no_more(made: Host) -> None:
    """Its end is the end of what was asked of people."""
    run = fenced(made, "write")

    made._state.store.end(run)

    assert made.held_runs() == ()
