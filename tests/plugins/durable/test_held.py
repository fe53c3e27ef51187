"""Runs that are held since their write was on its way: a person says what it did, and they go on.

With an audit beside them, which tells of each step once.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
import psycopg
import pytest
from dbos import error as dbos_error

from support.durable import (
    ENDED,
    WAIT_S,
    approve,
    durable,
    executions,
    host,
    wait,
    wait_for,
    workers,
)
from support.tools import ADA
from toolseam import Actor
from toolseam.runs import RunError
from toolseam_plugins import audit
from toolseam_plugins.durable._durable import QUEUE, VERSION, engine_client

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_plugins.durable import Durable

FORGED = """
INSERT INTO run_decision (run_id, wait, position, at, verdict, decided_by)
SELECT run_id, 0, number, 0, 'not_done', 'ada' FROM run_step
WHERE kind = 'tool' AND effect = 'unknown' RETURNING 1
"""
SERVICE = Actor("robot", {"admin"}, service=True)


def rows(url: str, statement: str) -> list[tuple[object, ...]]:
    """Return what a statement finds in the audit."""
    with psycopg.connect(url, options="-c search_path=toolseam_audit") as connection:
        return connection.execute(statement.encode()).fetchall()


def held(found: Durable, key: str) -> str:
    """Return a run whose worker died in its write."""
    question = f"read r{key};write {key} dying;read s{key}"
    run_id = found.start("told", question, actor=ADA)
    assert wait(found, run_id, "waiting_for_approval", *ENDED).status == "waiting_for_approval"
    approve(found, run_id)
    assert wait(found, run_id, *ENDED).status == "held"
    return run_id


def as_soon_as(do: Callable[[], object], error: type[Exception]) -> None:
    """Do what is refused until the engine has heard that a run stands still."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            do()
        except error:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def rewind(url: str, workflow: str) -> None:
    """Have the engine repeat a write, as who dies before the run's row says that it goes on."""
    engine = engine_client(url)
    (number,) = (
        step["function_id"]
        for step in engine.list_workflow_steps(workflow)
        if step["function_name"] == "2.0"
    )
    how: dict[str, Any] = {
        "start_step": number,
        "application_version": VERSION,
        "queue_name": QUEUE,
    }
    as_soon_as(lambda: engine.rewind_workflow(workflow, **how), dbos_error.DBOSException)
    engine.destroy()


def test_a_held_run_goes_on_with_what_a_person_says(url: str) -> None:
    """Whether it was done or not, the write is not made again, and the rest of the run is."""
    with (
        durable(url, audit, audit={"database": url}) as found,
        workers(url, audited=url, concurrency=1) as kept,
    ):
        done, undone = held(found, "a"), held(found, "b")
        listed = {run.id: run for run in found.host.held_runs()}
        session = found.host.session()
        # A word that somebody has only written into the audit's table releases nothing.
        assert rows(url, FORGED) == [(1,), (1,)]
        for run_id in (done, undone):
            with pytest.raises(RunError, match="told of"):
                found.resume(run_id)
        with pytest.raises(RunError):
            session.settle(done, listed[done].calls, "done", actor=SERVICE)
        assert session.settle(done, listed[done].calls, "done", actor=ADA)
        # Where only the audit is open, as on a terminal.
        with host(audit, audit={"database": url}) as plain:
            (elsewhere,) = (run for run in plain.held_runs() if run.id == undone)
            plain.session().settle(undone, elsewhere.calls, "not_done", actor=ADA)
        with pytest.raises(RunError):
            session.settle(done, listed[done].calls, "not_done", actor=ADA)
        rewind(url, f"{undone}.1")
        for run_id in (done, undone):
            as_soon_as(partial(found.resume, run_id), RunError)
            with pytest.raises(RunError):
                found.resume(run_id)
        ended = [wait(found, run_id, "completed", "failed") for run_id in (done, undone)]
        deaths = kept.deaths

    assert listed.keys() == {done, undone}
    assert [call.arguments for call in listed[done].calls] == [{"text": "a dying"}]
    assert [run.status for run in ended] == ["completed", "completed"]
    assert [executions(key) for key in ("a", "ra", "sa", "b", "sb")] == [1, 1, 1, 1, 1]
    assert deaths == 2
    the_audit_has_each_step_once(url, done)


def the_audit_has_each_step_once(url: str, run_id: str) -> None:
    """The run's rows have no number twice, the write's one is the person's to explain."""
    steps = f"FROM run_step WHERE run_id = '{run_id}'"
    ((count, distinct),) = rows(url, f"SELECT count(*), count(DISTINCT number) {steps}")
    tools = rows(url, f"SELECT tool, status, effect {steps} AND kind = 'tool' ORDER BY number")
    ((facts,),) = rows(url, f"SELECT facts {steps} AND tool = 'write' AND kind = 'tool'")
    (stands,) = rows(url, f"SELECT status, reason, writer FROM run WHERE id = '{run_id}'")
    said = rows(url, f"SELECT verdict, decided_by FROM run_decision WHERE run_id = '{run_id}'")

    assert count == distinct
    assert tools == [
        ("read", "ok", "none"),
        ("write", "execution_error", "unknown"),
        ("read", "ok", "none"),
    ]
    assert orjson.loads(str(facts))["reason"] == "fenced"
    assert stands == ("completed", "completed", "")
    assert said == [("done", "ada")]


def test_a_host_that_starts_marks_no_durable_run(url: str) -> None:
    """Its worker is gone, and it is neither failed nor held: the next worker goes on with it."""
    with durable(url, audit, audit={"database": url}) as found:
        with workers(url, audited=url, concurrency=1):
            run_id = found.start("told", "read x 60", actor=ADA)
            wait_for("x")
        with durable(url, audit, audit={"database": url}):
            pass
        assert rows(url, "SELECT status, reason, writer FROM run") == [("running", None, "")]
        found.cancel(run_id)

        assert found.status(run_id).status == "cancelled"
