"""How discovery grows with what else is installed, against `importlib.metadata`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured
from benchmarks.place import write_distribution, write_others
from benchmarks.subject import TOOLS
from benchmarks.timing import Case, Rounds, Spent, extra, interleave
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_MORE = 500
_OURS = """
from toolseam._discovery import discover
from toolseam._selection import Selection
chosen = Selection(trust=["toolset"])
def look():
    return [r for r in discover(chosen, path=[folder]).records if r.status == "found"]
"""
_THEIRS = """
from importlib.metadata import entry_points
def look():
    sys.path[:] = [folder]
    return entry_points(group="toolseam.tools")
"""
_TIMED = """
from time import process_time_ns
start = process_time_ns()
found = look()
spent = process_time_ns() - start
assert len(found) == {tools}, found
print(spent)
"""


def measure(effort: Effort) -> Iterator[Measured]:
    """Look once in a fresh process, with and without many other distributions around."""
    with tempfile.TemporaryDirectory() as name:
        alone, among = Path(name, "alone"), Path(name, "among")
        points = "".join(f"bench_{number} = toolset.tool\n" for number in range(TOOLS))
        for folder in (alone, among):
            write_distribution(folder, "toolset", f"[toolseam.tools]\n{points}")
        write_others(among, _MORE)
        cases = {
            "ours alone": _look(_OURS, alone),
            "ours among": _look(_OURS, among),
            "theirs alone": _look(_THEIRS, alone),
            "theirs among": _look(_THEIRS, among),
        }
        spent = interleave(cases, rounds=effort.starts, span_ms=0)
    ours, theirs = (
        _slope(spent[f"{who} among"], spent[f"{who} alone"]) for who in ("ours", "theirs")
    )
    yield Measured("discovery.slope", ours, f"from 0 to {_MORE} further distributions")
    yield Measured("discovery.share", ours / theirs, f"`importlib.metadata` {theirs:.3g} µs")


def _slope(among: Rounds, alone: Rounds) -> float:
    return extra(among, alone) / 1e3 / _MORE


def _look(how: str, folder: Path) -> Case:
    source = f"import sys\nfolder = {str(folder)!r}\n{how}{_TIMED.format(tools=TOOLS)}"

    def case(count: int) -> Spent:
        spent = 0
        for _ in range(count):
            spent += int(subprocess.check_output([sys.executable, "-c", source], cwd=ROOT))
        return Spent(spent / count, spent / count)

    return case
