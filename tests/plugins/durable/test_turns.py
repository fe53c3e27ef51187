"""What follows a lost write in its turn."""

from __future__ import annotations

from support.durable import ENDED, approve, durable, executions, wait, workers
from support.tools import ADA


def test_after_a_lost_write_nothing_of_its_turn_is_made_nor_asked_about(url: str) -> None:
    """People tell of the one that was lost; the other is made then, once."""
    with durable(url) as found, workers(url, concurrency=1):
        run_id = found.start("told", "write c dying,write d;read e", actor=ADA)
        assert wait(found, run_id, "waiting_for_approval", *ENDED).status == "waiting_for_approval"
        approve(found, run_id)
        assert wait(found, run_id, *ENDED).status == "held"
        (run,) = found.host.held_runs()
        before = executions("d")
        assert found.host.session().settle(run_id, run.open, "done", actor=ADA)
        found.resume(run_id)
        ended = wait(found, run_id, "completed", "failed")

    assert [(call.position, call.arguments) for call in run.calls] == [(0, {"text": "c dying"})]
    assert (ended.status, before) == ("completed", 0)
    assert [executions(key) for key in ("c", "d", "e")] == [1, 1, 1]
