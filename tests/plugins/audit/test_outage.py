"""When the database cannot be written: no write without its intent, and nothing lost in silence."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest

from support.audit import Kept, echo, file, host, waiting, writer
from support.tools import ADA, approved, plugin
from toolseam import Host, ToolResult
from toolseam.runs import Decision, RunError
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import AuditError, _sqlite, _writer, look
from toolseam_plugins.audit._database import Unreachable


@attrs.frozen
class Outage:
    """A store, and what makes it impossible to write to for a while."""

    kept: Kept
    begin: Callable[[], None]
    end: Callable[[], None]

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Nothing can be written inside."""
        self.begin()
        try:
            yield
        finally:
            self.end()


@pytest.fixture
def outage(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outage]:
    """Somebody locks the file, or takes the tables away under another name."""
    monkeypatch.setattr(_sqlite, "BUSY_S", 0.05)
    monkeypatch.setattr(_writer, "REST_S", 0.0)
    if kept.server is None:
        holder: list[sqlite3.Connection] = []

        def lock() -> None:
            connection = sqlite3.connect(file(), isolation_level=None, check_same_thread=False)
            connection.execute("BEGIN IMMEDIATE")
            holder.append(connection)

        def unlock() -> None:
            holder.pop().close()

        yield Outage(kept, lock, unlock)
        return
    server, name = kept.server, str(kept.url).rpartition("/")[2]

    def shut() -> None:
        server.execute(
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )

    def open_again() -> None:
        server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    yield Outage(kept, shut, open_again)


def test_without_its_intent_a_write_does_not_run(outage: Outage) -> None:
    """It is `unavailable`, reason `audit`; later it runs."""
    done: list[str] = []

    with host(outage.kept, writer(done)) as made:
        made.call("write", {"text": "x"}, actor=ADA)
        with outage():
            approval = approved(made, "write", {"text": "y"})
            refused = made.call("write", {"text": "y"}, actor=ADA, approval=approval)
        failure = refused.failure
        assert failure is not None
        assert (failure.code, failure.metadata["reason"]) == ("unavailable", "audit")
        assert (failure.retriable, done) == (True, [])

        again = approved(made, "write", {"text": "y"})
        assert made.call("write", {"text": "y"}, actor=ADA, approval=again).success

    assert done == ["y"]


def test_a_read_runs_and_the_run_says_that_it_is_incomplete(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    """What could not be stored is counted on the run, and reported in the log."""
    with host(outage.kept, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "a"})
        with outage():
            assert session.call("echo", {"text": "b"}).success
            assert session.call("echo", {"text": "c"}).success
        session.call("echo", {"text": "d"})

    assert outage.kept.rows("SELECT lost FROM run") == [(2,)]
    assert outage.kept.rows("SELECT seq FROM run_step ORDER BY seq") == [(1,), (2,)]
    assert "could not be stored" in caplog.text


def strikes(done: list[str], begin: Callable[[], None]) -> Any:
    """Return a write during which the database goes away."""

    def execute(arguments: Any) -> ToolResult:
        done.append("written")
        begin()
        return ToolResult.text("written")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text("would write")

    return plugin(execute, name="write", preview=preview, effect="idempotent_write")


def test_an_outcome_that_cannot_be_stored_holds_the_run(outage: Outage) -> None:
    """The run is held and asks nobody more; what came of the write is stored when it can be."""
    done: list[str] = []
    provider = ScriptedProvider([("write", {}), "never"])

    with host(outage.kept, strikes(done, outage.begin), echo()) as made:
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        held = session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)
        assert (held.status, held.reason, done) == ("held", None, ["written"])
        assert len(provider.requests) == 1
        outage.end()
        made.call("echo", {"text": "x"}, actor=ADA)

    kept = outage.kept
    assert kept.rows("SELECT status FROM run WHERE kind = 'run'") == [("held",)]
    write = kept.rows("SELECT status, effect FROM run_step WHERE tool = 'write' AND kind = 'tool'")
    assert write == [("ok", "done")]


def test_an_outage_that_is_over_holds_nothing(outage: Outage) -> None:
    """The outcome is tried once more before the run is held."""
    done: list[str] = []
    provider = ScriptedProvider([("write", {}), "done"])

    def blink() -> None:
        outage.begin()
        made._state.listeners.add(lambda step: outage.end() if step.tool == "write" else None)

    with host(outage.kept, strikes(done, blink)) as made:
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        ended = session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)

    assert (ended.status, done) == ("completed", ["written"])


def test_an_outage_holds_no_run_that_wrote_nothing(outage: Outage) -> None:
    """Only whose outcome is owed is held."""
    with host(outage.kept, echo()) as made:
        session = made.session(actor=ADA)
        with outage():
            session.call("echo", {"text": "x"})
            assert not made._state.store.holds(session.run_id)


