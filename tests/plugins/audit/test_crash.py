"""Processes that die, and many that write at once: nothing is lost, and the next start tells."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.audit import Kept, echo, host, waiting, writer
from support.tools import ADA
from toolseam.runs import Decision
from toolseam.testing import ScriptedProvider

TESTS = str(Path(__file__).parent.parent.parent)
PREAMBLE = """
import json, os, signal, sqlite3, sys
from contextlib import closing
from pathlib import Path
from support.audit import Kept, echo, file, host, waiting, writer
from support.tools import ADA, plugin
from toolseam import ToolResult
from toolseam.runs import Decision
from toolseam.testing import ScriptedProvider
"""


def python(script: str, *words: str) -> Any:
    """Run a script in a process of its own and return what it printed, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + script, *words],
        env=os.environ | {"PYTHONPATH": TESTS},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return json.loads(done.stdout)


KILLED = """
class Done(list):
    def append(self, text):
        Path(os.environ["XDG_STATE_HOME"], "written").touch()

def child(statement):
    left = iter(range(statement))
    def count(_):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
    provider = ScriptedProvider([("echo", {"text": "a"}), ("write", {"text": "b"}), "done"])
    with host(Kept(None), echo(), writer(Done())) as made:
        made._state.store._writer._database._connection.set_trace_callback(count)
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)
    os._exit(0)

def rows(statement):
    with closing(sqlite3.connect(file())) as connection:
        return connection.execute(statement).fetchall()

states = Path(os.environ["XDG_STATE_HOME"])
found = []
for number in range(1, 1000):
    os.environ["XDG_STATE_HOME"] = str(states / str(number))
    pid = os.fork()
    if pid == 0:
        child(number)
    ended = os.waitpid(pid, 0)[1] == 0
    sound = rows("PRAGMA integrity_check")
    unfinished = rows("SELECT count(*) FROM run WHERE status = 'running'")[0][0]
    host(Kept(None)).close()
    found.append({
        "sound": sound == [("ok",)],
        "unfinished": unfinished,
        "after": rows("SELECT status, reason FROM run"),
        "writes": rows("SELECT status, effect FROM run_step WHERE kind='tool' AND tool='write'"),
        "written": (states / str(number) / "written").exists(),
        "gap": rows("SELECT max(seq) - count(*) FROM run_step")[0][0],
    })
    if ended:
        break
print(json.dumps(found))
"""


def test_kill_9_before_any_statement_leaves_a_readable_store() -> None:
    """A process is killed before each statement of a run with a write, one after the other.

    What is left is sound, has at most one unfinished run, which the next start marks, and has no
    write without a row: done, held, or one that did not happen.
    """
    found = python(KILLED)

    assert len(found) > 20
    assert found[-1]["after"] == [["completed", "completed"]]
    seen = set()
    for each in found:
        assert (each["sound"], each["gap"] or 0) == (True, 0)
        assert each["unfinished"] <= 1
        assert not any(status == "running" for status, _ in each["after"])
        assert not any(status == "intended" for status, _ in each["writes"])
        assert len(each["writes"]) == 1 or not each["written"]
        seen |= {tuple(row) for row in each["after"]}
        if ["interrupted", "unknown"] in each["writes"]:
            assert each["after"] == [["held", "interrupted"]]
    assert seen == {
        ("completed", "completed"),
        ("failed", "interrupted"),
        ("held", "interrupted"),
        ("waiting_for_approval", None),
    }


DYING = """
def die(arguments):
    print(json.dumps("running"), flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)

def preview(arguments, context):
    return ToolResult.text("dies")

kept = Kept(sys.argv[1] or None)
provider = ScriptedProvider([("write", {}), "never"])
with host(kept, plugin(die, name="write", preview=preview, effect="unknown")) as made:
    session = made.session(actor=ADA)
    run = session.run(provider, "q")
    session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA)], provider)
"""


def test_only_what_is_dead_is_marked(kept: Kept) -> None:
    """A run of a process that lives is left alone, however still; when it is gone it is held."""
    with subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + DYING, kept.url or ""],
        env=os.environ | {"PYTHONPATH": TESTS},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            host(kept).close()
            assert kept.rows("SELECT status FROM run") == [("running",)]
        finally:
            process.send_signal(signal.SIGKILL)
        process.wait()

    # The server learns a moment later that nobody is there any more.
    until = time.monotonic() + 20
    while kept.rows("SELECT status FROM run") == [("running",)] and time.monotonic() < until:
        host(kept).close()
        time.sleep(0.05)

    assert kept.rows("SELECT status, reason FROM run") == [("held", "interrupted")]
    step = "SELECT status, effect FROM run_step WHERE kind = 'tool'"
    assert kept.rows(step) == [("interrupted", "unknown")]


def test_a_run_that_waits_is_not_interrupted(kept: Kept) -> None:
    """Its process may go: it waits for people, and goes on with them."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run = waiting(made)
    for _ in range(2):
        host(kept).close()

    with host(kept, writer(done)) as made:
        said = [Decision.approve(run.pending[0], actor=ADA)]
        ended = made.session().resume(run.id, said, ScriptedProvider(["done"]))

    assert (ended.status, done) == ("completed", ["y"])


WRITING = """
import traceback

def write(end):
    with host(Kept(sys.argv[1] or None), echo()) as made:
        session = made.session(actor=ADA)
        for number in range(int(sys.argv[2])):
            assert session.call("echo", {"text": str(number)}).success
    os.write(end, f"{session.run_id}\\n".encode())

# They have nothing in common but what was imported, which would take longer than the writing.
reading, end = os.pipe()
children = []
for _ in range(8):
    child = os.fork()
    if not child:
        try:
            write(end)
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    children.append(child)
os.close(end)
with open(reading) as told:
    print(json.dumps(told.read().split()))
for child in children:
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize(("kept", "steps"), [("sqlite", 300), ("postgres", 60)], indirect=["kept"])
def test_eight_processes_lose_nothing(kept: Kept, steps: int) -> None:
    """8 times 300 steps on one file: all rows are there, without a gap and without a lock error."""
    host(kept).close()

    runs = python(WRITING, kept.url or "", str(steps))

    found = kept.rows("SELECT run_id, count(*), min(seq), max(seq) FROM run_step GROUP BY run_id")
    assert sorted(row[0] for row in found) == sorted(runs)
    assert len(runs) == 8
    assert {row[1:] for row in found} == {(steps, 1, steps)}
    assert kept.rows("SELECT sum(lost) FROM run") == [(0,)]


def test_writers_of_one_run_take_numbers_in_turn(kept: Kept) -> None:
    """Two stores that write to the same run number its steps together, without a gap."""
    import threading

    with host(kept, echo()) as one, host(kept, echo()) as two:
        session = one.session(actor=ADA)
        session.call("echo", {"text": "x"})
        step = session.steps[0]

        def work(made: Any) -> None:
            for _ in range(50):
                made._state.store.step(step)

        threads = [threading.Thread(target=work, args=(made,)) for made in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert kept.rows("SELECT count(*), max(seq) FROM run_step") == [(101, 101)]
    assert kept.rows("SELECT lost FROM run") == [(0,)]
