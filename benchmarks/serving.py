"""A call through our MCP server against one through FastMCP's and the SDK's, on one payload."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bars import SERVING, Effort, Measured
from benchmarks.environments import NoPeer, interpreter, peers
from benchmarks.servers.piped import Piped
from benchmarks.timing import Case, cpu, interleave, ratio, repeated, wall, wall_ratio
from benchmarks.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

_OURS = "benchmarks.servers.ours"
_MODULES = {"fastmcp": "benchmarks.servers.fastmcp", "mcp": "benchmarks.servers.sdk"}


def measure(effort: Effort) -> Iterator[Measured]:
    """Measure in process, where the processor counts, and over stdio, where the wall does."""
    pythons: dict[str, Path] = {}
    for peer in (peer for peer in peers() if peer.name in _MODULES):
        try:
            if effort.peers is None:
                raise NoPeer("without peers")  # noqa: TRY301 - as one that could not be made
            pythons[peer.name] = interpreter(peer, Path(effort.peers))
        except NoPeer as error:
            for way in SERVING:
                yield Measured(f"serving.{way}.{peer.name}", None, str(error))
    if pythons:
        yield from _inside(effort, pythons)
        yield from _stdio(effort, pythons)


def _inside(effort: Effort, pythons: dict[str, Path]) -> Iterator[Measured]:
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(sys.executable, _OURS, "toolseam"))
        cases: dict[str, Case] = {name: ours.case(name) for name in ("search", "large")}
        versions: dict[str, str] = {}
        for peer, python in pythons.items():
            worker = stack.enter_context(Worker(python, _MODULES[peer], peer))
            cases |= {f"{peer} {name}": worker.case(name) for name in worker.names}
            versions[peer] = worker.version
        spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms, alike=True)
    for peer, version in versions.items():
        beside = f"{version}: {cpu(spent[f'{peer} search']) / 1e3:.3g} µs"
        beside += f"; 40 KB {ratio(spent['large'], spent[f'{peer} large']):.3g} ×"
        if (bare := spent.get(f"{peer} bare")) is not None:
            beside += "; against its bare server, which checks nothing, "
            beside += f"{ratio(spent['search'], bare):.3g} ×"
        value = ratio(spent["search"], spent[f"{peer} search"])
        yield Measured(f"serving.inside.{peer}", value, beside)


def _stdio(effort: Effort, pythons: dict[str, Path]) -> Iterator[Measured]:
    with ExitStack() as stack:
        served = {"": stack.enter_context(Piped(sys.executable, _OURS))}
        for peer, python in pythons.items():
            served[f"{peer} "] = stack.enter_context(Piped(python, _MODULES[peer]))
        if "mcp" in pythons:
            served["bare "] = stack.enter_context(Piped(pythons["mcp"], _MODULES["mcp"], "bare"))
        cases: dict[str, Case] = {
            f"{who}{name}": repeated(lambda server=server, name=name: server.call(name))  # type: ignore[misc]
            for who, server in served.items()
            for name in ("search", "large")
        }
        spent = interleave(cases, rounds=effort.rounds, span_ms=2 * effort.span_ms, alike=True)
    for peer in pythons:
        beside = f"{wall(spent[f'{peer} search']) / 1e3:.3g} µs"
        beside += f"; 40 KB {wall_ratio(spent['large'], spent[f'{peer} large']):.3g} ×"
        if peer == "mcp":
            bare = wall_ratio(spent["search"], spent["bare search"])
            beside += f"; against its bare server {bare:.3g} ×"
        value = wall_ratio(spent["search"], spent[f"{peer} search"])
        yield Measured(f"serving.stdio.{peer}", value, beside)
