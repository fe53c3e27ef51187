"""What it costs to refuse a value that was made to exhaust us, against the largest legal one.

Each value is tried in a forked child with a limit of memory and time: a crash or a hang is that
child's end, and the row's.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from benchmarks.bars import Effort, Measured
from benchmarks.ours import Search, caller
from benchmarks.timing import interleave, ratio, repeated
from toolseam import ContractViolation, ToolArtifact, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

_MEMORY = 3 << 30
_SECONDS = 60
_LEGAL_DATA = [0] * 24_999
_LEGAL_ROWS = [["0"]] * 8_300


def _deep(wrap: Callable[[Any], Any]) -> Any:
    return reduce(lambda value, _: wrap(value), range(100_000), 0)


def _shared() -> Any:
    return reduce(lambda value, _: [value, value], range(60), cast("Any", "x"))


def _cycle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


VALUES: dict[str, Callable[[], Any]] = {
    "5 MB of text": lambda: "x" * 5_000_000,
    "5 MB of surrogates": lambda: "\ud800" * 5_000_000,
    "100,000 deep list": lambda: _deep(lambda value: [value]),
    "100,000 deep tuple": lambda: _deep(lambda value: (value,)),
    "100,000 deep dict": lambda: _deep(lambda value: {"a": value}),
    "cycle": _cycle,
    "2^60 shared leaves": _shared,
    "integer of 10^6 digits": lambda: 10**1_000_000,
    "NaN in the last cell": lambda: [*_LEGAL_DATA[1:], math.nan],
    "2 million integers": lambda: [0] * 2_000_000,
}


def measure(effort: Effort) -> Iterator[Measured]:
    """Try every value in every channel, and report the dearest."""
    found: dict[str, float] = {}
    for name in VALUES:
        ratios = _apart(name, effort)
        if isinstance(ratios, str):
            yield Measured("hostile.worst", math.inf, f"{name}: {ratios}")
            return
        found |= {f"{name} as {channel}": times for channel, times in ratios.items()}
    dearest = sorted(found, key=lambda key: found[key], reverse=True)
    beside = ", ".join(f"{name} {found[name]:.2g} ×" for name in dearest[:3])
    yield Measured("hostile.worst", found[dearest[0]], f"{beside}; {len(found)} tried")


def _apart(name: str, effort: Effort) -> dict[str, float] | str:
    """Return the ratio of each channel, or how the child ended."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_try, args=(name, effort, there))
    child.start()
    there.close()
    try:
        if not here.poll(_SECONDS):
            child.kill()
            return f"no end in {_SECONDS} s"
        ratios: dict[str, float] = here.recv()
    except EOFError:
        child.join()
        return f"the child ended with {child.exitcode}"
    child.join()
    return ratios


def _try(name: str, effort: Effort, answer: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    value = VALUES[name]()
    cases = {
        "data": repeated(lambda: _data(value)),
        "legal data": repeated(lambda: _data(_LEGAL_DATA)),
        "rows": repeated(_shown(value)),
        "cell": repeated(_shown([[value]])),
        "legal rows": repeated(_shown(_LEGAL_ROWS)),
    }
    spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    answer.send(
        {
            "data": ratio(spent["data"], spent["legal data"]),
            "rows": ratio(spent["rows"], spent["legal rows"]),
            "a cell": ratio(spent["cell"], spent["legal rows"]),
        }
    )


def _data(value: Any) -> ToolResult | None:
    try:
        return ToolResult.text("ok", data=value)
    except ContractViolation:
        return None


def _shown(rows: Any) -> Callable[[], ToolResult]:
    """Return a whole call whose tool puts a table together by hand."""
    data = {"columns": ["c"], "rows": rows}
    return caller(Search(lambda: ToolResult.text("ok", ToolArtifact("table", "rows", data))))
