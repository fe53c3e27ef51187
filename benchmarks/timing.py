"""Time that calls take: interleaved rounds, medians, ratios of the same round.

A busy machine slows everything down for seconds at a time. What was measured within the same
round shares that, so a ratio is taken round by round, and then the median of the ratios.
The standard library only: peers' interpreters import this too.
"""

from __future__ import annotations

from itertools import repeat
from random import Random
from statistics import median
from time import perf_counter_ns, process_time_ns
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Awaitable, Callable, Mapping

_MOST = 2_000_000


class Spent(NamedTuple):
    """What one call took, in nanoseconds: of the processor, and by the clock on the wall."""

    cpu: float
    wall: float


Case: TypeAlias = "Callable[[int], Spent]"
Rounds: TypeAlias = "list[Spent]"


def timed(loop: Callable[[int], object]) -> Case:
    """Time a function that makes as many calls as it is told."""

    def case(count: int) -> Spent:
        wall, cpu = perf_counter_ns(), process_time_ns()
        loop(count)
        cpu, wall = process_time_ns() - cpu, perf_counter_ns() - wall
        return Spent(cpu / count, wall / count)

    return case


def repeated(call: Callable[[], object]) -> Case:
    """Time a call made again and again."""

    def loop(count: int) -> None:
        for _ in repeat(None, count):
            call()

    return timed(loop)


def awaited(call: Callable[[], Awaitable[object]], runner: Runner) -> Case:
    """Time a call awaited again and again in one event loop, as a server would."""

    async def loop(count: int) -> Spent:
        wall, cpu = perf_counter_ns(), process_time_ns()
        for _ in repeat(None, count):
            await call()
        cpu, wall = process_time_ns() - cpu, perf_counter_ns() - wall
        return Spent(cpu / count, wall / count)

    # Timed inside: entering the loop costs as much as many calls.
    return lambda count: runner.run(loop(count))


def fitting(case: Case, span_ms: float) -> int:
    """Return how many calls take about `span_ms`."""
    count = 1
    case(1)
    while True:
        taken = max(case(count).wall * count, 1.0)
        if taken >= span_ms * 2e5 or count >= _MOST:
            return max(1, min(_MOST, int(count * span_ms * 1e6 / taken)))
        count = min(_MOST, max(2 * count, int(count * min(10, span_ms * 3e5 / taken))))


def interleave(
    cases: Mapping[str, Case], *, rounds: int, span_ms: float, alike: bool = False
) -> dict[str, Rounds]:
    """Measure every case once a round, in an order that changes.

    Who runs behind a large neighbour finds cold caches; nobody may always be that one.

    Args:
        cases: by name.
        rounds: how many.
        span_ms: what a case takes in a round, by the wall.
        alike: make as many calls of each as of the one that is called most. The first calls of
            a round are the dearest, and a machine that is busy for a moment makes a span short.
    """
    counts = {name: fitting(case, span_ms) for name, case in cases.items()}
    if alike:
        counts = dict.fromkeys(counts, max(counts.values()))
    spent: dict[str, Rounds] = {name: [] for name in cases}
    names, order = list(cases), Random(1)  # noqa: S311 - an order, no secret
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            spent[name].append(cases[name](counts[name]))
    return spent


def ratio(over: Rounds, under: Rounds) -> float:
    """Return the median of the same-round ratios of processor time."""
    return median(a.cpu / b.cpu for a, b in zip(over, under, strict=True))


def wall_ratio(over: Rounds, under: Rounds) -> float:
    """Return the median of the same-round ratios of wall time."""
    return median(a.wall / b.wall for a, b in zip(over, under, strict=True))


def extra(more: Rounds, less: Rounds) -> float:
    """Return the median of the same-round differences of processor time, in nanoseconds."""
    return median(a.cpu - b.cpu for a, b in zip(more, less, strict=True))


def extra_ratio(more: Rounds, less: Rounds, unit: Rounds) -> float:
    """Return the median of the same-round differences of processor time, in `unit`."""
    return median((a.cpu - b.cpu) / c.cpu for a, b, c in zip(more, less, unit, strict=True))


def cpu(rounds: Rounds) -> float:
    """Return the median processor time of a call, in nanoseconds."""
    return median(spent.cpu for spent in rounds)


def wall(rounds: Rounds) -> float:
    """Return the median wall time of a call, in nanoseconds."""
    return median(spent.wall for spent in rounds)
