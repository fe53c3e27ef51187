"""A worker that is cut off and lives on: others take its runs, and it stops at its next step."""

from __future__ import annotations

import os
import signal
import time

import psycopg

from support.durable import ENDED, approve, durable, executions, wait, wait_for, workers
from support.tools import ADA


def cut_off(url: str) -> None:
    """End the connection by whose lock others learn that a worker lives."""
    with psycopg.connect(url) as connection:
        connection.execute(
            b"SELECT pg_terminate_backend(pid) FROM pg_locks l JOIN pg_database d"
            b" ON d.oid = l.database WHERE locktype = 'advisory' AND datname = current_database()"
        )


def test_a_worker_that_comes_back_changes_nothing(url: str) -> None:
    """What it read is read by another one, what it wrote is held, and its words come too late."""
    with durable(url) as found, workers(url) as first:
        wrote = found.start("told", "write w 2;read x", actor=ADA)
        wait(found, wrote, "waiting_for_approval", *ENDED)
        approve(found, wrote)
        read = found.start("told", "read r 2;read s", actor=ADA)
        wait_for("w")
        wait_for("r")
        (stopped,) = first.pids
        os.kill(stopped, signal.SIGSTOP)
        cut_off(url)
        with workers(url):
            before = [wait(found, run_id, *ENDED).status for run_id in (wrote, read)]
            os.kill(stopped, signal.SIGCONT)
            time.sleep(3)  # its own calls come to an end meanwhile
            after = [found.status(run_id).status for run_id in (wrote, read)]
            # It drives other runs as ever.
            later = [found.start("told", f"read y{number}", actor=ADA) for number in range(4)]
            ended = {wait(found, run_id, *ENDED).status for run_id in later}
        deaths = first.deaths

    assert before == after == ["held", "completed"]
    assert [executions(key) for key in ("w", "x", "r", "s")] == [1, 0, 2, 1]
    assert (ended, deaths) == ({"completed"}, 0)
