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


def measure(effort: Effort) -> Iterator[Measured]:
    """Start everything once a round, and compare processor time (wall beside it)."""
    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder))
        _check(place)
        yield from _ours(place, effort)
        yield _against_peers(place, effort)


def _ours(place: Place, effort: Effort) -> Iterator[Measured]:
    cases = {name: _warm(case) for name, case in _our_cases(place).items()}
    spent = interleave(cases, rounds=effort.starts, span_ms=0)
    bare = spent["bare"]
    for name in ("import", "list", "load"):
        wide = wall_ratio(spent[name], bare)
        beside = f"{cpu(spent[name]) / 1e6:.3g} ms; by the wall {wide:.3g} ×"
        if name == "import":
            beside += f"; bare {cpu(bare) / 1e6:.3g} ms, wall {wall(bare) / 1e6:.3g} ms"
        yield Measured(f"start.{name}", ratio(spent[name], bare), beside)


def _against_peers(place: Place, effort: Effort) -> Measured:
    if effort.peers is None:
        return Measured("start.peer", None, "without peers")
    cases: dict[str, Case] = {}
    missing: list[str] = []
    for peer in peers():
        try:
            python = interpreter(peer, Path(effort.peers))
            words = [str(python), "-c", f"from {peer.module} import listing; listing()"]
            case = started(words, ROOT, place.environ)
            case(1)
            cases[peer.name] = case
        except (NoPeer, RuntimeError) as error:
            missing.append(f"{peer.name}: {error}")
    if not cases:
        return Measured("start.peer", None, "; ".join(missing))
    load = {"load": _our_cases(place)["load"]}
    spent = interleave(cases | load, rounds=effort.starts, span_ms=0)
    shares = {name: ratio(spent["load"], spent[name]) for name in cases}
    quickest = max(shares, key=lambda name: shares[name])
    beside = ", ".join(f"{name} 1/{1 / share:.3g}" for name, share in shares.items())
    said = "; ".join([f"{quickest} is the quickest: {beside}", *missing])
    return Measured("start.peer", shares[quickest], said)


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


def _warm(case: Case) -> Case:
    """Start once unmeasured each time, so that everybody finds what it reads in the caches."""

    def warmed(count: int) -> Spent:
        case(1)
        return case(count)

    return warmed


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
