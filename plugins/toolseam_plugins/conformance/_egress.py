"""The egress proof: canaries in all that must stay, and every way out looked through for them."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

import attrs

from toolseam import render_tool_result
from toolseam.providers import Reply, ToolCall
from toolseam_plugins.conformance._egress_frameworks import framework_sinks
from toolseam_plugins.conformance._egress_mcp import mcp_sinks
from toolseam_plugins.conformance._egress_otel import otel_sinks
from toolseam_plugins.conformance._egress_traffic import RAISING, make_host, planted
from toolseam_plugins.conformance._egress_wires import ANSWER, drive, wires

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolseam.providers import Request
    from toolseam_plugins.conformance._egress_traffic import Make, Traffic

    Sink = Callable[["Traffic"], "str | bytes"]


@attrs.frozen
class Cell:
    """One sink and one planted place: whether what was planted came out there."""

    sink: str
    place: str
    hit: bool


def egress(
    make: Make | None = None,
    sinks: dict[str, Sink] | None = None,
    *,
    names: Iterable[str] | None = None,
    heard: Callable[[str], None] | None = None,
) -> tuple[Cell, ...]:
    """Return each sink with each canary of the run-only members, settings and environment.

    Args:
        make: returns a host with the tools it is given; by default `Host(tools=...)`.
        sinks: further ways out by name: each is driven with the traffic and returns the bytes
            that a recorder of it has heard, which are some.
        names: those of our own that are driven; by default all that are installed.
        heard: is told the name of each sink before it is driven.

    Raises what a sink raises that cannot be driven: it was promised; and `AssertionError` where
    nothing was heard of what a tool says, so that silence is no proof.
    """
    chosen = SINKS if names is None else {name: SINKS[name] for name in names}
    return tuple(_cells({**chosen, **(sinks or {})}, make or make_host, heard))


def _cells(
    sinks: dict[str, Sink], make: Make, heard: Callable[[str], None] | None = None
) -> list[Cell]:
    cells: list[Cell] = []
    for name, sink in sinks.items():
        if heard is not None:
            heard(name)
        with planted(make) as traffic:
            said = sink(traffic)
            if not said or (name in TELLING and not traffic.told.is_in(said)):
                raise AssertionError(f"{name} proves nothing: what a tool says was not heard")
            cells += [
                Cell(name, place, bird.is_in(said)) for place, bird in traffic.planted.items()
            ]
    return cells


def hits(make: Make | None = None) -> list[Cell]:
    """Return the cells of a host's own ways out where a canary came out."""
    return [cell for cell in _cells(HOST_SINKS, make or make_host) if cell.hit]


def _call_wire(traffic: Traffic) -> str:
    session = traffic.session()
    return "\n".join(str(session.call_wire(name)[0]) for name in traffic.names)


def _acall_wire(traffic: Traffic) -> str:
    async def run() -> str:
        session = traffic.session()
        return "\n".join([str((await session.acall_wire(name))[0]) for name in traffic.names])

    return asyncio.run(run())


def _rendered(traffic: Traffic) -> str:
    session = traffic.session()
    return "\n".join(render_tool_result(session.call(name)) for name in traffic.names)


def _specifications(traffic: Traffic) -> str:
    """Say what a provider is told of the tools themselves."""
    offered = traffic.session().tools()
    return json.dumps([[spec.name, spec.description, spec.schema] for spec in offered])


def _shown(traffic: Traffic) -> str:
    """Say what a log line or a traceback shows of results and steps."""
    session = traffic.session()
    results = [session.call(name) for name in traffic.names]
    return f"{results!r} {session.steps!r} {traffic.host!r} {session!r}"


def _logged(traffic: Traffic) -> str:
    """Say what the log holds, but for what a tool raised: that is the log's to keep."""
    lines: list[str] = []

    class _Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    listener, logger = _Listener(), logging.getLogger("toolseam")
    logger.addHandler(listener)
    try:
        session = traffic.session()
        for name in traffic.names:
            if name != RAISING:
                session.call_wire(name)
    finally:
        logger.removeHandler(listener)
    return "\n".join(lines)


class _Listening:
    """A provider that asks for every tool once, and keeps what it was told."""

    name = "listening"

    def __init__(self, names: Sequence[str]) -> None:
        self.told: list[str] = []
        self._names = names

    def complete(self, request: Request) -> Reply:
        """Ask for all of them; then come to an end."""
        first = not self.told
        self.told.append(repr(request))
        calls = tuple(ToolCall(name, None, name) for name in self._names)
        return Reply(calls=calls) if first else Reply(ANSWER)


def _run(traffic: Traffic) -> str:
    """Say what a run hands to its provider, before any adapter puts it in other words."""
    provider = _Listening(traffic.names)
    drive(traffic, provider)
    return "\n".join(provider.told)


HOST_SINKS: dict[str, Sink] = {
    "call_wire": _call_wire,
    "acall_wire": _acall_wire,
    "rendered": _rendered,
    "specifications": _specifications,
    "shown": _shown,
    "log": _logged,
    "run": _run,
}
"""The ways out of a host itself."""

_OF_CONTENT: dict[str, Sink] = {**wires(), **mcp_sinks(), **framework_sinks()}

SINKS: dict[str, Sink] = {**HOST_SINKS, **_OF_CONTENT, **otel_sinks()}
"""Every way out that is installed: of the host, of providers, MCP, frameworks and telemetry."""

TELLING = frozenset({"call_wire", "acall_wire", "rendered", "run", *_OF_CONTENT})
"""The sinks that are there to tell what a tool says: where it is not heard, nothing was proved."""
