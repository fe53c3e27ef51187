import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from toolseam._workers import Busy, Workers


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What blocking work waits for; opened at the end."""
    event = threading.Event()
    yield event
    event.set()


def test_work_is_done_and_its_value_waits() -> None:
    """The caller gets what the function gave, or what it raised."""
    workers = Workers(2, 2)

    good, bad = workers.submit(lambda: 7), workers.submit(lambda: 1 // 0)

    assert good.wait(5)
    assert bad.wait(5)
    assert good.value == 7
    assert isinstance(bad.error, ZeroDivisionError)


def test_no_more_than_so_many_threads_work(gate: threading.Event) -> None:
    """Others wait their turn, and one more than may wait is refused."""
    workers = Workers(2, 1)
    jobs = [workers.submit(lambda: gate.wait(10)) for _ in range(3)]

    with pytest.raises(Busy):
        workers.submit(lambda: None)
    gate.set()

    assert all(job.wait(5) for job in jobs)
    assert workers.submit(lambda: 1).wait(5)


def test_threads_are_reused() -> None:
    """Work that comes one after the other needs one thread."""
    workers = Workers(8, 8)
    names: set[int] = set()

    for _ in range(20):
        job = workers.submit(lambda: names.add(threading.get_ident()))
        assert job.wait(5)
        time.sleep(0.002)

    assert len(names) <= 2


def test_given_up_before_it_began_it_never_begins(gate: threading.Event) -> None:
    """abandon says whether the work has begun; what has not never will."""
    workers = Workers(1, 2)
    started = threading.Event()
    runs: list[int] = []

    def work() -> None:
        started.set()
        gate.wait(10)

    first = workers.submit(work)
    second = workers.submit(lambda: runs.append(1))
    assert started.wait(5)

    assert first.abandon()
    assert not second.abandon()
    gate.set()
    assert second.wait(5)
    assert not runs


def test_then_is_called_once_whenever_it_is_asked(gate: threading.Event) -> None:
    """Before the end, or after it."""
    workers = Workers(1, 1)
    seen: list[str] = []
    job = workers.submit(lambda: gate.wait(10))

    job.then(lambda _: seen.append("before"))
    gate.set()
    assert job.wait(5)
    deadline = time.monotonic() + 5
    while not seen and time.monotonic() < deadline:
        time.sleep(0.001)
    job.then(lambda _: seen.append("after"))

    assert seen == ["before", "after"]


def test_closed_workers_take_nothing() -> None:
    """Idle threads end, and new work is refused."""
    workers = Workers(2, 2)
    assert workers.submit(lambda: None).wait(5)
    workers.close()

    with pytest.raises(Busy):
        workers.submit(lambda: None)


def test_what_waited_is_done_before_the_threads_end(gate: threading.Event) -> None:
    """Closing forgets nobody who was promised a turn."""
    workers = Workers(1, 2)
    workers.submit(lambda: gate.wait(10))
    waiting = workers.submit(lambda: "done")

    workers.close()
    gate.set()

    assert waiting.wait(5)
    assert waiting.value == "done"


def test_whatever_work_raises_the_thread_lives() -> None:
    """SystemExit and KeyboardInterrupt are handed to whoever waits."""
    workers = Workers(1, 1)

    def leave(error: type[BaseException]) -> None:
        raise error

    for error in (SystemExit, KeyboardInterrupt, GeneratorExit):
        job = workers.submit(partial(leave, error))
        assert job.wait(5)
        assert type(job.error) is error
    assert workers.submit(lambda: 1).wait(5)


def test_a_machine_without_threads_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started the call is refused, and the next one may try again."""
    workers = Workers(2, 2)

    def cannot(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", cannot)
        with pytest.raises(Busy):
            workers.submit(lambda: None)

    assert workers.submit(lambda: 1).wait(5)


def test_without_a_further_thread_those_at_work_go_on(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was taken waits for the thread that there is."""
    workers = Workers(2, 2)
    first = workers.submit(lambda: gate.wait(10))

    def cannot(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", cannot)
        second = workers.submit(lambda: "done")
    gate.set()

    assert first.wait(5)
    assert second.wait(5)
    assert second.value == "done"


FORKS = """
import os
import threading
from toolseam._workers import Workers

workers, gate = Workers(1, 2), threading.Event()
before = [workers.submit(gate.wait) for _ in range(3)]
child = os.fork()
if child:
    gate.set()
    assert all(job.wait(10) for job in before)
    assert os.waitpid(child, 0)[1] == 0
else:
    job = workers.submit(lambda: 7)
    assert job.wait(10) and job.value == 7
"""


def test_the_child_of_a_fork_has_workers_of_its_own() -> None:
    """Neither waits for the other: threads do not come along, nor does the work they had."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS]

    done = subprocess.run(command, capture_output=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (0, b"")
