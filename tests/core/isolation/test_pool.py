"""Bodies in worker processes: how they are carried, limited and stopped."""

import errno
import gc
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from support.bodies import LARGEST, SERVED
from support.isolated import WAIT_S, answer, begun, lost, not_started, running, submitted
from toolseam._body import NotStarted
from toolseam._settings_keys import ProcessLimits
from toolseam.isolation import _process
from toolseam.isolation._pool import ProcessPool

MakePool = Callable[..., ProcessPool]
PATH = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(scope="module")
def standing() -> Iterator[ProcessPool]:
    """A pool that stands over many tests, as that of a host does."""
    pool = ProcessPool(ProcessLimits(), body=SERVED)
    yield pool
    pool.close()


def test_a_body_runs_in_a_process_of_its_own(pool: ProcessPool) -> None:
    """The worker is another process, and it is kept for the next call."""
    first, second = answer(pool, b"pid"), answer(pool, b"pid")

    assert first == second
    assert int(first) != os.getpid()


@pytest.mark.parametrize("size", [0, 1, 1000, 1_000_000, LARGEST - 5])
def test_an_answer_comes_back_whole(standing: ProcessPool, size: int) -> None:
    """Requests and answers of any size up to the largest go through."""
    body = os.urandom(size)

    assert answer(standing, b"echo " + body) == body


def test_a_body_asks_its_host(standing: ProcessPool) -> None:
    """What a body asks is answered by the function that was handed over with it."""
    asked: list[bytes] = []

    def ask(question: bytes) -> bytes:
        asked.append(question)
        return question * 100_000

    said = submitted(standing, b"asks " + b"why?" * 2, ask=ask).result(WAIT_S)

    assert asked == [b"why?why?"]
    assert said == b"the host said " + b"why?why?" * 100_000


def test_what_a_host_raises_when_asked_ends_the_body(standing: ProcessPool) -> None:
    """The future raises it, and the worker is gone."""

    def ask(question: bytes) -> bytes:
        raise ZeroDivisionError

    before = answer(standing, b"pid")

    with pytest.raises(ZeroDivisionError):
        submitted(standing, b"asks", ask=ask).result(WAIT_S)
    assert answer(standing, b"pid") != before


def test_a_body_that_is_over_asks_nothing(standing: ProcessPool) -> None:
    """The way to ask ends with the call that it was given to."""
    answer(standing, b"asks_late")

    assert (
        answer(standing, b"asks_late what?") == b"The call is over: its tool cannot ask the host."
    )
    assert answer(standing, b"echo still there") == b"still there"


def test_a_worker_serves_one_owner_only(make_pool: MakePool) -> None:
    """Bodies of two distributions never meet in one process, not even one after the other."""
    pool = make_pool(workers=1)

    pids = [answer(pool, b"pid", owner=owner) for owner in ("acme", "bell", "acme")]

    assert len(set(pids)) == 3


def test_no_more_workers_than_may_be(make_pool: MakePool) -> None:
    """So many calls run at once; the others wait their turn and are all answered."""
    pool = make_pool(workers=2)
    inside: list[int] = []
    most: list[int] = []

    def ask(question: bytes) -> bytes:
        inside.append(1)
        time.sleep(0.02)
        most.append(len(inside))
        inside.pop()
        return b""

    calls = [submitted(pool, b"asks", owner=f"owner{at % 3}", ask=ask) for at in range(9)]

    assert [call.result(WAIT_S) for call in calls] == [b"the host said "] * 9
    assert 1 <= max(most) <= 2


def test_a_body_does_not_wait_for_its_own_place(make_pool: MakePool, mark: str) -> None:
    """What bodies ask for runs beside them, though all places are taken, and none stays open."""
    pool = make_pool(workers=1)
    answer(pool, b"echo")
    one = len(running(mark))
    depth: list[int] = []

    def ask(question: bytes) -> bytes:
        depth.append(1)
        return submitted(pool, b"asks", ask=ask).result(WAIT_S) if len(depth) < 3 else b"deep"

    assert submitted(pool, b"asks", ask=ask).result(WAIT_S) == b"the host said " * 3 + b"deep"
    assert answer(pool, b"echo well") == b"well"
    until = time.monotonic() + WAIT_S
    while len(running(mark)) > one and time.monotonic() < until:
        time.sleep(0.01)
    assert len(running(mark)) == one


def _note(order: list[str], name: str, _: object) -> None:
    order.append(name)


