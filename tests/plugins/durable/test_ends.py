"""How durable runs end: an audit hears of each, and what was kept to go on with them is erased."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psycopg

from support.durable import (
    ENDED,
    WAIT_S,
    approve,
    durable,
    executions,
    host,
    note,
    wait,
    wait_for,
    workers,
    working,
)
from support.tools import ADA
from toolseam import DataClass
from toolseam.providers import Usage
from toolseam.runs import Run, RunStatus
from toolseam_plugins import audit
from toolseam_plugins.durable import _retention, _worker

if TYPE_CHECKING:
    import pytest

    from toolseam_plugins.durable import Durable

AUDITED = "SELECT status, reason, rounds FROM run WHERE id = %s"
STEPS = "SELECT count(*) FROM run_step WHERE run_id = %s"
OF_ENGINE = """
SELECT (SELECT count(*) FROM toolseam_dbos.workflow_status)
+ (SELECT count(*) FROM toolseam_dbos.operation_outputs)
+ (SELECT count(*) FROM toolseam_dbos.workflow_input)
"""
KEPT = "SELECT asked, state, held, fence FROM run WHERE id = %s"
REFUSED = """
UPDATE toolseam_dbos.workflow_status SET status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED'
WHERE workflow_uuid = %s
"""


def audited(url: str, statement: str, run_id: str) -> tuple[object, ...]:
    """Return the row that a statement finds in the audit."""
    with psycopg.connect(url, options="-c search_path=toolseam_audit") as connection:
        found = connection.execute(statement.encode(), (run_id,)).fetchone()
    return found or ()


def eventually(found: Durable, statement: str, *values: object) -> list[tuple[object, ...]]:
    """Return what a statement finds once its first value is 0 or empty, or after a long time."""
    until = time.monotonic() + WAIT_S
    while True:
        rows = found.records.rows(statement, *values)
        if not rows or not rows[0][0] or time.monotonic() > until:
            return rows
        time.sleep(0.05)


def test_the_audit_says_how_a_run_stands(url: str) -> None:
    """That it waits, goes on, was cancelled, given up or altered; its steps and usage stay."""
    settings = {"database": url}
    with durable(url, audit, audit=settings) as found:
        runs = {key: found.start("told", "read b", actor=ADA) for key in ("given up", "altered")}
        found.records.change(REFUSED, runs["given up"])
        found.records.change("UPDATE run SET fence = '' WHERE id = %s", runs["altered"])
        runs["waits"] = found.start("told", "write c", actor=ADA)
        runs["stopped"] = found.start("told", "read a until stopped;read b", actor=ADA)
        with working(found):
            wait(found, runs["waits"], "waiting_for_approval", *ENDED)
            waits, steps = (audited(url, each, runs["waits"]) for each in (AUDITED, STEPS))
            with host(audit, audit=settings) as plain:
                assert plain.waiting_runs() == ()
            wait_for("a")
            for key in ("waits", "stopped"):
                found.cancel(runs[key])
            note("stopped")
            for run_id in runs.values():
                wait(found, run_id, *ENDED)
            runs["goes on"] = found.start("told", "write d", actor=ADA)
            wait(found, runs["goes on"], "waiting_for_approval", *ENDED)
            approve(found, runs["goes on"])
            wait(found, runs["goes on"], *ENDED)
        ended = {key: audited(url, AUDITED, run_id) for key, run_id in runs.items()}

    assert waits == ("waiting_for_approval", None, None)
    assert ended == {
        "given up": ("failed", "given_up", None),
        "altered": ("failed", "altered", None),
        "waits": ("cancelled", "cancelled", None),
        "stopped": ("cancelled", "cancelled", 1),
        "goes on": ("completed", "completed", 2),
    }
    assert audited(url, STEPS, runs["waits"]) == steps != (0,)


def test_nothing_that_it_went_on_with_outlives_a_run(url: str) -> None:
    """State, decisions and the engine's steps go with its end, the rest when it is too old."""
    with durable(url) as found:
        run_id = found.start("told", "write a;read b", actor=ADA)
        with working(found):
            wait(found, run_id, "waiting_for_approval", *ENDED)
            approve(found, run_id)
            ended = wait(found, run_id, *ENDED)
            rows = found.records.rows(KEPT, run_id)
            decided = found.records.rows("SELECT * FROM decision")
            of_engine = eventually(found, OF_ENGINE)
            (asked,) = eventually(found, "SELECT asked FROM run")
            young = found.purge(), found.status(run_id)
            waits = found.start("told", "write c", actor=ADA)
            wait(found, waits, "waiting_for_approval", *ENDED)
        purged = found.purge(0)

        assert (ended.status, executions("a"), executions("b")) == ("completed", 1, 1)
        assert [row[1:] for row in rows] == [(None, None, b"")]
        assert (decided, of_engine, asked) == ([], [(0,)], ("",))
        assert young == (0, ended)
        assert purged == 1
        assert [each.id for each in found.host.waiting_runs()] == [waits]


