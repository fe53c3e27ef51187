"""Faults that are not the run's: it goes on from what is known, and no write is made twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from dbos import DBOS

from support.durable import (
    ENDED,
    WAIT_S,
    approve,
    durable,
    executions,
    note,
    wait,
    wait_for,
    workers,
    working,
)
from support.tools import ADA
from toolseam import hookimpl
from toolseam._run_store import MemoryStore
from toolseam.runs import Decision, RunError
from toolseam_plugins.durable import _worker
from toolseam_plugins.durable._durable import engine_client
from toolseam_plugins.durable._journal import DRIVING
from toolseam_plugins.durable._records import DurableError
from toolseam_plugins.durable._worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.postgres import Postgres
    from toolseam.runs import RunStep
    from toolseam_plugins.durable import Durable


def test_a_worker_that_stops_leaves_its_runs_to_others(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that outlasts it is no end of the run: the next worker makes it again."""
    monkeypatch.setattr(_worker, "_DRAIN_S", 1)
    with durable(url) as found:
        with working(found):
            run_id = found.start("told", "read a 3;read b", actor=ADA)
            wait_for("a")
        left = found.status(run_id)
        with working(found):
            ended = wait(found, run_id, *ENDED)

    assert (left.status, left.reason) == ("running", None)
    assert (ended.status, executions("a"), executions("b")) == ("completed", 2, 1)


class Breaking(MemoryStore):
    """A store that stops the worker in a run's second round, and breaks there, as threads do."""

    def __init__(self) -> None:
        super().__init__()
        self.until = threading.Event()

    def note(self, step: RunStep) -> None:
        """Stop it, and break."""
        if step.round == 2 and not self.until.is_set():
            self.until.set()
            journal = DRIVING.get()
            until = time.monotonic() + WAIT_S
            while journal and not journal.stopping() and time.monotonic() < until:
                time.sleep(0.05)
            raise RuntimeError

    @hookimpl
    def toolseam_run_store(self, host: Any) -> MemoryStore:
        """Return it."""
        return self


def test_what_breaks_while_a_worker_stops_is_no_end_of_its_runs(url: str) -> None:
    """Nobody is told of one, and the next worker goes on."""
    store = Breaking()
    with durable(url, store) as found:
        told: list[str] = []
        found.host.listen_to_runs(lambda each: told.append(getattr(each, "status", "")))
        run_id = found.start("told", "read a;read b", actor=ADA)
        found.work(until=store.until)
        left = found.status(run_id)
        with working(found):
            ended = wait(found, run_id, *ENDED)

    assert (left.status, left.reason) == ("running", None)
    assert (ended.status, executions("a"), executions("b")) == ("completed", 1, 1)
    assert "failed" not in told


def _read_only(url: str, how: str) -> None:
    """Have the server refuse to write, or write again, as in a failover; no connection outlives."""
    database = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(b"SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {database} {how}".encode())
        connection.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            b" WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_write_whose_outcome_cannot_be_recorded_is_held(url: str) -> None:
    """The server refused to write when it was done; what a tool raised is recorded as ever."""
    with durable(url) as found, workers(url):
        odd = found.start("told", "read o raising;read p", actor=ADA)
        run_id = found.start("told", "write a 2;read b", actor=ADA)
        wait(found, run_id, "waiting_for_approval", *ENDED)
        raised = wait(found, odd, *ENDED)
        approve(found, run_id)
        wait_for("a")
        _read_only(url, "SET default_transaction_read_only = on")
        time.sleep(3)
        _read_only(url, "RESET default_transaction_read_only")
        ended = wait(found, run_id, *ENDED)

    assert (raised.status, raised.reason) == ("cancelled", "cancelled")
    assert (ended.status, ended.reason) == ("held", None)
    assert [executions(key) for key in "opab"] == [1, 0, 1, 0]


