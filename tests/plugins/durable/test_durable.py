"""Durable runs: started here, driven by a worker there, and none is lost with its process."""

from __future__ import annotations

import psycopg
import pytest

from support.durable import ENDED, approve, durable, executions, wait, wait_for, workers, working
from support.tools import ADA
from toolseam.runs import RunError

QUESTION = "read a, read b;write c;read d"


def test_a_run_goes_from_the_queue_to_its_end(url: str) -> None:
    """A worker drives it: reads, then a write once people approve it, under the run's one id."""
    with durable(url) as found, workers(url):
        run_id = found.start("told", QUESTION, actor=ADA)
        assert found.status(run_id).status == "queued"

        waits = wait(found, run_id, "waiting_for_approval", *ENDED)
        pending = found.host.session().waiting(run_id)
        (listed,) = found.host.waiting_runs()
        approve(found, run_id)
        ended = wait(found, run_id, *ENDED)

    assert (waits.status, listed.id) == ("waiting_for_approval", run_id)
    assert [each.tool for each in pending] == ["write"]
    assert (ended.status, ended.answer) == ("completed", "It is done.")
    assert [executions(key) for key in "abcd"] == [1, 1, 1, 1]


def test_a_worker_stops_when_it_is_told_to_and_runs_outlive_an_outage(url: str) -> None:
    """All connections break in the middle of a run: it stands still, and goes on. Then it ends."""
    with durable(url) as found:
        with working(found):
            run_id = found.start("told", "read a 0.5;write b;read c", actor=ADA)
            wait_for("a")
            with psycopg.connect(url) as connection:
                connection.execute(
                    b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    b" WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            assert wait(found, run_id, "waiting_for_approval", *ENDED).status not in ENDED
        approve(found, run_id)
        with working(found):
            ended = wait(found, run_id, *ENDED)

    assert (ended.status, ended.reason) == ("completed", "completed")
    assert [executions(key) for key in "abc"] == [1, 1, 1]


def test_a_run_that_ends_its_workers_is_given_up(url: str) -> None:
    """A read that kills whoever makes it is made so often and no more; others go on beside it."""
    with durable(url) as found, workers(url, attempts=1, concurrency=1) as kept:
        deadly = found.start("told", "read a dying before", actor=ADA)
        other = found.start("told", "read b", actor=ADA)
        ended = [wait(found, run_id, *ENDED) for run_id in (deadly, other)]
        deaths = kept.deaths

    assert [(run.status, run.reason) for run in ended] == [
        ("failed", "given_up"),
        ("completed", "completed"),
    ]
    assert deaths == 2


def test_a_run_is_cancelled_before_its_next_step(url: str) -> None:
    """The call that is on its way ends, nothing follows, and it stays as it ended."""
    with durable(url) as found, workers(url):
        run_id = found.start("told", "read a 1;read b", actor=ADA)
        wait_for("a")
        found.cancel(run_id)
        later = found.start("told", "read c 2", actor=ADA)
        wait(found, later, *ENDED)

        assert found.status(run_id).status == "cancelled"
        assert executions("b") == 0


def test_a_run_whose_provider_nobody_gives_has_failed(url: str) -> None:
    """A worker that cannot ask it says so, and drives the next run."""
    with durable(url) as found, workers(url):
        runs = [found.start(name, "read a", actor=ADA) for name in ("nobody:here", "told")]
        ended = [wait(found, run_id, *ENDED) for run_id in runs]

    assert [run.reason for run in ended] == ["provider_failed", "completed"]


def test_a_run_takes_no_option_that_is_none(url: str) -> None:
    """It is refused where it is asked, not in a worker that nobody looks at."""
    with durable(url) as found, pytest.raises(TypeError, match="rounds"):
        found.start("told", "read a", rounds=3)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


def test_a_run_that_nobody_knows_is_not_found(url: str) -> None:
    """Its status, its end and its going on are refused alike."""
    with durable(url) as found:
        for ask in (found.status, found.resume, found.cancel):
            with pytest.raises(RunError) as refused:
                ask("absent")
            assert refused.value.code == "not_found"