def test_a_database_that_does_not_answer_is_left_alone_for_a_while(
    outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads do not wait for it one after the other; a write asks each time."""
    monkeypatch.setattr(_writer, "REST_S", 60.0)
    monkeypatch.setattr(_sqlite, "BUSY_S", 0.2)
    done: list[str] = []
    with host(outage.kept, echo(), writer(done)) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "x"})
        with outage():
            begun = time.monotonic()
            for _ in range(50):
                assert session.call("echo", {"text": "x"}).success
            assert time.monotonic() - begun < 9
        approval = approved(made, "write", {"text": "y"})
        assert made.call("write", {"text": "y"}, actor=ADA, approval=approval).success

    assert outage.kept.rows("SELECT sum(lost) FROM run") == [(50,)]


def test_what_cannot_be_suspended_does_not_wait(outage: Outage) -> None:
    """Nobody waits for a decision that can never be given: the run ends as denied."""
    done: list[str] = []

    with host(outage.kept, writer(done), echo()) as made:
        made.call("echo", {"text": "x"}, actor=ADA)
        with outage():
            run = waiting(made)
        assert (run.status, run.reason, done) == ("failed", "approval_denied", [])
        made.call("echo", {"text": "y"}, actor=ADA)

    found = outage.kept.rows("SELECT status, reason FROM run WHERE kind = 'run'")
    assert found == [("failed", "approval_denied")]


@pytest.mark.parametrize("ask", ["decide", "resume"])
def test_deciding_and_going_on_say_that_it_is_unavailable(outage: Outage, ask: str) -> None:
    """The run waits on, and no driver's text comes out."""
    with host(outage.kept, writer([])) as made:
        run = waiting(made)
        session = made.session()
        said = [Decision.approve(run.pending[0], actor=ADA)]
        asks: dict[str, Callable[[], Any]] = {
            "decide": lambda: session.decide(run.id, said),
            "resume": lambda: session.resume(run.id, said, ScriptedProvider(["x"])),
        }
        with outage(), pytest.raises(RunError) as refused:
            asks[ask]()
        assert refused.value.code == "unavailable"
        assert "locked" not in str(refused.value)
        assert session.resume(run.id, said, ScriptedProvider(["x"])).status == "completed"


def test_an_end_that_cannot_be_stored_is_stored_later(outage: Outage) -> None:
    """The run keeps its end, however late."""

    def begin(arguments: Any) -> ToolResult:
        outage.begin()
        return ToolResult.text("x")

    with host(outage.kept, plugin(begin, name="begin"), echo()) as made:
        made.session(actor=ADA).run(ScriptedProvider([("begin", {}), "done"]), "q")
        outage.end()
        made.call("echo", {"text": "x"}, actor=ADA)

    found = outage.kept.rows("SELECT status, reason, lost FROM run WHERE kind = 'run'")
    assert found[0][:2] == ("completed", "completed")
    assert found[0][2] >= 1


def test_a_host_ends_during_an_outage(outage: Outage, caplog: pytest.LogCaptureFixture) -> None:
    """What is still owed is reported, and the end goes through."""
    made = host(outage.kept, echo())
    outage.begin()
    made.call("echo", {"text": "x"}, actor=ADA)
    made.close()
    outage.end()

    assert "owed" in caplog.text


def test_who_looks_during_an_outage_is_told(outage: Outage) -> None:
    """The place is named, and nothing of what a driver says."""

    def purge() -> None:
        with look(made.settings) as audit, outage():
            audit.purge(1)

    with host(outage.kept, echo()) as made:
        made.call("echo", {"text": "x"}, actor=ADA)
        outage.kept.rows("UPDATE run SET began = 0")
        outage.kept.rows("UPDATE run_step SET at = 0")
        with pytest.raises(AuditError, match="does not answer") as told:
            purge()
    assert "locked" not in str(told.value)


def test_the_loop_does_not_wait_for_a_database(
    outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the database is away an event loop ticks on, and every row is stored or counted."""
    gaps: list[float] = []

    async def tick(until: asyncio.Event) -> None:
        last = time.monotonic()
        while not until.is_set():
            await asyncio.sleep(0.005)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    async def main(made: Host) -> None:
        over = asyncio.Event()
        ticking = asyncio.create_task(tick(over))
        session = made.session(actor=ADA)
        await session.acall("echo", {"text": "a"})
        outage.begin()
        over_soon.start()
        for number in range(20):
            await session.acall("echo", {"text": str(number)})
        over.set()
        await ticking

    monkeypatch.setattr(_sqlite, "BUSY_S", 5.0)
    over_soon = threading.Timer(0.6, outage.end)
    with host(outage.kept, echo()) as made:
        asyncio.run(main(made))
        over_soon.join()
        made.call("echo", {"text": "b"}, actor=ADA)

    assert max(gaps) < 0.25
    ((stored,),) = outage.kept.rows("SELECT count(*) FROM run_step")
    ((lost,),) = outage.kept.rows("SELECT sum(lost) FROM run")
    assert stored + lost == 22
    # Who only has to wait for his turn loses nothing.
    assert outage.kept.server is not None or lost == 0


def test_what_is_stored_is_not_stored_again(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A purge that fails behind a step costs neither the step nor the outcome of a write."""
    from toolseam_plugins.audit import _store

    def fail(*_: Any, **__: Any) -> int:
        raise Unreachable("busy")

    done: list[str] = []
    with host(kept, echo(), writer(done)) as made:
        approval = approved(made, "write", {"text": "y"})
        monkeypatch.setattr(_store, "DAY_S", -1)
        monkeypatch.setattr(_store, "purge", fail)
        monkeypatch.setattr(_writer, "REST_S", 0.0)
        made.call("echo", {"text": "x"}, actor=ADA)
        assert made.call("write", {"text": "y"}, actor=ADA, approval=approval).success

    assert kept.rows("SELECT sum(lost) FROM run") == [(0,)]
    found = "SELECT tool, status FROM run_step WHERE kind = 'tool' ORDER BY tool"
    assert kept.rows(found) == [("echo", "ok"), ("write", "ok")]
    assert "could not be stored" not in caplog.text
