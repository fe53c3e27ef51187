"""What is too old goes, in chunks; what runs, or is young, stays."""

from typing import Any

import pytest

from support.audit import Kept, echo, host, waiting, writer
from support.tools import ADA
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import _retention as retention
from toolseam_plugins.audit import look

DAY_S = 86_400


def age(kept: Kept, run_id: str, days: float) -> None:
    """Let everything of a run have happened so many days earlier."""
    gone = days * DAY_S
    kept.rows(
        f"UPDATE run SET began = began - {gone}, ended = ended - {gone} WHERE id = '{run_id}'"
    )
    kept.rows(f"UPDATE run_step SET at = at - {gone} WHERE run_id = '{run_id}'")


def counts(kept: Kept) -> tuple[int, int, int]:
    """Return how many runs, steps and decisions there are."""
    tables = ("run", "run_step", "run_decision")
    one, two, three = (kept.rows(f"SELECT count(*) FROM {name}")[0][0] for name in tables)
    return one, two, three


@pytest.mark.parametrize(("days", "left"), [(29, 1), (31, 0)])
def test_the_next_start_purges_what_is_too_old(kept: Kept, days: int, left: int) -> None:
    """After 30 days a run is gone with its steps."""
    with host(kept, echo()) as made:
        provider = ScriptedProvider([("echo", {"text": "x"}), "done"])
        run = made.session(actor=ADA).run(provider, "q")
    age(kept, run.id, days)

    host(kept).close()

    assert counts(kept) == ((1, 5, 0) if left else (0, 0, 0))


def test_the_operator_says_for_how_long(kept: Kept) -> None:
    """`retention_days` of his file holds at the start."""
    with host(kept) as made:
        run = made.session(actor=ADA).run(ScriptedProvider(["done"]), "q")
    age(kept, run.id, 3)

    host(kept, retention_days=2).close()

    assert counts(kept) == (0, 0, 0)


def test_what_waits_too_long_goes_too(kept: Kept) -> None:
    """Its sealed state falls under retention."""
    with host(kept, writer([])) as made:
        run = waiting(made)
    age(kept, run.id, 31)

    host(kept).close()

    assert counts(kept) == (0, 0, 0)


def test_a_run_that_runs_stays(kept: Kept) -> None:
    """However old; so does a session that goes on, without its old steps."""
    with host(kept, echo()) as made:
        store = made._state.store
        store.begin("running", {"actor": "ada"})
        session = made.session(actor=ADA)
        session.call("echo", {"text": "old"})
        age(kept, "running", 400)
        age(kept, session.run_id, 400)
        session.call("echo", {"text": "new"})
        with look(made.settings) as audit:
            assert audit.purge(30) == 0

    assert sorted(row[0] for row in kept.rows("SELECT kind FROM run")) == ["run", "session"]
    assert kept.rows("SELECT seq FROM run_step") == [(2,)]


def test_a_session_whose_old_steps_went_misses_none(kept: Kept) -> None:
    """Its numbers begin later, and that is no gap."""
    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "old"})
        age(kept, session.run_id, 400)
        session.call("echo", {"text": "new"})
        with look(made.settings) as audit:
            audit.purge(30)
            (found,) = audit.runs()

    assert (found["steps"], found["missing"]) == (1, 0)


def test_a_host_that_stays_up_purges_each_day(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day after the last time the next step takes a chunk with it."""
    from toolseam_plugins.audit import _store

    with host(kept, echo()) as made:
        old = made.session(actor=ADA)
        old.call("echo", {"text": "x"})
        age(kept, old.run_id, 31)
        made.call("echo", {"text": "x"}, actor=ADA)
        assert counts(kept)[0] == 2
        monkeypatch.setattr(_store, "DAY_S", -1)
        made.call("echo", {"text": "x"}, actor=ADA)
        assert counts(kept) == (1, 2, 0)


def test_all_goes_chunk_by_chunk(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start takes one chunk, so that it is short; the command takes all."""
    monkeypatch.setattr(retention, "CHUNK", 3)
    with host(kept, echo()) as made:
        for _ in range(8):
            made.session(actor=ADA).call("echo", {"text": "x"})
    kept.rows("UPDATE run SET began = 0")
    kept.rows("UPDATE run_step SET at = 0")

    with host(kept) as made:
        assert counts(kept) == (5, 5, 0)
        with look(made.settings) as audit:
            assert audit.purge(30) == 5
    assert counts(kept) == (0, 0, 0)


def test_what_a_start_leaves_goes_soon(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a chunk was full the next one goes with a step a minute later, and not a day."""
    from toolseam_plugins.audit import _store

    monkeypatch.setattr(retention, "CHUNK", 3)
    monkeypatch.setattr(_store, "CHUNK", 3)
    monkeypatch.setattr(_store, "PAUSE_S", 0.0)
    with host(kept, echo()) as made:
        for _ in range(8):
            made.session(actor=ADA).call("echo", {"text": "x"})
    kept.rows("UPDATE run SET began = 0")
    kept.rows("UPDATE run_step SET at = 0")

    with host(kept, echo()) as made:
        session = made.session(actor=ADA)
        for _ in range(5):
            session.call("echo", {"text": "x"})

    assert counts(kept) == (1, 5, 0)


def test_runs_are_given_page_by_page(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, and however many began in one moment, each is given once."""
    from toolseam_plugins.audit import _reading

    monkeypatch.setattr(_reading, "_PAGE", 3)
    with host(kept, echo()) as made:
        for _ in range(8):
            made.session(actor=ADA).call("echo", {"text": "x"})
        session = made.session(actor=ADA)
        for _ in range(7):
            session.call("echo", {"text": "x"})
        kept.rows("UPDATE run SET began = 1000")
        with look(made.settings) as audit:
            every: list[dict[str, Any]] = list(audit.runs())
            assert len({each["run"] for each in every}) == len(every) == 9
            assert [each["run"] for each in audit.runs(5)] == [each["run"] for each in every[:5]]
            assert list(audit.runs(0)) == []
            assert [each["seq"] for each in audit.steps(session.run_id)] == list(range(1, 8))
