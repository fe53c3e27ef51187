"""Runs that are held in a store: listed, settled by people, and taken up again."""

import os
from typing import Any

import pytest

from support.audit import Kept, host, writer
from support.tools import ADA, plugin
from toolseam import Actor, Host, ToolError, ToolResult
from toolseam.runs import Decision, Run, RunError, Told
from toolseam.testing import ScriptedProvider
from toolseam_plugins import audit
from toolseam_plugins.audit import look

RUN = "SELECT status, reason FROM run WHERE kind = 'run'"


def unsure() -> Any:
    """Return a write of which nobody knows what it did."""

    def execute(arguments: Any) -> ToolResult:
        raise ToolError("It is not known.", "execution_error")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text("would write")

    return plugin(execute, name="write", preview=preview, effect="idempotent_write")


def ended(made: Host, *texts: str) -> Run:
    """Return a run that has made such writes, and has gone on to its end."""
    provider = ScriptedProvider([[("write", {}) for _ in texts], "done"])
    session = made.session(actor=ADA)
    run = session.run(provider, "q")
    said = [Decision.approve(each, actor=ADA) for each in run.pending]
    return session.resume(run.id, said, provider)


def fenced(kept: Kept, made: Host, *texts: str) -> Run:
    """Return a run that is held by who drives it."""
    run = ended(made, *texts)
    kept.rows("UPDATE run SET status = 'running', reason = NULL WHERE kind = 'run'")
    made._state.store.hold(run)
    return run


def interrupted(kept: Kept, **audited: Any) -> str:
    """Return a run that a start has marked: its process died inside a write."""
    with host(kept, writer([]), **audited) as made:
        provider = ScriptedProvider([("write", {"text": "y"}), "done"])
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)
    gone = os.urandom(8).hex()
    kept.rows(f"UPDATE run SET status = 'running', reason = NULL, ended = NULL, writer = '{gone}'")
    kept.rows("UPDATE run_step SET status = 'intended', effect = 'unknown' WHERE tool = 'write'")
    return run.id


def test_what_was_interrupted_in_a_write_is_listed_and_settled(kept: Kept) -> None:
    """A person says what happened; the run has ended, and who said it is stored for good."""
    run_id = interrupted(kept, level="full")

    with host(kept, writer([])) as made:
        (held,) = made.held_runs()
        (call,) = held.open
        settled = made.session().settle(held.id, [call], "not_done", actor=ADA)
        left = made.held_runs()
        with look(made.settings) as found:
            told = found.told(run_id)
            decisions = found.decisions(run_id)

    assert (held.id, held.owner, held.reason, held.goes_on) == (run_id, "ada", "interrupted", False)
    assert (call.tool, call.status, call.arguments) == ("write", "interrupted", {"text": "y"})
    assert (settled, left) == (True, ())
    assert kept.rows(RUN) == [("failed", "settled")]
    assert [(each["round"], each["position"], each["verdict"]) for each in told] == [
        (1, 0, "not_done")
    ]
    assert (told[0]["said_by"], len(decisions)) == ("ada", 1)


def test_a_level_that_keeps_no_content_shows_no_arguments(kept: Kept) -> None:
    """What was not stored is not there, and not an empty object."""
    interrupted(kept)

    with host(kept, writer([])) as made:
        ((call,),) = (each.open for each in made.held_runs())

    assert call.arguments is None


def test_a_run_that_goes_on_is_released_with_what_was_said(kept: Kept) -> None:
    """It is held until the last call is told of; then whoever drives it takes it, once."""
    with host(kept, unsure()) as made:
        run = fenced(kept, made, "a", "b")
        store, session = made._state.store, made.session()
        (held,) = made.held_runs()
        first, second = held.open
        assert not session.settle(run.id, [first], "done", actor=ADA)
        with pytest.raises(RunError) as early:
            store.release(run.id)
        assert session.settle(run.id, [second], "not_done", actor=ADA)
        assert kept.rows(RUN) == [("held", "fenced")]
        told = store.release(run.id)

    assert (held.goes_on, early.value.code) == (True, "conflict")
    assert [(each.position, each.verdict) for each in told] == [(0, "done"), (1, "not_done")]
    assert kept.rows(RUN) == [("running", None)]


def test_a_call_that_was_tried_again_is_told_of_once(kept: Kept) -> None:
    """Two rows of one place in the run are one call to a person, and his word is for both."""
    with host(kept, unsure()) as made:
        run = fenced(kept, made, "a")
        kept.rows(
            "INSERT INTO run_step SELECT run_id, seq + 100, at, number + 100, kind, round,"
            " position, duration_s, actor, tool, distribution, version, 'interrupted', effect,"
            " facts, content FROM run_step WHERE tool = 'write' AND kind = 'tool'"
        )
        (held,) = made.held_runs()
        (call,) = held.open
        assert made.session().settle(run.id, [call], "done", actor=ADA)
        told = made._state.store.release(run.id)

    assert call.status == "interrupted"
    assert [(each.round, each.position, each.verdict) for each in told] == [(1, 0, "done")]


