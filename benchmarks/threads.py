"""Throughput of eight threads against that of one, by the clock on the wall."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured
from benchmarks.ours import Search, caller
from benchmarks.timing import interleave, repeated, timed, wall_ratio
from toolseam import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_THREADS = 8


def measure(effort: Effort) -> Iterator[Measured]:
    """Make the same number of calls on one thread and on eight."""
    ready = ToolResult.text("x")

    def sleep() -> ToolResult:
        time.sleep(0.001)
        return ready

    with ThreadPoolExecutor(_THREADS) as pool:
        for name, build in (("trivial", lambda: ready), ("sleeping", sleep)):
            call = caller(Search(build))
            cases = {"one": repeated(call), "eight": timed(_spread(call, pool))}
            # So long that handing the work to the threads does not count.
            spent = interleave(cases, rounds=effort.rounds, span_ms=6 * effort.span_ms)
            yield Measured(f"threads.{name}", wall_ratio(spent["one"], spent["eight"]))


def _spread(call: Callable[[], object], pool: ThreadPoolExecutor) -> Callable[[int], None]:
    def part(count: int) -> None:
        for _ in range(count):
            call()

    def loop(count: int) -> None:
        share, rest = divmod(count, _THREADS)
        shares = [share + (number < rest) for number in range(_THREADS)]
        list(pool.map(part, shares))

    return loop
