"""A call through the seam against a call through each peer's own, in one interleaved run."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bars import Effort, Measured
from benchmarks.environments import NoPeer, interpreter, peers
from benchmarks.timing import Case, cpu, interleave, ratio
from benchmarks.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator


def measure(effort: Effort) -> Iterator[Measured]:
    """Run all of them, each in an interpreter of its own, and compare processor time."""
    if effort.peers is None:
        yield from (Measured(f"peers.{peer.name}", None, "without peers") for peer in peers())
        return
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(sys.executable, "benchmarks.ours", "toolseam"))
        cases: dict[str, Case] = {name: ours.case(name) for name in ("schema", "attrs", "acall")}
        versions: dict[str, str] = {}
        for peer in peers():
            try:
                python = interpreter(peer, Path(effort.peers))
                worker = stack.enter_context(Worker(python, peer.module, peer.distribution))
            except (NoPeer, RuntimeError) as error:
                yield Measured(f"peers.{peer.name}", None, str(error))
            else:
                cases[peer.name] = worker.case(worker.names[0])
                versions[peer.name] = worker.version
        spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    for name, version in versions.items():
        attrs, awaited = (ratio(spent[name], spent[form]) for form in ("attrs", "acall"))
        beside = f"{version}: {cpu(spent[name]) / 1e3:.3g} µs; attrs tool 1/{attrs:.3g}"
        beside += f", `acall` 1/{awaited:.3g}"
        yield Measured(f"peers.{name}", ratio(spent["schema"], spent[name]), beside)
