"""What people say of durable runs: sealed for its place, kept once, and not to be moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import orjson
import pytest

from support.durable import durable
from support.tools import ADA
from toolseam import DataClass
from toolseam.providers import Usage
from toolseam.runs import KeptDecision, Run, RunError, RunStatus, Told
from toolseam_plugins.durable import DurableError
from toolseam_plugins.durable._fence import Begun, sealed_fence
from toolseam_plugins.durable._journal import DRIVING, EngineJournal, Lost
from toolseam_plugins.durable._places import place_of
from toolseam_plugins.durable._records import Records, rows
from toolseam_plugins.durable._store import DurableStore

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    import psycopg

    from toolseam_plugins.durable import Durable

T = TypeVar("T")
SAID = KeptDecision(0, "deny", "ada", b"canary of ada")


@pytest.fixture
def found(url: str) -> Generator[Durable]:
    """Durable runs that no worker drives."""
    with durable(url) as made:
        yield made


def suspended(found: Durable, run_id: str, part: int, store: DurableStore | None = None) -> None:
    """Have a run wait at the end of a part."""
    journal = EngineJournal(run_id, found.records, found.seal, lambda: False)
    assert journal.take(part)
    token = DRIVING.set(journal)
    try:
        (store or found.store).suspend(run_id, b"state")
    finally:
        DRIVING.reset(token)


def held(found: Durable, kept: bytes | None = None) -> str:
    """Return a run that is held since two of its writes were on their way."""
    run_id = found.start("told", "write a,write b", actor=ADA)
    call = {"round": 1, "tool": "write", "status": "execution_error", "actor": "ada"}
    calls = [{**call, "position": position, "arguments": None} for position in (0, 1)]
    text = found.seal.close(orjson.dumps(calls), place_of(run_id, "held"))
    fence = sealed_fence(found.seal, run_id, {f"1.{each}": Begun("lost") for each in range(3)})
    statement = "UPDATE run SET status = 'held', held = %s, fence = %s WHERE id = %s"
    found.records.change(statement, kept or text, fence, run_id)
    return run_id


class Breaking(Records):
    """Tables of which one answer is lost once all was done, as where a connection breaks.

    `lost` says which one from now on, 0 for none.
    """

    lost = 0

    def _do(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        made = super()._do(work)
        self.lost -= 1
        if self.lost == 0:
            raise DurableError("lost")
        return made


class Deciding(Records):
    """Tables whose next answer is lost once all was done, and somebody says something then."""

    said: Callable[[], object] | None = None

    def _do(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        made = super()._do(work)
        if self.said is None:
            return made
        say, self.said = self.said, None
        token = DRIVING.set(None)
        say()
        DRIVING.reset(token)
        raise DurableError("lost")


class Mixed(Records):
    """Tables of which one answer is none of theirs, as where a connection is torn."""

    torn = ""

    def _do(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        column, self.torn = self.torn, ""
        if not column:
            return super()._do(work)

        def other(connection: psycopg.Connection[Any]) -> T:
            with connection.transaction(force_rollback=True):
                connection.execute(f"UPDATE run SET {column} = 'x'".encode())
                return work(connection)

        return super()._do(other)


def test_a_decision_is_of_one_wait(found: Durable) -> None:
    """One of an earlier wait of the same run, put back, does not open at the next one."""
    run_id = found.start("told", "write a;write b", actor=ADA)
    suspended(found, run_id, 0)
    found.store.decide(run_id, [SAID])
    kept = found.records.rows("SELECT * FROM decision")
    assert found.store.decisions(run_id) == (SAID.text,)
    suspended(found, run_id, 1)
    found.records.change("INSERT INTO decision VALUES (%s, %s, %s)", *kept[0])

    assert len(kept) == 1
    with pytest.raises(RunError, match="altered"):
        found.store.decisions(run_id)


def test_what_was_kept_before_the_answer_was_lost_is_no_conflict(url: str, found: Durable) -> None:
    """Who says it finds his own words at the second try; anybody else finds a conflict."""
    waits, holds = found.start("told", "write a", actor=ADA), held(found)
    suspended(found, waits, 0)
    breaking = Breaking(url, lambda: True)
    store = DurableStore(found.store.inner, breaking, found.seal)
    for say, other in (
        (lambda: store.decide(waits, [SAID]), lambda: store.decide(waits, [SAID])),
        (
            lambda: store.settle(holds, [Told(1, 0, "done", "ada")]),
            lambda: store.settle(holds, [Told(1, 0, "done", "bob")]),
        ),
    ):
        breaking.lost = 1
        say()
        with pytest.raises(RunError) as refused:
            other()
        assert refused.value.code == "conflict"
    breaking.close()


def test_a_wait_that_is_stored_twice_keeps_what_was_said_in_between(
    url: str, found: Durable
) -> None:
    """Whose answer was lost has the run wait as it does; who was stopped meanwhile is lost."""
    waits, stopped = (found.start("told", "write a", actor=ADA) for _ in range(2))
    breaking = Deciding(url, lambda: True)
    store = DurableStore(found.store.inner, breaking, found.seal)
    breaking.said = lambda: found.store.decide(waits, [SAID])
    suspended(found, waits, 0, store)
    breaking.said = lambda: found.cancel(stopped)
    with pytest.raises(Lost):
        suspended(found, stopped, 0, store)
    breaking.close()

    assert found.store.decisions(waits) == (SAID.text,)
    assert found.status(stopped).status == "cancelled"


def test_a_verdict_that_is_kept_is_never_refused(
    found: Durable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said once more by the same person it is as before, and whatever follows is no matter."""
    run_id = held(found)
    told = [Told(1, 0, "done", "ada")], [Told(1, 1, "done", "ada")]
    open_yet = [found.store.settle(run_id, told[0]) for _ in range(2)]

    # Whoever hears of it goes on at once.
    def gone(*_: object) -> bool:
        found.records.change("UPDATE run SET status = 'queued' WHERE id = %s", run_id)
        return False

    monkeypatch.setattr(found.store.inner, "settle", gone)
    last = found.store.settle(run_id, told[1])

    assert (open_yet, last) == ([False, False], True)