def test_nothing_is_said_twice_nor_of_what_is_not_held(kept: Kept) -> None:
    """All or none: what was said before stays, and nothing else of the same word is stored."""
    with host(kept, unsure()) as made:
        run = fenced(kept, made, "a", "b")
        session = made.session()
        ((first, second),) = (each.open for each in made.held_runs())
        session.settle(run.id, [first], "done", actor=ADA)
        codes: list[str] = []
        for run_id, calls in ((run.id, [second, first]), ("nobody", [second])):
            with pytest.raises(RunError) as refused:
                session.settle(run_id, calls, "not_done", actor=ADA)
            codes.append(refused.value.code)
        ((left,),) = (each.open for each in made.held_runs())

    assert (codes, left.position) == (["conflict", "not_found"], 1)


def test_a_run_without_an_open_call_ends_when_people_have_seen_it(kept: Kept) -> None:
    """Its outcome came late, so there is nothing to say but that somebody has looked."""
    with host(kept) as made:
        run = made.session(actor=ADA).run(ScriptedProvider(["done"]), "q")
        kept.rows("UPDATE run SET status = 'held', reason = NULL WHERE kind = 'run'")
        (held,) = made.held_runs()
        assert (held.calls, held.goes_on) == ((), False)
        assert made.session().settle(run.id, (), "done", actor=ADA)

    assert kept.rows(RUN) == [("failed", "settled")]


@pytest.mark.parametrize("is_seen", [False, True])
def test_the_owner_says_nothing_where_the_operator_wants_four_eyes(
    kept: Kept, is_seen: bool
) -> None:
    """Whose run it is the store knows, also of one without an open call; a stranger ends none."""
    run_id = interrupted(kept)
    if is_seen:
        with host(kept, writer([])):
            kept.rows("UPDATE run_step SET status = 'ok', effect = 'done'")
    settings = kept.settings() | {"approval": {"four_eyes": True}}
    with Host(tools=[writer([])], plugins=[audit], settings=settings) as made:
        (held,) = made.held_runs()
        with pytest.raises(RunError) as refused:
            made.session().settle(run_id, held.open, "done", actor=ADA)
        somebody = Actor("root", {"admin"}) if is_seen else Actor("bob")
        settled = made.session().settle(run_id, held.open, "done", actor=somebody)

    assert len(held.calls) == (0 if is_seen else 1)
    assert str(refused.value) == "Somebody else has to approve (four_eyes)."
    assert settled


@pytest.mark.parametrize("sealed", ["NULL", "moved"])
def test_a_word_of_a_durable_run_that_nobody_sealed_is_not_said(kept: Kept, sealed: str) -> None:
    """Written into the table, or put there from another call, it releases nothing."""
    with host(kept, unsure()) as made:
        run = fenced(kept, made, "a", "b")
        kept.rows("UPDATE run SET writer = ''")
        store = made._state.store
        assert not store.settle(run.id, [Told(1, 0, "not_done", "ada")])
        forged = "NULL" if sealed == "NULL" else "(SELECT sealed FROM run_decision WHERE wait = 0)"
        kept.rows(
            f"INSERT INTO run_decision SELECT run_id, 0, number, 0, 'not_done', 'ada', {forged}"
            " FROM run_step WHERE tool = 'write' AND kind = 'tool' AND position = 1"
        )
        said = [call.told for call in store.held_run(run.id).calls]
        with pytest.raises(RunError) as refused:
            store.release(run.id)
        assert store.settle(run.id, [Told(1, 1, "done", "bob")])
        released = store.release(run.id)

    assert said == [Told(1, 0, "not_done", "ada"), None]
    assert refused.value.code == "conflict"
    assert released == (Told(1, 0, "not_done", "ada"), Told(1, 1, "done", "bob"))


def test_a_word_of_a_durable_run_that_was_turned_is_not_said(kept: Kept) -> None:
    """Who changes what a person said, or who it was, has nobody having said it."""
    with host(kept, unsure()) as made:
        run = fenced(kept, made, "a")
        kept.rows("UPDATE run SET writer = ''")
        store = made._state.store
        assert store.settle(run.id, [Told(1, 0, "done", "ada")])
        said: list[object] = []
        for word in ("verdict = 'not_done'", "verdict = 'done', decided_by = 'bob'"):
            kept.rows(f"UPDATE run_decision SET {word} WHERE wait = 0")
            said += [call.told for call in store.held_run(run.id).calls]

    assert said == [None, None]