def test_a_purge_leaves_out_only_what_somebody_may_still_have_in_hand(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has just ended is deleted, however much before it the engine goes on with."""
    monkeypatch.setattr(_retention, "_LIMIT", 1)
    with durable(url) as found:
        ended = "UPDATE run SET status = 'failed', driver = %s WHERE id = %s"
        goes_on, over, cancelled = (found.start("told", "read a", actor=ADA) for _ in range(3))
        for run_id in (over, cancelled):
            found.cancel(run_id)
        for run_id in (goes_on, over):
            found.records.change(ended, "somebody", run_id)
        found.records.change("UPDATE run SET driver = 'somebody' WHERE id = %s", cancelled)
        purged = found.purge(0)
        left = {each for (each,) in found.records.rows("SELECT id FROM run")}

    assert purged == 1
    assert left == {goes_on, cancelled}


def _held(run_id: str) -> Run:
    mark = DataClass.EDITOR_CONTENT
    return Run(run_id, RunStatus.HELD, None, "", False, (), (), (), Usage(), 1, mark)


def test_a_worker_forgets_what_it_held_and_another_ended(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arguments of a held call are in its memory no longer than the run is held."""
    monkeypatch.setattr(_worker, "_LOOK_S", 0.05)
    with durable(url) as found:
        runs = [found.start("told", "write a", actor=ADA) for _ in range(2)]
        kept = found.store.inner
        for run_id in runs:
            found.records.change("UPDATE run SET status = 'held' WHERE id = %s", run_id)
            kept.hold(_held(run_id))
        found.cancel(runs[0])
        kept.hold(_held(runs[0]))
        with working(found):
            until = time.monotonic() + WAIT_S
            while len(kept.held_runs()) > 1 and time.monotonic() < until:
                time.sleep(0.05)

        assert [each.id for each in kept.held_runs()] == [runs[1]]


def test_a_worker_deletes_what_is_older_than_it_is_kept(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that ended go after the days that the audit's settings name, all others stay."""
    monkeypatch.setattr(_worker, "_LOOK_S", 0.05)
    monkeypatch.setattr(_worker, "STILL_S", 0.0)
    with durable(url, audit={"retention_days": 2}) as found:
        old, young, waits = (found.start("told", "read a", actor=ADA) for _ in range(3))
        for run_id in (old, young):
            found.cancel(run_id)
        moved = "UPDATE run SET changed = changed - %s WHERE id = %s"
        for run_id, days in ((old, 3), (young, 1), (waits, 3)):
            found.records.change(moved, days * 86_400, run_id)
        found.records.change("UPDATE run SET status = 'held' WHERE id = %s", waits)
        with working(found):
            eventually(found, "SELECT 1 FROM run WHERE id = %s", old)
        left = {each for (each,) in found.records.rows("SELECT id FROM run")}

    assert left == {young, waits}


def test_a_write_is_not_made_again_where_its_intent_was_taken_away(url: str) -> None:
    """Another run's fence in its place, or no row at all: the run has failed, as altered."""
    with durable(url) as found:
        runs = [found.start("told", f"write {key} 600", actor=ADA) for key in "abc"]
        with workers(url, 2, concurrency=1):  # one write of a tool at a time in each
            for run_id in runs:
                wait(found, run_id, "waiting_for_approval", *ENDED)
            for run_id in runs[:2]:
                approve(found, run_id)
            for key in "ab":
                wait_for(key)
        change = found.records.change
        other = "UPDATE run SET fence = o.fence FROM run o WHERE run.id = %s AND o.id = %s"
        assert change(other, runs[0], runs[2]) == 1
        assert change("DELETE FROM run WHERE id = %s", runs[1]) == 1
        with working(found):
            for run_id in runs[:2]:
                until = time.monotonic() + WAIT_S
                while not found.records.rows("SELECT 1 FROM run WHERE id = %s", run_id):
                    assert time.monotonic() < until
                    time.sleep(0.1)
            ended = [wait(found, run_id, *ENDED) for run_id in runs[:2]]

    assert [(run.status, run.reason) for run in ended] == [("failed", "altered")] * 2
    assert [executions(key) for key in "ab"] == [1, 1]
