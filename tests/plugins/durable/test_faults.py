"""Faults that are not the run's: it goes on from what is known, and no write is made twice."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg

from support.durable import (
    ENDED,
    WAIT_S,
    approve,
    durable,
    executions,
    wait,
    wait_for,
    workers,
    working,
)
from support.tools import ADA
from toolseam import hookimpl
from toolseam._run_store import MemoryStore
from toolseam.runs import Decision
from toolseam_plugins.durable import _worker
from toolseam_plugins.durable._durable import engine_client

if TYPE_CHECKING:
    import pytest

    from toolseam.runs import RunStep


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
            time.sleep(1.5)
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
