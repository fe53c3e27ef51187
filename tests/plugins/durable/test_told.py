"""Who hears of a durable run's end: nobody from one that lost it, and the audit what became so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from support.durable import ENDED, durable, wait, working
from support.tools import ADA
from toolseam.runs import RunChange, RunStatus, RunStep
from toolseam_plugins import audit
from toolseam_plugins.durable import _worker

if TYPE_CHECKING:
    import pytest

ROW = "SELECT status, reason FROM run WHERE id = %s"


def test_an_end_is_told_once_and_as_it_became(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was taken is ended by its taker alone; one that is stopped last is cancelled."""
    monkeypatch.setattr(_worker, "_LOOK_S", 0.05)
    told: list[tuple[str, str]] = []
    with durable(url, audit, audit={"database": url}) as found:
        taken, stopped = (found.start("told", "read x", actor=ADA) for _ in range(2))
        free = [taken]

        def listen(heard: RunStep | RunChange) -> None:
            if isinstance(heard, RunChange):
                told.append((heard.run_id, heard.status.value))
                if told[-1] == (stopped, RunStatus.COMPLETED.value):
                    found.cancel(stopped)
            elif heard.kind == "llm" and not heard.facts["calls"] and heard.run_id in free:
                free.remove(heard.run_id)
                found.records.change("UPDATE run SET driver = 'another' WHERE id = %s", taken)

        found.host.listen_to_runs(listen)
        with working(found):
            ended = [wait(found, run_id, *ENDED).status for run_id in (taken, stopped)]
        with psycopg.connect(url, options="-c search_path=toolseam_audit") as connection:
            rows = [
                connection.execute(ROW.encode(), (each,)).fetchone() for each in (taken, stopped)
            ]

    assert ended == ["completed", "cancelled"]
    assert [status for run_id, status in told if run_id == taken] == [
        "running",
        "running",
        "completed",
    ]
    assert rows == [("completed", "completed"), ("cancelled", "cancelled")]
