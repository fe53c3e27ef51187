"""Instructions per call under callgrind: repeatable on a machine that is busy with other things."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTED = "Collected : "


def measure(effort: Effort) -> Iterator[Measured]:
    """Count the raw hook and both forms of the tool, and report them in raw hooks."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        for form in ("schema", "attrs"):
            yield Measured(f"instructions.{form}", None, "valgrind is not installed")
        return
    hook = _per_call(valgrind, "hook", effort)
    for form in ("schema", "attrs"):
        count = _per_call(valgrind, form, effort)
        beside = f"{count:,.0f} instructions; the hook {hook:,.0f}"
        if form == "schema":
            awaited = _per_call(valgrind, "acall", effort)
            beside += f"; `acall` {awaited / count:.3g} × `call`"
        yield Measured(f"instructions.{form}", count / hook, beside)


def _per_call(valgrind: str, name: str, effort: Effort) -> float:
    """Run twice with different counts: what the start costs falls out of the difference."""
    less, more = effort.instructions
    few, many = (_counted(valgrind, name, count) for count in (less, more))
    return (many - few) / (more - less)


def _counted(valgrind: str, name: str, count: int) -> int:
    done = subprocess.run(
        [
            *(valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"),
            *(sys.executable, "-m", "benchmarks.repeat", name, str(count)),
        ],
        cwd=ROOT,
        env=dict(os.environ, PYTHONHASHSEED="0"),
        capture_output=True,
        text=True,
        check=False,
    )
    _, found, rest = done.stderr.partition(_COUNTED)
    if done.returncode != 0 or not found:
        raise RuntimeError(f"callgrind: {done.stderr[-300:]}")
    return int(rest.split(maxsplit=1)[0])
