"""Who drives a run is known by its attempt: another one writes nothing, and says nothing of it."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

import pytest

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
)
from support.tools import ADA
from toolseam._run_only import hold
from toolseam.runs import Intent
from toolseam_plugins.durable._journal import DRIVING, EngineJournal, Lost

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam_plugins.durable import Durable


@pytest.fixture
def found(url: str) -> Generator[Durable]:
    """Durable runs that no worker drives."""
    with durable(url) as made:
        yield made


def journal(found: Durable, run_id: str) -> EngineJournal:
    """Return what a worker would hold of a run."""
    return EngineJournal(run_id, found.records, found.seal, lambda: False)


def intent(found: Durable, run_id: str, position: int, who: EngineJournal | None) -> str:
    """Ask for a write as who drives the run, and return the reason of the refusal."""
    made = Intent(
        f"{run_id}:9", run_id, "write", None, "tests", "1", hold(b"{}"), (), 1, position, None
    )
    token = DRIVING.set(who)
    try:
        refused = found.store.intent(made)
    finally:
        DRIVING.reset(token)
    return "" if refused is None else str(refused.metadata["reason"])


def test_a_write_needs_who_drives_its_run(found: Durable) -> None:
    """One that nobody drives here, or that another attempt has taken, has no write."""
    run_id = found.start("told", "write a", actor=ADA)
    first, second = journal(found, run_id), journal(found, run_id)
    plain = intent(found, uuid.uuid4().hex, 0, None)
    unfenced = intent(found, run_id, 0, None)
    assert first.take(0)
    own = intent(found, run_id, 0, first)
    assert second.take(0)
    late = [intent(found, run_id, position, first) for position in (0, 1)]
    again, other = (intent(found, run_id, position, second) for position in (0, 1))

    assert (plain, unfenced, own) == ("", "fence", "")
    assert late == ["fenced", "fenced"]
    assert (again, other) == ("fenced", "")
    assert first.gone
    assert [second.fate(key) for key in ("1.0", "1.1")] == ["unknown", "none"]


def test_who_drives_a_run_no_more_changes_nothing(found: Durable) -> None:
    """It keeps no state and holds nothing, and a part that is over is not driven again."""
    run_id = found.start("told", "write a", actor=ADA)
    first, second = journal(found, run_id), journal(found, run_id)
    assert first.take(0)
    assert second.take(0)
    DRIVING.set(first)
    with pytest.raises(Lost):
        found.store.suspend(run_id, b"late")
    DRIVING.set(second)
    found.store.suspend(run_id, b"state")
    DRIVING.set(None)

    assert found.status(run_id).status == "waiting_for_approval"
    assert found.store.look(run_id) == b"state"
    assert not journal(found, run_id).take(0)
    assert journal(found, run_id).take(1)
    found.cancel(run_id)
    assert not journal(found, run_id).take(1)


STILL = "SELECT count(*) FROM toolseam_dbos.workflow_status WHERE status <> 'SUCCESS'"
GIVEN = """
UPDATE toolseam_dbos.workflow_status
SET status = 'PENDING', owner_xid = NULL, executor_id = '0123456789abcdef'
"""


def the_engine_is_still(found: Durable) -> None:
    """Wait until the engine has heard the end of everything, or a long time."""
    until = time.monotonic() + WAIT_S
    while found.records.rows(STILL) != [(0,)] and time.monotonic() < until:
        time.sleep(0.05)


def test_a_part_that_is_repeated_leaves_the_run_to_the_next(url: str) -> None:
    """As after a worker that died once people saw the run wait: its writes are fenced, and made."""
    with durable(url) as found, workers(url):
        run_id = found.start("told", "write a 1,write b;read c until seen", actor=ADA)
        wait(found, run_id, "waiting_for_approval", *ENDED)
        the_engine_is_still(found)
        found.records.change(GIVEN)
        approve(found, run_id)
        wait_for("c")
        fenced = journal(found, run_id).fence()
        note("seen")
        wait(found, run_id, *ENDED)
        the_engine_is_still(found)
        ended = found.status(run_id)

    assert (ended.status, ended.reason) == ("completed", "completed")
    assert [executions(key) for key in "abc"] == [1, 1, 1]
    assert sorted(fenced) == ["1.0", "1.1"]
