"""What is erased of durable runs once they have ended, and when the rest of them goes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from toolseam_plugins.audit._retention import CHUNK, DAY_S

if TYPE_CHECKING:
    from dbos import DBOSClient

    from toolseam_plugins.durable._records import Records

# Who drives a run that was cancelled may only hear of it after his step, and who is about to take
# it from the queue would begin it afresh.
_OVER = """
SELECT id, part, changed FROM run WHERE status IN ('completed', 'failed', 'cancelled')
AND asked <> '' AND (changed, id) > (%s, %s) AND changed < %s - CASE
WHEN status <> 'cancelled' THEN %s WHEN driver = '' THEN 3 ELSE 60 END
ORDER BY changed, id LIMIT %s
"""
_LIMIT = 200
_ERASED = "UPDATE run SET asked = '' WHERE id = ANY(%s)"
# Never before the engine has forgotten it: it would be a fresh run, should the engine repeat it.
_OLD = """
DELETE FROM run WHERE id IN (SELECT id FROM run
WHERE status IN ('completed', 'failed', 'cancelled') AND asked = '' AND changed < %s LIMIT %s)
"""
_GOES_ON = frozenset({"PENDING", "ENQUEUED", "DELAYED"})
STILL_S = 3.0
"""How long a run has to stand still, in seconds, before a worker asks what became of it."""


def workflow_id(run_id: str, part: int) -> str:
    """Return the engine's name for one part of a run; the first one's is the run's own id."""
    return run_id if part == 0 else f"{run_id}.{part}"


def erase(records: Records, engine: DBOSClient, still_s: float) -> int:
    """Have the engine forget what it recorded of runs that have ended; return how many.

    What is left of such a run is its place, its times, how it ended, and its sealed answer.

    Args:
        records: the tables of durable runs.
        engine: what the engine's tables are asked with.
        still_s: how long ago they have ended at least; those that were cancelled, up to a minute.
    """
    last: tuple[float, str] = float("-inf"), ""
    while found := records.rows(_OVER, *last, time.time(), still_s, _LIMIT):
        erased = _erase(records, engine, {run_id: part for run_id, part, _ in found})
        if erased:
            return erased
        # The engine goes on with all of these, but not with those behind them.
        last = found[-1][2], found[-1][0]
    return 0


def _erase(records: Records, engine: DBOSClient, over: dict[str, int]) -> int:
    # Who goes on with a run may be lost before its row says so, hence one part more.
    names = {
        workflow_id(run_id, number): run_id
        for run_id, part in over.items()
        for number in range(part + 2)
    }
    found = engine.list_workflows(workflow_ids=list(names), load_input=False, load_output=False)
    for each in found:
        if each.status in _GOES_ON:
            over.pop(names[each.workflow_id], None)
    engine.delete_workflows([each.workflow_id for each in found if names[each.workflow_id] in over])
    if not over:
        return 0
    return records.change(_ERASED, list(over))


def purge(records: Records, days: float) -> int:
    """Delete runs that ended longer ago, in chunks; return how many."""
    before, purged = time.time() - days * DAY_S, 0
    while True:
        count = records.change(_OLD, before, CHUNK)
        purged += count
        if count < CHUNK:
            return purged