def test_nobody_waits_for_ever_behind_a_warm_worker(make_pool: MakePool) -> None:
    """Another owner's call gets its turn, though calls of the first have a warm worker."""
    pool = make_pool(workers=1)
    order: list[str] = []
    gate = begun(pool, b"sleeps 0.3", owner="warm")
    calls = [submitted(pool, b"echo", owner="other")]
    calls += [submitted(pool, b"echo", owner="warm") for _ in range(30)]
    for name, call in zip(["other", *["warm"] * 30], calls, strict=True):
        call.add_done_callback(partial(_note, order, name))

    for call in [gate, *calls]:
        call.result(WAIT_S)
    pool.close()

    assert 0 < order.index("other") < 15


def test_a_worker_is_replaced_after_so_many_calls(make_pool: MakePool) -> None:
    """The setting counts the calls of one process."""
    pool = make_pool(calls=2)

    pids = [answer(pool, b"pid") for _ in range(5)]

    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [2, 2, 1]


def test_a_worker_that_nobody_needs_ends(make_pool: MakePool, mark: str) -> None:
    """After its idle time no process and no thread of it is there, and the next call has a new."""
    pool = make_pool(idle_s=1)
    before = threading.active_count()
    first = answer(pool, b"pid")

    until = time.monotonic() + WAIT_S
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.05)

    assert running(mark) == []
    assert threading.active_count() == before
    assert answer(pool, b"pid") != first


SLOW = """
import os, time
with open({file!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
time.sleep(0.5)

def serve(request, ask):
    return b"%d" % os.getpid()
"""


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which each worker that is being started leaves its number, and takes a while."""
    (tmp_path / "slow_body.py").write_text(SLOW.format(file=str(tmp_path / "starts")))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "starts"


def test_a_start_outlives_the_call_that_began_it(make_pool: MakePool, slow: Path) -> None:
    """Who gives it up is told at once that nothing began, and the next call finds the worker."""
    pool = make_pool(workers=1, body="slow_body:serve")
    call = submitted(pool, b"")
    until = time.monotonic() + WAIT_S
    while not slow.exists() and time.monotonic() < until:
        time.sleep(0.01)

    assert call.cancel() is True
    assert call.done()
    assert not_started(call) == ("cancelled", "")
    assert answer(pool, b"").decode().split() == slow.read_text().split()


def test_closing_ends_a_start(make_pool: MakePool, mark: str, slow: Path) -> None:
    """A worker that is only being started is ended too, and its call never began."""
    pool = make_pool(body="slow_body:serve")
    call = submitted(pool, b"")

    pool.close()

    assert not_started(call)[0] == "closed"
    assert running(mark) == []


def test_the_environment_is_clean(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body sees PATH, HOME, LANG and what the operator names, and no secret of its host."""
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("ACME_TOKEN", "canary")
    pool = make_pool()

    seen = eval(answer(pool, b"environment"))  # noqa: S307 - of our own body

    assert set(seen) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "TOOLSEAM_TEST_MARK"}
    assert seen["PATH"] == os.environ["PATH"]


