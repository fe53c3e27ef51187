"""Durable runs driven by real processes: a script of a run in its question, and tools that die."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.audit import TEXT
from support.tools import ADA, plugin
from toolseam import Host, ToolArtifact, ToolResult
from toolseam.providers import AssistantMessage, Finish, Reply, ToolCall, Usage, UserMessage
from toolseam.runs import Decision
from toolseam_plugins.durable import Durable

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam.providers import Request
    from toolseam_plugins.durable import DurableRun

TESTS = str(Path(__file__).parent.parent)
WAIT_S = 150.0
ENDED = ("completed", "failed", "cancelled", "held")


class Told:
    """A provider that any process can be: what to call stands in the question.

    Rounds are parted by `;`, calls of a round by `,`, a tool from its text by a blank.
    """

    name = "told"
    zone = "local"

    def complete(self, request: Request) -> Reply:
        """Answer with the calls of the round, and then with an end."""
        question = next(m.text for m in request.messages if type(m) is UserMessage)
        number = sum(type(message) is AssistantMessage for message in request.messages)
        asked, rounds = f"asked {number} of {question}", question.split(";")
        note(asked)
        if number >= len(rounds):
            return Reply("It is done.", usage=Usage(1, 1))
        if rounds[number] == "die":
            _die_unless_repeated(asked)
        words = [call.strip().partition(" ") for call in rounds[number].split(",")]
        calls = tuple(
            ToolCall(tool, {"text": text}, f"call_{position}")
            for position, (tool, _, text) in enumerate(words)
        )
        return Reply(calls=calls, finish=Finish.CALLS, usage=Usage(1, 1))


def log() -> Path:
    """Return the file in which every execution leaves a line."""
    return Path(os.environ["XDG_STATE_HOME"], "executions")


def executions(key: str) -> int:
    """Count how often something was executed."""
    with suppress(FileNotFoundError):
        return log().read_text().split("\n").count(key)
    return 0


def note(key: str) -> None:
    """Leave a line, as an execution does."""
    log().parent.mkdir(parents=True, exist_ok=True)
    with log().open("a") as file:
        file.write(f"{key}\n")


def _die_unless_repeated(key: str) -> None:
    if executions(key) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


class Odd(BaseException):
    """Nothing that a tool may raise."""


def _do(arguments: Any) -> ToolResult:
    """Leave a line; die before it or after it, raise, sleep or wait, if the text says so."""
    key, _, how = arguments["text"].partition(" ")
    if how == "dying before":
        os.kill(os.getpid(), signal.SIGKILL)
    note(key)
    if how == "dying":
        _die_unless_repeated(key)
    elif how == "raising":
        raise Odd
    elif how.startswith("until "):
        wait_for(how.removeprefix("until "))
    elif how:
        time.sleep(float(how))
    return ToolResult.text(f"did {key}")


def _preview(arguments: Any) -> ToolResult:
    # What it says once the write is done is not what was approved.
    key = arguments["text"].partition(" ")[0]
    return ToolResult.text(f"{key} was done {executions(key)} times")


def read() -> Any:
    """Return a tool that reads."""
    return plugin(_do, name="read", parameters=TEXT, data_class="editor_content")


def write() -> Any:
    """Return a tool that writes."""
    more = {"effect": "non_idempotent_write", "parameters": TEXT, "preview": _preview}
    return plugin(_do, name="write", **more)


def _artifact(arguments: Any) -> ToolResult:
    """Give a text on every channel that no provider sees."""
    shown = ToolArtifact.text("shown", arguments["text"])
    said = {"said": arguments["text"]}
    return ToolResult.text("shown", shown, data=said, metadata=said)


def host(*plugins: Any, **settings: Any) -> Host:
    """Return a host with these tools."""
    artifact = plugin(_artifact, name="artifact", parameters=TEXT)
    return Host(tools=[read(), write(), artifact], plugins=plugins, settings=settings)


@contextmanager
def durable(url: str, *plugins: Any, **settings: Any) -> Generator[Durable]:
    """Give durable runs on a database."""
    with host(*plugins, **settings) as made:
        found = Durable(made, url, providers={"told": Told()})
        try:
            yield found
        finally:
            found.close()


# Imports all once, and forks a keeper of workers for each connection; ends with who began it.
_NURSERY = """
import json, os, select, signal, socket, sys, time, traceback
from pathlib import Path
import dbos, psycopg, cryptography.hazmat.primitives.ciphers.aead
from support.durable import drive
from support.forking import die_with
from toolseam_plugins import audit
from toolseam_plugins.durable import _durable, _journal, _records, _retention, _store, _worker

def fork(does, *what):
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with(parent)
        does(*what)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)

