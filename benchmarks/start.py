"""Cold start: whole processes, each against `python -c pass` of the same round."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured
from benchmarks.environments import NoPeer, interpreter, peers
from benchmarks.place import Place, make_place
from benchmarks.subject import TOOLS
from benchmarks.timing import Case, Spent, cpu, interleave, ratio, wall, wall_ratio
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = {"import": "`import toolseam`", "list": "list", "load": "list --load"}


def measure(effort: Effort) -> Iterator[Measured]:
    """Start everything once a round, and compare processor time (wall beside it)."""
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder))
        _check(place)
        cases = _our_cases(place)
        missing = ["without peers"] if effort.peers is None else []
        if effort.peers is not None:
            for peer in peers():
                try:
                    python = interpreter(peer, Path(effort.peers))
                    words = [str(python), "-c", f"from {peer.module} import listing; listing()"]
                    cases[peer.name] = started(words, ROOT, place.environ)
                    cases[peer.name](1)
                except (NoPeer, RuntimeError) as error:
                    cases.pop(peer.name, None)
                    missing.append(f"{peer.name}: {error}")
        spent = interleave(cases, rounds=effort.starts, span_ms=0)
    bare = spent["bare"]
    for name in _OURS:
        beside = (
            f"{cpu(spent[name]) / 1e6:.3g} ms; by the wall {wall_ratio(spent[name], bare):.3g} ×"
        )
        if name == "import":
            beside += f"; bare {cpu(bare) / 1e6:.3g} ms, wall {wall(bare) / 1e6:.3g} ms"
        yield Measured(f"start.{name}", ratio(spent[name], bare), beside)
    listings = {name: ratio(spent[name], bare) for name in cases if name not in {*_OURS, "bare"}}
    quickest = min(listings, key=lambda name: listings[name], default=None)
    if quickest is None:
        yield Measured("start.peer", None, "; ".join(missing))
        return
    beside = ", ".join(f"{name} {times:.3g} ×" for name, times in listings.items())
    beside = f"{quickest} is the quickest; against bare: {'; '.join([beside, *missing])}"
    yield Measured("start.peer", ratio(spent["load"], spent[quickest]), beside)


def _our_cases(place: Place) -> dict[str, Case]:
    python, script = str(place.python), str(place.script)
    words = {
        "bare": [python, "-c", "pass"],
        "import": [python, "-c", "import toolseam"],
        "list": [python, script, "list"],
        "load": [python, script, "list", "--load"],
    }
    return {name: started(line, place.workspace, place.environ) for name, line in words.items()}


def _check(place: Place) -> None:
    """Stop unless the listings show what they are measured for."""
    for words, status in ((["list"], "found"), (["list", "--load"], "ready")):
        done = subprocess.run(
            [place.python, place.script, *words],
            cwd=place.workspace,
            env=place.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        shown = [line for line in done.stdout.splitlines() if line.split("\t")[1] == status]
        if len(shown) != TOOLS:
            raise RuntimeError(f"{' '.join(words)} shows {len(shown)} tools:\n{done.stdout}")


def started(words: list[str], folder: Path, environ: dict[str, str]) -> Case:
    """Time a process from its start to its end; the processor time is the child's own."""

    def case(count: int) -> Spent:
        used, start = 0.0, perf_counter_ns()
        for _ in range(count):
            child = subprocess.Popen(
                words, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            assert child.stderr is not None
            said = child.stderr.read()
            child.stderr.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                raise RuntimeError(said.decode("utf-8", "replace")[-300:].strip())
            used += usage.ru_utime + usage.ru_stime
        return Spent(used * 1e9 / count, (perf_counter_ns() - start) / count)

    return case