def _holders(url: str) -> set[int]:
    """Return the server processes of the workers' locks."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            b"SELECT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            b" WHERE locktype = 'advisory' AND granted AND datname = current_database()"
        )
        return {row[0] for row in found}


def test_what_somebody_left_half_said_is_seen_to(url: str) -> None:
    """A run that only the engine cancelled, one that is decided and waits, a lock that broke."""
    with durable(url) as found:
        cancelled = found.start("told", "read c", actor=ADA)
        engine = engine_client(url)
        engine.cancel_workflow(cancelled)
        engine.destroy()
        decided = found.start("told", "write d", actor=ADA)
        with workers(url):
            wait(found, decided, "waiting_for_approval", *ENDED)
            session = found.host.session()
            (call,) = session.waiting(decided)
            assert session.decide(decided, [Decision.approve(call, actor=ADA)])
            before = _holders(url)
            with psycopg.connect(url) as connection:
                for pid in before:
                    connection.execute(b"SELECT pg_terminate_backend(%s)", (pid,))
            until = time.monotonic() + WAIT_S
            while not _holders(url) - before and time.monotonic() < until:
                time.sleep(0.1)
            after = _holders(url) - before
            ended = [wait(found, run_id, *ENDED).status for run_id in (cancelled, decided)]

    assert before
    assert after
    assert ended == ["cancelled", "completed"]
    assert [executions(key) for key in "cd"] == [0, 1]


PID = "SELECT pg_backend_pid()"


def _be_the_child(found: Durable, run_id: str, mine: object, life: int) -> None:
    """Cancel a run in the child of a fork, and end well if nothing of it is the parent's."""
    signal.alarm(30)
    ended = 1
    try:
        with suppress(OSError):
            os.fstat(life)
            return
        others = found.records.rows(PID)
        found.cancel(run_id)
        ended = int(others == mine or found.status(run_id).status != "cancelled")
    finally:
        os._exit(ended)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_the_child_of_a_fork_has_connections_of_its_own(url: str) -> None:
    """It waits for nobody who asked in the parent then, and both get their own answers."""
    with durable(url) as found:
        run_id = found.start("told", "read a", actor=ADA)
        mine = found.records.rows(PID)
        worker = Worker(found)
        worker._life = life = worker._alive()
        asks, go = threading.Event(), threading.Event()

        def ask(_: object) -> bool:
            asks.set()
            return go.wait(WAIT_S)

        asking = threading.Thread(target=found.records.ask, args=(ask,))
        asking.start()
        assert asks.wait(WAIT_S)
        child = os.fork()
        if not child:
            _be_the_child(found, run_id, mine, life.fileno())
        go.set()
        asking.join(WAIT_S)
        ended = os.waitpid(child, 0)[1]
        after = found.records.rows(PID), found.status(run_id).status
        life.close()
        found.cancel(found.start("told", "read b", actor=ADA))

    assert ended == 0
    assert after == (mine, "cancelled")


def test_nobody_waits_for_a_database_that_is_away(
    url: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks is told so, a worker stops when it is told to, and its runs go on afterwards."""
    monkeypatch.setattr(_worker, "_DRAIN_S", 1)
    name = url.rpartition("/")[2]
    connects = f"ALTER DATABASE {name} ALLOW_CONNECTIONS"
    with durable(url) as found:
        with working(found):
            run_id = found.start("told", "read a until away;read b", actor=ADA)
            wait_for("a")
            postgres.execute(f"{connects} false")
            postgres.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            )
            asked: list[Callable[[], object]] = [
                lambda: found.start("told", "read c", actor=ADA),
                lambda: found.status(run_id),
                lambda: found.resume(run_id),
                lambda: found.cancel(run_id),
                lambda: found.records.change("SELECT 1"),
                found.purge,
            ]
            for ask in asked:
                with pytest.raises(DurableError, match=r"\(\w+\)$"):
                    ask()
            note("away")
        left = [each for each in threading.enumerate() if each.name.startswith("dbos-executor")]
        for each in left:
            each.join(WAIT_S)
        postgres.execute(f"{connects} true")
        with working(found):
            ended = wait(found, run_id, *ENDED)

    assert not any(each.is_alive() for each in left)
    assert (ended.status, executions("b"), executions("c")) == ("completed", 1, 0)


def test_a_worker_that_cannot_begin_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its life line ends, and the next one works; who has closed his runs asks nothing more."""

    def fail() -> None:
        raise RuntimeError

    with durable(url) as found:
        run_id = found.start("told", "read a", actor=ADA)
        with monkeypatch.context() as patched:
            patched.setattr(DBOS, "launch", fail)
            with pytest.raises(RuntimeError):
                found.work()
        holders = _holders(url)
        with working(found):
            ended = wait(found, run_id, *ENDED)
        found.close()
        with pytest.raises(DurableError, match="closed"):
            found.start("told", "read b", actor=ADA)

    assert holders == set()
    assert ended.status == "completed"


def test_a_run_that_only_the_queue_knows_is_driven(url: str) -> None:
    """The tables of ours could not be written at its start: who takes it up makes its row."""
    rename = "ALTER TABLE toolseam_durable.{} RENAME TO {}"
    with durable(url) as found:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(rename.format("run", "away").encode())
            run_id = found.start("told", "read a", actor=ADA)
            connection.execute(rename.format("away", "run").encode())
        with pytest.raises(RunError, match="no durable run"):
            found.status(run_id)
        with working(found):
            until = time.monotonic() + WAIT_S
            while not found.records.rows("SELECT 1 FROM run") and time.monotonic() < until:
                time.sleep(0.05)
            ended = wait(found, run_id, *ENDED)

    assert (ended.status, executions("a")) == ("completed", 1)