def keep(door, connection, asked):
    door.close()
    pids, count, environment, how = json.loads(asked)
    os.environ.clear()
    os.environ.update(environment)
    pids = Path(pids)

    def work():
        connection.close()
        drive(*how)

    def tell():
        temporary = pids.with_suffix(".new")
        temporary.write_text(" ".join(map(str, [deaths, *running])))
        temporary.rename(pids)

    deaths, running = 0, [fork(work) for _ in range(count)]
    tell()
    while not select.select([connection], [], [], 0.05)[0]:
        gone, _ = os.waitpid(-1, os.WNOHANG)
        if gone:
            deaths += 1
            time.sleep(0.1)
            running[running.index(gone)] = fork(work)
            tell()
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    connection.sendall(b"ended")

die_with(int(sys.argv[1]))
door = socket.socket(fileno=int(sys.argv[2]))
while True:
    connection, _ = door.accept()
    with connection:
        # What a file of it holds open would stay so in every worker.
        with connection.makefile() as words:
            asked = words.readline()
        fork(keep, door, connection, asked)
    while True:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                break
        except ChildProcessError:
            break
"""


@cache
def _nursery() -> str:
    """Start the process that forks workers, once, and return where it is asked for them."""
    place = str(Path(tempfile.mkdtemp(prefix="toolseam-nursery-")) / "door")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        begun = subprocess.Popen(
            [sys.executable, "-c", _NURSERY, str(os.getpid()), str(door.fileno())],
            env=os.environ | {"PYTHONPATH": TESTS},
            pass_fds=[door.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(_end, begun, place, os.getpid())
    return place


def _end(begun: subprocess.Popen[bytes], place: str, owner: int) -> None:
    """End it and remove its folder, but not in a child that a test forked."""
    if os.getpid() == owner:
        begun.kill()
        begun.wait()
        shutil.rmtree(Path(place).parent, ignore_errors=True)


def drive(url: str, audited: str, concurrency: int, attempts: int) -> None:
    """Be a worker; with an `audited` of `watched` its store leaves lines, and dies when told to."""
    from support.dying import Watched
    from toolseam_plugins import audit

    plugins: list[Any] = [audit] if audited else []
    settings = {"audit": {"database": audited}} if audited else {}
    if audited == "watched":
        plugins, settings = [Watched()], {}
    with durable(url, *plugins, **settings) as found:
        found.work(concurrency, attempts=attempts)


class Workers:
    """So many workers, forked from one that has imported all; whichever dies is replaced."""

    def __init__(self, url: str, count: int, audited: str, *how: int) -> None:
        self._pids = log().with_name(f"workers-{uuid.uuid4().hex}")
        self._pids.parent.mkdir(parents=True, exist_ok=True)
        place = _nursery()
        self._keeper = socket.socket(socket.AF_UNIX)
        self._keeper.settimeout(WAIT_S)
        self._keeper.connect(place)
        asked = str(self._pids), count, dict(os.environ), (url, audited, *how)
        self._keeper.sendall(json.dumps(asked).encode() + b"\n")

    @property
    def deaths(self) -> int:
        """How many died so far."""
        return self._told()[0]

    @property
    def pids(self) -> list[int]:
        """Those that run."""
        return self._told()[1:]

    def kill(self, number: int) -> None:
        """Kill one, wherever it is."""
        pids = self.pids
        if pids:
            with suppress(ProcessLookupError):
                os.kill(pids[number % len(pids)], signal.SIGKILL)

    def stop(self) -> None:
        """End all of them; their keeper says so only where it did not break meanwhile."""
        with self._keeper:
            self._keeper.shutdown(socket.SHUT_WR)
            assert self._keeper.recv(5) == b"ended"

    def _told(self) -> list[int]:
        with suppress(FileNotFoundError):
            return list(map(int, self._pids.read_text().split()))
        return [0]


@contextmanager
def workers(
    url: str, count: int = 1, *, audited: str = "", concurrency: int = 4, attempts: int = 25
) -> Generator[Workers]:
    """Give workers that are replaced whenever one dies."""
    kept = Workers(url, count, audited, concurrency, attempts)
    try:
        yield kept
    finally:
        kept.stop()


@contextmanager
def working(found: Durable) -> Generator[None]:
    """Be a worker here, in a thread, until it is told to stop."""
    until = threading.Event()
    thread = threading.Thread(target=found.work, kwargs={"until": until})
    thread.start()
    try:
        yield
    finally:
        until.set()
        thread.join(60)
        assert not thread.is_alive()


def wait(found: Durable, run_id: str, *status: str) -> DurableRun:
    """Wait until a run stands so, and return it as it stands then, or after a long time."""
    until = time.monotonic() + WAIT_S
    while True:
        run = found.status(run_id)
        if run.status in status or time.monotonic() > until:
            return run
        time.sleep(0.05)


def wait_for(key: str) -> None:
    """Wait until something has begun to be executed, or a long time."""
    until = time.monotonic() + WAIT_S
    while not executions(key) and time.monotonic() < until:
        time.sleep(0.02)


def approve(found: Durable, run_id: str) -> DurableRun:
    """Approve every call of a run that waits."""
    waiting = found.host.session().waiting(run_id)
    said = [Decision.approve(each, actor=ADA) for each in waiting if each.needs_approval]
    return found.decide(run_id, said)
