"""The table and the JSON of one run, with the machine's bare Python beside them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import BARS, GROUPS, Bar, Measured
from benchmarks.start import started
from benchmarks.timing import interleave, repeated, wall
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CORE = ("attrs", "cattrs", "pluggy", "importlib-metadata", "orjson", "jsonschema-rs")
_HEADS = ("what", "measured", "must", "goal", "", "beside")


def machine() -> dict[str, Any]:
    """Say what this ran on, and how quick its bare Python is."""
    spent = interleave(
        {
            "start": started([sys.executable, "-I", "-S", "-c", "pass"], ROOT, dict(os.environ)),
            "call": repeated(lambda: None),
        },
        rounds=7,
        span_ms=5,
    )
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "load": [round(load, 1) for load in os.getloadavg()],
        "bare_start_ms": round(wall(spent["start"]) / 1e6, 2),
        "bare_call_ns": round(wall(spent["call"]), 1),
        "toolseam": version("toolseam"),
        "commit": _commit(),
        "libraries": {name: version(name) for name in _CORE},
    }


def _commit() -> str:
    try:
        words = ["git", "rev-parse", "--short", "HEAD"]
        said = subprocess.check_output(words, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.decode().strip()


def rows(measured: Iterable[Measured], groups: Iterable[str] = GROUPS) -> list[dict[str, Any]]:
    """Join what was promised of these groups with what was measured, in the table's order."""
    found = {each.key: each for each in measured}
    wanted = set(groups)
    return [_row(bar, found.get(bar.key)) for bar in BARS if bar.group in wanted]


def _row(bar: Bar, found: Measured | None) -> dict[str, Any]:
    value = None if found is None else found.value
    return {
        "key": bar.key,
        "what": bar.what,
        "value": value,
        "unit": bar.unit,
        "must": bar.must,
        "goal": bar.goal,
        "at": "least" if bar.least else "most",
        "measured": bar.shown(value),
        "verdict": bar.verdict(value),
        "beside": "" if found is None else found.beside,
    }


def table(rows: Iterable[Mapping[str, Any]], machine: Mapping[str, Any]) -> str:
    """Return the table as Markdown, after one line about the machine."""
    bars = {bar.key: bar for bar in BARS}
    lines = [
        "Python {python} on {cpus} cores, load {load[0]}; bare: a start {bare_start_ms} ms, "
        "an empty call {bare_call_ns} ns; toolseam {toolseam} {commit}, {day}".format(**machine),
        ", ".join(f"{name} {at}" for name, at in machine["libraries"].items()),
        "",
        "| " + " | ".join(_HEADS) + " |",
        "|---" * len(_HEADS) + "|",
    ]
    for row in rows:
        bar = bars[row["key"]]
        sign = "≥" if bar.least else "≤"
        limits = [
            f"{sign} {bar.shown(limit)}" if limit is not None else ""
            for limit in (bar.must, bar.goal)
        ]
        cells = [
            bar.what,
            row["measured"],
            *limits,
            row["verdict"],
            row["beside"].replace("|", "/"),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