def test_a_verdict_is_of_one_call_and_sealed(found: Durable) -> None:
    """One that was moved to another run ends that as altered; none is taken of what is not held."""
    first, second = held(found), held(found)
    found.store.settle(first, [Told(1, 0, "done", "canary")])
    with pytest.raises(RunError) as refused:
        found.store.settle(first, [Told(1, 2, "done", "canary")])
    ((fence,),) = found.records.rows("SELECT fence FROM run WHERE id = %s", first)
    found.records.change("UPDATE run SET fence = %s WHERE id = %s", fence, second)

    assert refused.value.code == "not_found"
    assert b"canary" not in fence
    assert [run.id for run in found.store.held_runs()] == [first]
    assert found.status(second).reason == "altered"


def test_what_does_not_open_is_looked_at_once_more(url: str, found: Durable) -> None:
    """An answer that was none of a run's ends no run."""
    waits, holds = found.start("told", "write a", actor=ADA), held(found)
    suspended(found, waits, 0)
    mixed = Mixed(url, lambda: True)
    store = DurableStore(found.store.inner, mixed, found.seal)
    mixed.torn = "state"
    assert store.look(waits) == b"state"
    for column in ("held", "fence"):
        mixed.torn = column
        assert [run.id for run in store.held_runs()] == [holds]
    mixed.close()


def test_one_held_run_that_cannot_be_read_leaves_the_others(found: Durable) -> None:
    """One without calls has none, one that was altered has failed, and the third is as it was."""
    empty, altered, sound = held(found), held(found, b"altered"), held(found)
    found.records.change("UPDATE run SET held = NULL WHERE id = %s", empty)
    listed = {run.id: len(run.calls) for run in found.store.held_runs()}

    assert listed == {empty: 0, sound: 2}
    assert found.status(altered).reason == "altered"


def test_a_run_that_was_cancelled_is_held_no_more(found: Durable) -> None:
    """The store that the host had hears of it too; other runs there are held as ever."""
    cancelled = held(found)
    for run_id in (cancelled, "plain"):
        nothing: Any = ((), (), (), Usage(), 1, DataClass.PUBLIC_CONTENT)
        found.store.inner.hold(Run(run_id, RunStatus.HELD, None, "", False, *nothing))
    before = [run.id for run in found.host.held_runs()]
    found.cancel(cancelled)

    assert before == [cancelled, "plain"]
    for listed in (found.host.held_runs, found.store.inner.held_runs):
        assert [run.id for run in listed()] == ["plain"]


def test_what_is_committed_is_there_after_a_crash(found: Durable) -> None:
    """Whatever the server is set to, which is to lose it here, and how it parts transactions."""
    shown = [
        found.records.rows(f"SHOW {name}")[0][0]
        for name in ("synchronous_commit", "default_transaction_isolation")
    ]

    assert shown == ["on", "read committed"]


def test_an_answer_that_was_altered_is_refused(found: Durable) -> None:
    """The run stands as it did, and nobody is shown what somebody put in place of its answer."""
    run_id = found.start("told", "read a", actor=ADA)
    found.records.change("UPDATE run SET status = 'completed', outcome = 'x' WHERE id = %s", run_id)
    with pytest.raises(RunError, match="altered") as refused:
        found.status(run_id)

    assert refused.value.code == "conflict"


def test_what_workers_look_for_all_the_time_is_found_by_an_index(found: Durable) -> None:
    """However many runs have ended: those on their way, those of people, those to be erased."""

    def plans(connection: psycopg.Connection[Any]) -> list[str]:
        connection.execute(b"SET LOCAL enable_seqscan = off")
        asked = (
            "status IN ('queued', 'running') AND changed < 1",
            "status = 'waiting_for_approval'",
            "status = 'held'",
            "status IN ('completed', 'failed', 'cancelled') AND asked <> '' AND changed < 1",
        )
        explained = [rows(connection, f"EXPLAIN SELECT id FROM run WHERE {each}") for each in asked]
        return [str(each) for each in explained]

    plan = found.records.ask(plans)

    names = ("run_on_its_way", "run_for_people", "run_for_people", "run_asked")
    for each, name in zip(plan, names, strict=True):
        assert name in each
