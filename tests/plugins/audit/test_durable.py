"""Runs that others drive: what a store is told of how they stand, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from support.audit import Kept, echo, host, waiting, writer
from support.tools import ADA
from toolseam import DataClass
from toolseam.providers import Usage
from toolseam.runs import Run, RunError, RunStatus
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import _rows, look

STANDS = "SELECT status, reason, rounds, input_tokens FROM run WHERE kind = 'run' ORDER BY began"


def end(run_id: str, status: RunStatus, tokens: int) -> Run:
    """Return a run as it is when its loop has ended it."""
    said: Any = (), (), (), Usage(tokens, 1), 2, DataClass.PUBLIC_CONTENT
    return Run(run_id, status, None, "", False, *said)


def test_a_durable_run_waits_elsewhere(kept: Kept) -> None:
    """It is shown as waiting, and neither listed nor looked at here; then it runs again."""
    with host(kept, writer([])) as made:
        store = made._state.store
        own = waiting(made).id
        store.begin("d", {"actor": "ada", "durable": True})
        store.stands("d", RunStatus.WAITING_FOR_APPROVAL)
        assert store.waiting_runs() == (own,)
        with pytest.raises(RunError) as refused:
            store.look("d")
        waits = kept.rows("SELECT status FROM run WHERE id = 'd'")
        store.stands("d", RunStatus.RUNNING)

        assert refused.value.code == "not_found"
        assert waits == [("waiting_for_approval",)]
        assert kept.rows("SELECT status, owner FROM run WHERE id = 'd'") == [("running", "ada")]


def test_what_a_run_became_leaves_what_is_known_of_it(kept: Kept) -> None:
    """Its end is told in short first, in full once, and by no other word after that."""
    with host(kept) as made:
        store = made._state.store
        store.begin("d", {"durable": True})
        store.stands("d", RunStatus.FAILED, "altered")
        short = kept.rows(STANDS)
        store.end(end("d", RunStatus.CANCELLED, 7))
        store.end(end("d", RunStatus.FAILED, 5))
        store.end(end("d", RunStatus.FAILED, 6))
        store.stands("d", RunStatus.CANCELLED, "cancelled")
        store.stands("unheard", RunStatus.FAILED, "given_up")

    assert short == [("failed", "altered", None, None)]
    assert kept.rows(STANDS) == [
        ("failed", "altered", 2, 5),
        ("failed", "given_up", None, None),
    ]


def test_a_durable_run_waits_longer_than_runs_are_kept(kept: Kept) -> None:
    """Its row stays until it has ended; one that was deleted all the same comes back."""
    with host(kept) as made:
        store = made._state.store
        for run_id, status in (("w", RunStatus.WAITING_FOR_APPROVAL), ("h", RunStatus.HELD)):
            store.begin(run_id, {"durable": True})
            store.stands(run_id, status)
        kept.rows("UPDATE run SET began = 0")
        with look(made.settings) as audit:
            assert audit.purge(30) == 0
        kept.rows("DELETE FROM run")
        store.stands("w", RunStatus.WAITING_FOR_APPROVAL)
        store.end(end("h", RunStatus.COMPLETED, 7))
        waits, ended = kept.rows("SELECT id, kind, status, input_tokens FROM run ORDER BY id DESC")
        store.stands("w", RunStatus.FAILED, "given_up")
        kept.rows("UPDATE run SET began = 0, ended = 1")
        with look(made.settings) as audit:
            assert audit.purge(30) == 2

    assert waits == ("w", "run", "waiting_for_approval", None)
    assert ended == ("h", "run", "completed", 7)


def test_a_run_of_this_host_is_ended_by_its_loop_alone(kept: Kept) -> None:
    """One that waits here, or has ended, is no durable run, whatever is said of it."""
    with host(kept, echo(), writer([])) as made:
        ended = made.session(actor=ADA).run(ScriptedProvider(["done"]), "q").id
        waits = waiting(made).id
        before = kept.rows(STANDS)
        for run_id in (ended, waits):
            made._state.store.stands(run_id, RunStatus.CANCELLED, "cancelled")

        assert kept.rows(STANDS) == before
        assert made._state.store.waiting_runs() == (waits,)


def test_reasons_of_runs_and_bodies_elsewhere_are_facts() -> None:
    """Why a call was not made again, or did not come back, is kept at every level."""
    elsewhere = {"fenced", "fence", "worker_died", "cpu_limit", "sandbox", "executor", "closed"}

    assert elsewhere <= _rows._REASONS
