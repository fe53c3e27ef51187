"""A million calls in one process: what it holds after the first of them, and after the last.

`python -m benchmarks.endurance CALLS` makes them in an interpreter of their own.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import Effort, Measured
from benchmarks.ours import Search
from benchmarks.subject import ARGUMENTS
from toolseam import Actor, Host, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).parent.parent
_ADA = Actor("ada")
_WARM = 10
"""The part of the calls after which all that is kept is there."""


def measure(effort: Effort) -> Iterator[Measured]:
    """Make the calls in an interpreter that does nothing else."""
    words = [sys.executable, "-m", "benchmarks.endurance", str(effort.calls)]
    said = json.loads(subprocess.check_output(words, cwd=_ROOT))
    before, after = said["before"], said["after"]
    beside = f"{effort.calls:,} calls; {before['memory']:.4g} MB after a tenth of them"
    if said["before"]["memory"] is None:
        yield Measured("endurance.memory", None, "needs /proc")
    else:
        yield Measured("endurance.memory", after["memory"] - before["memory"], beside)
    for what in ("descriptors", "threads"):
        if before[what] is None:
            yield Measured(f"endurance.{what}", None, "needs /proc")
        else:
            grown = after[what] - before[what]
            yield Measured(f"endurance.{what}", grown, f"{before[what]} after a tenth of them")


def _held() -> dict[str, Any]:
    """Return what this process holds: resident memory in MB, descriptors, threads."""
    gc.collect()
    proc = Path("/proc/self")
    if not (proc / "statm").exists():
        return {"memory": None, "descriptors": None, "threads": threading.active_count()}
    pages = int((proc / "statm").read_text().split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "descriptors": len(list((proc / "fd").iterdir())),
        "threads": threading.active_count(),
    }


def endure(calls: int) -> dict[str, Any]:
    """Make the calls in turns of a thousand, every way there is, and look twice."""
    turns = max(2, calls // 1_000)
    host = Host(tools=[Search(lambda: ToolResult.text("x" * 100, data={"hits": 3}))])
    session = host.session(actor=_ADA, keep=100)
    held: dict[str, Any] = {}
    with host, asyncio.Runner() as runner:
        for turn in range(turns):
            _make(host, session, runner)
            if turn == max(1, turns // _WARM):
                held["before"] = _held()
        held["after"] = _held()
    return held


def _make(host: Host, session: Any, runner: asyncio.Runner) -> None:
    """Make a thousand calls: most by the host, some in a conversation, awaited, or refused."""
    for _ in range(600):
        host.call("search", ARGUMENTS, actor=Actor.system)
    for number in range(200):
        session.call("search", {**ARGUMENTS, "query": str(number)})
    for _ in range(99):
        session.call_wire("search", '{"query": "a", "path": "b", "limit": 1}')
    host.call("search", ARGUMENTS, actor=_ADA, timeout=5)

    async def awaited() -> None:
        for _ in range(50):
            await host.acall("search", ARGUMENTS, actor=_ADA)
        await asyncio.gather(*(session.acall("search", ARGUMENTS) for _ in range(30)))

    runner.run(awaited())
    for number in range(10):
        host.call(f"no_such_tool_{number}", actor=_ADA)
        host.call("search", {"query": number}, actor=_ADA)


if __name__ == "__main__":
    print(json.dumps(endure(int(sys.argv[1]))))
