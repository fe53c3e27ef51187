"""Durable runs: started here, driven by a worker there, and none is lost with its process."""

import pytest

from support.durable import ENDED, approve, durable, executions, wait, workers
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


def test_a_run_that_nobody_knows_is_not_found(url: str) -> None:
    """Its status, its end and its going on are refused alike."""
    with durable(url) as found:
        for ask in (found.status, found.resume, found.cancel):
            with pytest.raises(RunError) as refused:
                ask("absent")
            assert refused.value.code == "not_found"
