"""Runs that are not durable, on a host that has durable ones: no database of those is asked."""

from __future__ import annotations

import pytest

from support.durable import durable
from support.tools import ADA, approved
from toolseam.runs import Decision, RunError
from toolseam.testing import ScriptedProvider
from toolseam_plugins import audit


def test_plain_runs_go_on_while_the_database_is_away(url: str) -> None:
    """They read, write, wait and are decided as on any host; only lists of all are refused."""
    with durable(url, audit) as found:
        host, session = found.host, found.host.session(actor=ADA)
        found.records.close()
        found.records._url = "postgresql://127.0.0.1:1/away"
        provider = ScriptedProvider(
            [("read", {"text": "a"}), [("write", {"text": "b"})] * 2, "done"]
        )
        run = session.run(provider, "q")
        said = [Decision.approve(each, actor=ADA) for each in session.waiting(run.id)]
        assert session.decide(run.id, said)
        ended = session.resume(run.id, [], provider)
        approval = approved(host, "write", {"text": "c"})
        alone = host.call("write", {"text": "c"}, actor=ADA, approval=approval)
        with pytest.raises(RunError) as not_held:
            session.settle(run.id, [], "done", actor=ADA)
        refused: list[str] = []
        for listed in (host.waiting_runs, host.held_runs):
            with pytest.raises(RunError) as unavailable:
                listed()
            refused.append(unavailable.value.code)

    assert (ended.status, alone.success) == ("completed", True)
    assert not_held.value.code == "not_found"
    assert refused == ["unavailable", "unavailable"]
