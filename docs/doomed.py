"""Tools that come to grief, each in a way of its own: what `docs/kills.py` runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from toolseam import ToolResult, ToolSpec, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = dict[str, str]


def kill() -> None:
    """End the process as the kernel would when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    """Leave without a word."""
    os._exit(0)


def spin() -> None:
    """Use processor time without end."""
    while True:
        pass


def allocate() -> None:
    """Take memory without end."""
    held: list[bytearray] = []
    while True:
        held.append(bytearray(64 * 1024 * 1024))


def sleep() -> None:
    """Wait for longer than anybody would, deaf to what asks it to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def babble() -> None:
    """Write into every descriptor that is open."""
    for number in range(3, 20):
        try:
            os.write(number, b"what is this?" * 10)
        except OSError:
            continue


def close() -> None:
    """Close every descriptor that is open."""
    os.closerange(0, 1_000)


def fork() -> None:
    """Come back twice, the second time as a daemon."""
    if os.fork() == 0:
        os.setsid()


def nothing() -> None:
    """Do nothing."""


ENDS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (kill, leave, spin, allocate, sleep, babble, close, fork, nothing)
}


class Doomed:
    """A tool that notes that it began, and that it took effect, in a file."""

    def __init__(self, name: str, effect: str) -> None:
        parameters = {
            "properties": {each: {"type": "string"} for each in ("file", "before", "after")},
            "required": ["file"],
        }
        self._spec = ToolSpec(
            name=name,
            description="Note that it began, then that it took effect.",
            parameters=parameters,
            effect=effect,
            data_class="public_content",
        )

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe it."""
        return self._spec

    @hookimpl
    def preview(self, arguments: Arguments) -> ToolResult:
        """Say what it would do."""
        return ToolResult.text(f"notes in {arguments['file']}")

    @hookimpl
    def execute(self, arguments: Arguments) -> ToolResult:
        """Note, come to grief, take effect, come to grief."""
        with Path(arguments["file"]).open("a") as notes:
            notes.write("began\n")
        ENDS[arguments.get("before", "nothing")]()
        with Path(arguments["file"]).open("a") as notes:
            notes.write("effect\n")
        ENDS[arguments.get("after", "nothing")]()
        return ToolResult.text("done")


looks = Doomed("looks", "read_only")
changes = Doomed("changes", "non_idempotent_write")
