"""The egress proof: canaries in all that must stay, and every way out looked through for them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import (
    Actor,
    ErrorCode,
    Host,
    Session,
    ToolArtifact,
    ToolResult,
    ToolSpec,
    hookimpl,
    render_tool_result,
)
from toolseam.providers import Reply, ToolCall
from toolseam.testing import Canary, canary
from toolseam_plugins.conformance._egress_wires import ANSWER, drive, wires

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from toolseam.providers import Request

    Make = Callable[[Sequence[object]], Host]
    Sink = Callable[["Traffic"], "str | bytes"]

_VARIABLE = "TOOLSEAM_EGRESS_PASSWORD"
_FINE, _FAILING, _RAISING, _SETTLED = "fine", "failing", "raising", "settled"
_BREAKING, _WRITING = "breaking", "writing"
_TOOLS = (_FINE, _FAILING, _RAISING, _SETTLED, _BREAKING, _WRITING)


@attrs.frozen
class Cell:
    """One sink and one planted place: whether what was planted came out there."""

    sink: str
    place: str
    hit: bool


@attrs.frozen
class _Settings:
    """Settings of the planted tool."""

    password: str = ""


@attrs.frozen(eq=False)
class Traffic:
    """What a sink is driven with: a host whose tools hold canaries, by the place of each."""

    host: Host
    planted: dict[str, Canary]
    names: tuple[str, ...] = _TOOLS

    def session(self) -> Session:
        """Return a conversation with a provider of the farthest zone."""
        return self.host.session(actor=Actor.system, zone="external_global")


def egress(make: Make | None = None, sinks: dict[str, Sink] | None = None) -> tuple[Cell, ...]:
    """Return each sink with each canary of the run-only members, settings and environment.

    Args:
        make: returns a host with the tools it is given; by default `Host(tools=...)`.
        sinks: further ways out by name: each is driven with the traffic and returns the bytes
            that a recorder of it has heard.
    """
    return tuple(_cells({**SINKS, **(sinks or {})}, make or _make))


def _cells(sinks: dict[str, Sink], make: Make) -> list[Cell]:
    cells: list[Cell] = []
    for name, sink in sinks.items():
        with _planted(make) as traffic:
            heard = sink(traffic)
            cells += [
                Cell(name, place, bird.is_in(heard)) for place, bird in traffic.planted.items()
            ]
    return cells


def hits(make: Make | None = None) -> list[Cell]:
    """Return the cells of a host's own ways out where a canary came out."""
    return [cell for cell in _cells(HOST_SINKS, make or _make) if cell.hit]


def _make(tools: Sequence[object]) -> Host:
    return Host(tools=tools, settings={"enable": [_WRITING]})


@contextlib.contextmanager
def _planted(make: Make) -> Generator[Traffic]:
    shapes = ("table", "text", "tree", "key_value", "code", "label")
    places = ("data", "metadata", *(f"artifact_{shape}" for shape in shapes))
    failing = ("failure_metadata", "exception", "look_alike", "settings", "environment")
    birds = {place: canary(place) for place in (*places, *failing)}
    os.environ[_VARIABLE] = birds["environment"].text
    try:
        host = make([_plugin(name, birds) for name in _TOOLS])
        try:
            yield Traffic(host, birds)
        finally:
            host.close()
    finally:
        os.environ.pop(_VARIABLE, None)


def _plugin(name: str, birds: dict[str, Canary]) -> object:
    said = {place: bird.text for place, bird in birds.items()}
    settings = _Settings(said["settings"])

    def fine(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        table = ToolArtifact.table(said["artifact_label"], ["cell"], [[said["artifact_table"]]])
        text = ToolArtifact.text("text", said["artifact_text"])
        tree = ToolArtifact.tree("tree", [(0, said["artifact_tree"])])
        items = ToolArtifact.key_value("items", {"key": said["artifact_key_value"]})
        code = ToolArtifact.code("code", [said["artifact_code"]])
        data, metadata = {"data": said["data"]}, {"metadata": said["metadata"]}
        shown = (table, text, tree, items, code)
        return ToolResult.text("fine", *shown, data=data, metadata=metadata)

    def failing(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        metadata = {"remote": said["failure_metadata"]}
        return ToolResult.error("It failed.", ErrorCode.CONFLICT, metadata=metadata)

    def raising(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        raise ValueError(said["exception"])

    def settled(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        kept = len(settings.password) + len(os.environ.get(_VARIABLE, ""))
        return ToolResult.text(f"Two secrets of {kept} characters in all.")

    def breaking(arguments: Any) -> Any:  # noqa: ANN401, ARG001
        return {"content": said["look_alike"]}

    def preview(arguments: Any, context: Any) -> ToolResult:  # noqa: ANN401
        del context
        return fine(arguments)

    spec = ToolSpec(
        name=name,
        description="A tool of the egress proof.",
        effect="idempotent_write" if name == _WRITING else "read_only",
        data_class="public_content",
    )
    answers = {
        _FINE: fine,
        _FAILING: failing,
        _RAISING: raising,
        _SETTLED: settled,
        _BREAKING: breaking,
        _WRITING: fine,
    }
    plugin = SimpleNamespace(tool_spec=hookimpl(lambda: spec), execute=hookimpl(answers[name]))
    if name == _WRITING:
        plugin.preview = hookimpl(preview)
    return plugin


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
            if name != _RAISING:
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

SINKS: dict[str, Sink] = {**HOST_SINKS, **wires()}
"""Every way out that is installed; adapters of providers, MCP and other frameworks join here."""
