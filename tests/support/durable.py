"""Durable runs driven by real processes: a script of a run in its question, and tools that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.audit import TEXT, echo
from support.tools import ADA, plugin
from toolseam import Host, ToolResult
from toolseam.providers import AssistantMessage, Finish, Reply, ToolCall, Usage, UserMessage
from toolseam.runs import Decision
from toolseam_plugins.durable import Durable

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam.providers import Request
    from toolseam_plugins.durable import DurableRun

TESTS = str(Path(__file__).parent.parent)
WAIT_S = 60.0
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
        rounds = question.split(";")
        if number >= len(rounds):
            return Reply("It is done.", usage=Usage(1, 1))
        asked = [call.strip().partition(" ") for call in rounds[number].split(",")]
        if asked[0][0] == "die":
            _die_once(asked[0][2])
            return Reply("It died.", usage=Usage(1, 1))
        calls = tuple(
            ToolCall(tool, {"text": text}, f"call_{position}")
            for position, (tool, _, text) in enumerate(asked)
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


def _note(key: str) -> None:
    log().parent.mkdir(parents=True, exist_ok=True)
    with log().open("a") as file:
        file.write(f"{key}\n")


def _die_once(key: str) -> None:
    """Kill this process, the first time that it is asked to with this key."""
    _note(key)
    if executions(key) == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def _do(arguments: Any) -> ToolResult:
    """Leave a line; die before it or after it, or sleep, if the text says so."""
    key, _, how = arguments["text"].partition(" ")
    if how == "dying before":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "dying":
        _die_once(key)
    elif how:
        _note(key)
        time.sleep(float(how))
    else:
        _note(key)
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


def host(*plugins: Any, **settings: Any) -> Host:
    """Return a host with these tools."""
    return Host(tools=[echo(), read(), write()], plugins=plugins, settings=settings)


@contextmanager
def durable(url: str, *plugins: Any, **settings: Any) -> Generator[Durable]:
    """Give durable runs on a database."""
    with host(*plugins, **settings) as made:
        found = Durable(made, url, providers={"told": Told()})
        try:
            yield found
        finally:
            found.close()


_WORKER = """
import sys
from support.durable import durable
from toolseam_plugins import audit
plugins = [audit] if sys.argv[2] else []
settings = {"audit": {"database": sys.argv[2]}} if sys.argv[2] else {}
with durable(sys.argv[1], *plugins, **settings) as found:
    found.work(int(sys.argv[3]))
"""


def worker(url: str, *, audit: str = "", concurrency: int = 4) -> subprocess.Popen[bytes]:
    """Start a worker; it ends with its parent at the latest."""
    words = "import ctypes\nctypes.CDLL(None).prctl(1, 9)\n" + _WORKER
    environ = os.environ | {"PYTHONPATH": TESTS}
    command = [sys.executable, "-c", words, url, audit, str(concurrency)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)


@contextmanager
def workers(url: str, count: int = 1, **how: Any) -> Generator[Workers]:
    """Give workers that are started again whenever one dies."""
    kept = Workers(url, count, how)
    try:
        yield kept
    finally:
        kept.stop()


class Workers:
    """So many workers: one that died is replaced when somebody looks."""

    def __init__(self, url: str, count: int, how: dict[str, Any]) -> None:
        self._url = url
        self._how = how
        self.deaths = 0
        self.running = [worker(url, **how) for _ in range(count)]

    def look(self) -> None:
        """Replace those that died."""
        for number, each in enumerate(self.running):
            if each.poll() is not None:
                self.deaths += 1
                self.running[number] = worker(self._url, **self._how)

    def kill(self, number: int) -> None:
        """Kill one, wherever it is."""
        self.running[number].kill()
        self.running[number].wait()

    def stop(self) -> None:
        """End all of them."""
        for each in self.running:
            each.kill()
        for each in self.running:
            each.wait()


def wait(found: Durable, run_id: str, *status: str, kept: Workers | None = None) -> DurableRun:
    """Wait until a run stands so, and return it as it stands then, or after a minute."""
    until = time.monotonic() + WAIT_S
    while True:
        run = found.status(run_id)
        if run.status in status or time.monotonic() > until:
            return run
        if kept is not None:
            kept.look()
        time.sleep(0.05)


def approve(found: Durable, run_id: str) -> DurableRun:
    """Approve every call of a run that waits."""
    waiting = found.host.session().waiting(run_id)
    said = [Decision.approve(each, actor=ADA) for each in waiting if each.needs_approval]
    return found.decide(run_id, said)