def test_a_tool_beside_its_host_is_found(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is imported from the folder that the host is in, say at a prompt, is found there too."""
    (tmp_path / "beside.py").write_text("def serve(request, ask):\n    return b'beside'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    sys.path[0] = ""

    assert answer(make_pool(body="beside:serve"), b"") == b"beside"


def test_what_is_printed_goes_nowhere(pool: ProcessPool, capfd: pytest.CaptureFixture[str]) -> None:
    """Printing harms no frame, however much it is, and there is nothing to read."""
    assert answer(pool, b"prints") == b"read "
    assert answer(pool, b"prints") == b"read "

    assert capfd.readouterr() == ("", "")


def test_what_was_printed_is_counted(pool: ProcessPool) -> None:
    """Whoever reads why a worker died reads how much it had printed, and not what."""
    answer(pool, b"prints")

    assert lost(submitted(pool, b"exits 3")) == (
        "worker_died",
        "exit code 3; 300003 bytes printed",
    )


@pytest.mark.parametrize(
    ("request_", "reason", "detail"),
    [
        (b"exits 0", "worker_died", "exit code 0"),
        (b"exits 3", "worker_died", "exit code 3"),
        (b"kills", "worker_died", "signal 9"),
        (b"kills supervisor", "worker_died", "its supervisor ended without a word"),
        (b"raises", "worker_died", "it could not answer any more"),
        (b"garbage", "worker_protocol", "a frame is of no kind that may come now"),
        (b"half_a_frame", "worker_protocol", "half a frame"),
        (b"half_a_head", "worker_protocol", "half a frame"),
        (b"claims_too_much", "worker_protocol", "a frame is too large"),
        (b"sends_too_much", "worker_protocol", "bytes after the answer"),
        (b"answers_another", "worker_protocol", "a frame belongs to another call"),
        (b"answers_twice", "worker_protocol", "bytes after the answer"),
        (b"closes 0", "worker_protocol", "it has closed its channel"),
        (b"closes 300", "worker_protocol", "it has closed its channel"),
        (b"returns_too_much", "too_large", f"an answer of more than {LARGEST} bytes"),
    ],
)
def test_a_worker_that_fails_ends_its_own_call_only(
    standing: ProcessPool, request_: bytes, reason: str, detail: str
) -> None:
    """Each is one typed loss; a call beside it and the next call are answered."""
    pool = standing
    gate = threading.Event()
    beside = submitted(pool, b"asks", owner="bell", ask=lambda _: b"%d" % gate.wait(WAIT_S))

    assert lost(submitted(pool, request_)) == (reason, detail)

    assert answer(pool, b"echo next") == b"next"
    gate.set()
    assert beside.result(WAIT_S) == b"the host said 1"


def test_a_gigabyte_is_not_taken_in(standing: ProcessPool) -> None:
    """However much a worker sends, the host holds no more than the largest frame."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    lost(submitted(standing, b"sends_too_much"))

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000  # KiB; what the largest frame takes, twice, and some


def wait_for_a_sign_of(pool: ProcessPool) -> None:
    """Wait until the only worker of a pool says something unasked, or is gone."""
    (seat,) = pool._seats
    until = time.monotonic() + WAIT_S
    while seat.worker is not None and seat.worker.idle():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_is_said_after_an_answer_harms_no_call(pool: ProcessPool) -> None:
    """A worker that babbles when nobody asked is replaced before the next call."""
    assert answer(pool, b"babbles_later") == b"well"
    wait_for_a_sign_of(pool)

    assert answer(pool, b"echo next") == b"next"


def test_a_worker_that_died_idle_is_replaced(pool: ProcessPool) -> None:
    """A call finds a new worker where the warm one is gone."""
    worker = int(answer(pool, b"pid"))

    os.kill(worker, 9)
    wait_for_a_sign_of(pool)

    assert int(answer(pool, b"pid")) != worker


@pytest.mark.parametrize("body", [b"forks", b"daemonises"])
def test_processes_that_a_tool_leaves_are_killed(pool: ProcessPool, mark: str, body: bytes) -> None:
    """The call's own answer counts; what it left is killed with the worker."""
    before = answer(pool, b"pid")

    said = answer(pool, body)
    after = answer(pool, b"pid")

    assert said in (b"parent", b"left one")
    assert before != after
    assert len(running(mark)) == 2  # the supervisor and the worker of the last call


def test_a_request_that_is_too_large_is_not_begun(standing: ProcessPool) -> None:
    """It is refused before anything is sent."""
    with pytest.raises(NotStarted) as caught:
        submitted(standing, bytes(LARGEST + 1))

    assert caught.value.reason == "too_large"


def test_a_tool_that_hears_no_signal_is_killed(pool: ProcessPool, mark: str) -> None:
    """Who gives a call up ends it, whatever it ignores; when its future is done, it is gone."""
    call = begun(pool, b"ignores")

    assert call.cancel() is True

    assert lost(call)[0] == "cancelled"
    assert running(mark) == []
    assert call.cancel() is False


@pytest.mark.parametrize("body", [b"keeps_forking", b"explodes"])
def test_a_tool_that_keeps_forking_is_killed(pool: ProcessPool, mark: str, body: bytes) -> None:
    """A process that is another one every moment, or many, is caught too."""
    call = begun(pool, body)
    time.sleep(0.2)

    call.cancel()

    assert lost(call)[0] == "cancelled"
    assert running(mark) == []


def test_a_call_that_waits_is_never_begun(make_pool: MakePool) -> None:
    """Who gives up a call that waits is told that it never ran."""
    pool = make_pool(workers=1)
    first = begun(pool, b"sleeps 300")
    second = submitted(pool, b"echo")

    assert second.cancel() is True
    assert not_started(second) == ("cancelled", "")
    first.cancel()
    assert lost(first)[0] == "cancelled"
    assert answer(pool, b"echo next") == b"next"


def test_a_pool_keeps_nothing_of_calls_that_are_over(make_pool: MakePool) -> None:
    """What was given up as it waited is forgotten at once, what was answered soon after."""
    pool = make_pool(workers=1)
    runs = begun(pool, b"sleeps 300")
    waits = [submitted(pool, b"echo x") for _ in range(3)]
    kept = [weakref.ref(call) for call in (runs, *waits)]

    waits.pop(1).cancel()
    gc.collect()
    assert [call() is None for call in kept] == [False, False, True, False]

    runs.cancel()
    assert [call.result(WAIT_S) for call in waits] == [b"x"] * 2
    del runs, waits
    until = time.monotonic() + WAIT_S
    while any(call() for call in kept) and time.monotonic() < until:
        time.sleep(0.01)
        gc.collect()
    assert [call() for call in kept] == [None] * 4


def test_closing_stops_everything(make_pool: MakePool, mark: str) -> None:
    """What runs is lost, what waits never began, nothing new is taken, no process is left."""
    pool = make_pool(workers=1)
    runs = begun(pool, b"sleeps 300")
    waits = submitted(pool, b"echo")

    pool.close()

    assert lost(runs)[0] == "closed"
    assert not_started(waits)[0] == "closed"
    assert running(mark) == []
    with pytest.raises(NotStarted):
        submitted(pool, b"echo")


def test_memory_has_an_end(make_pool: MakePool) -> None:
    """A body that takes all there is gets a `MemoryError` of its own, far below the machine's."""
    pool = make_pool(memory_mb=128)

    assert int(answer(pool, b"allocates")) < 16


def test_a_worker_that_is_full_is_replaced(make_pool: MakePool) -> None:
    """What one call leaks, of memory or of descriptors, the next one does not lack."""
    pool = make_pool(memory_mb=128, open_files=64)
    pids = [answer(pool, b"pid")]

    for body in (b"allocates kept", b"opens"):
        answer(pool, body)
        pids.append(answer(pool, b"pid"))

    assert len(set(pids)) == 3


def test_open_files_have_an_end(make_pool: MakePool) -> None:
    """A body that opens files without end gets an error of its own."""
    pool = make_pool(open_files=64)

    assert answer(pool, b"opens") == b"errno 24"


def test_a_file_has_an_end(make_pool: MakePool, tmp_path: Path) -> None:
    """A body that writes a file without end gets an error of its own."""
    pool = make_pool(file_mb=2)

    said = answer(pool, b"writes 5 " + bytes(tmp_path))

    assert said == b"OSError 27"
    assert (tmp_path / "written").stat().st_size <= 2 * 1024 * 1024


@pytest.mark.parametrize("body", [b"spins", b"spins deaf"])
def test_processor_time_has_an_end(make_pool: MakePool, body: bytes) -> None:
    """A body that spins is ended, also if it ignores the signal that says so."""
    pool = make_pool(cpu_s=1)

    assert lost(submitted(pool, body)) == ("cpu_limit", "more than 1 s of processor time")


def test_processor_time_is_that_of_one_call(make_pool: MakePool) -> None:
    """Calls that use a little each are not summed up against one, and the worker is replaced."""
    pool = make_pool(cpu_s=1)

    pids = [answer(pool, b"works 0.4") for _ in range(4)]

    assert 1 < len(set(pids)) < 4


def test_a_host_keeps_no_descriptor_and_no_thread(pool: ProcessPool) -> None:
    """However many workers die, the host has as many descriptors and threads as with the first."""

    def kept() -> tuple[int, int]:
        lost(submitted(pool, b"exits 0"))
        answer(pool, b"pid")
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    first = kept()
    for _ in range(5):
        last = kept()

    assert last == first


def test_a_worker_that_cannot_start_is_no_call(make_pool: MakePool) -> None:
    """A body that is not there is told as what never began."""
    pool = make_pool(body="support.nowhere:serve")

    reason, detail = not_started(submitted(pool, b"echo"))

    assert reason == "worker_start"
    assert "No module named 'support.nowhere'" in detail


def test_a_machine_that_has_no_room_for_a_worker_is_told(
    pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is lacking as a worker is made, its call never began, and nothing stays open."""
    pair, room = socket.socketpair, [0]

    def refuse() -> tuple[socket.socket, socket.socket]:
        if room[0] == 0:
            raise OSError(errno.EMFILE, "too many open files")
        room[0] -= 1
        return pair()

    def fail(*words: object, **named: object) -> None:
        raise MemoryError

    def told() -> tuple[str, str]:
        return not_started(submitted(pool, b"echo"))

    kept = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as without:
        without.setattr(socket, "socketpair", refuse)
        assert told() == ("worker_start", "OSError 24")
        room[0] = 1
        assert told() == ("worker_start", "OSError 24")
    with monkeypatch.context() as without:
        without.setattr(subprocess, "Popen", fail)
        assert told() == ("worker_start", "MemoryError")

    assert len(list(Path("/proc/self/fd").iterdir())) <= kept
    assert answer(pool, b"echo next") == b"next"


def test_a_worker_that_dies_while_all_stands_still_is_told_as_such(pool: ProcessPool) -> None:
    """Its own end counts, though its supervisor hears of it together with the host's patience."""
    worker = int(answer(pool, b"pid"))
    call = begun(pool, b"sleeps 300")
    stat = Path(f"/proc/{worker}/stat").read_text()
    supervisor = int(stat.rpartition(")")[2].split()[1])

    os.kill(supervisor, signal.SIGSTOP)
    os.kill(worker, signal.SIGKILL)
    time.sleep(_process._NATURAL_S + 0.5)
    os.kill(supervisor, signal.SIGCONT)

    assert lost(call) == ("worker_died", "signal 9")


def test_an_answer_may_be_given_up_by_many_threads(standing: ProcessPool) -> None:
    """Giving up and answering at one moment leave each call with one end, and the pool well."""
    calls = [submitted(standing, b"echo x") for _ in range(60)]
    threads = [threading.Thread(target=call.cancel) for call in calls for _ in range(2)]
    for thread in threads:
        thread.start()

    ends = {type(call.exception(WAIT_S)).__name__ for call in calls}

    assert ends <= {"NoneType", "Lost", "NotStarted"}
    assert answer(standing, b"echo next") == b"next"


def test_a_fork_of_the_host_begins_anew() -> None:
    """The child has workers of its own, and the parent's calls go on, its worker being the same."""
    script = f"""
import os
from support.isolated import answer
from toolseam._settings_keys import ProcessLimits
from toolseam.isolation._pool import ProcessPool

pool = ProcessPool(ProcessLimits(), body={SERVED!r})
before = answer(pool, b"pid")
child = os.fork()
if child == 0:
    other = answer(pool, b"pid")
    pool.close()
    os._exit(0 if other != before else 1)
_, status = os.waitpid(child, 0)
print(status, answer(pool, b"pid") == before)
pool.close()
"""

    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=os.environ | {"PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )

    assert ran.stdout == "0 True\n", ran.stderr


@pytest.mark.parametrize("forked", [False, True])
def test_nothing_is_left_of_a_host_that_was_killed(mark: str, forked: bool) -> None:
    """Worker, what it left and supervisor end with the host, even while a fork of it lives."""
    script = f"""
import os, sys, time
from support.isolated import answer, begun
from toolseam._settings_keys import ProcessLimits
from toolseam._settings_structure import Variables
from toolseam.isolation._pool import ProcessPool

marked = Variables(TOOLSEAM_TEST_MARK="TOOLSEAM_TEST_MARK")
pool = ProcessPool(ProcessLimits(env=marked), body={SERVED!r})
os.environ["TOOLSEAM_TEST_MARK"] = os.environ["HOST_MARK"] + "w"
begun(pool, b"keeps_forking")
begun(pool, b"ignores", owner="other")
if {forked} and os.fork() == 0:
    time.sleep(30)
print("ready", flush=True)
time.sleep(300)
"""
    environ = os.environ | {"PYTHONPATH": PATH, "HOST_MARK": mark}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        workers = running(mark + "w")

        host.kill()
        host.wait(WAIT_S)

        until = time.monotonic() + WAIT_S
        while running(mark + "w") and time.monotonic() < until:
            time.sleep(0.01)
        left = running(mark + "w")
        if forked:
            os.killpg(host.pid, 9)

    assert len(workers) >= 4
    assert left == []


def test_a_process_that_gives_no_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine gives no thread, a call never began."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool = ProcessPool(ProcessLimits())

    with pytest.raises(NotStarted) as caught:
        submitted(pool, b"echo")

    assert caught.value.reason == "worker_start"
