"""What every way out is driven with: a host whose tools hold canaries in all that must stay."""

from __future__ import annotations

import contextlib
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Actor, ErrorCode, Host, Session, ToolArtifact, ToolResult, ToolSpec, hookimpl
from toolseam.testing import Canary, canary

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    Make = Callable[[Sequence[object]], Host]

_VARIABLE = "TOOLSEAM_EGRESS_PASSWORD"
FINE, _FAILING, RAISING, _SETTLED = "fine", "failing", "raising", "settled"
_BREAKING, _WRITING = "breaking", "writing"
TOOLS = (FINE, _FAILING, RAISING, _SETTLED, _BREAKING, _WRITING)
_OURS = "host code"
"""The distribution of tools that are given as objects."""


@attrs.frozen(eq=False)
class Traffic:
    """What a sink is driven with: a host whose tools hold canaries, by the place of each.

    `told` is in the content of a tool, so that a sink which hears nothing is known by it.
    """

    host: Host
    planted: dict[str, Canary]
    told: Canary
    tools: tuple[object, ...]
    names: tuple[str, ...] = TOOLS

    def elsewhere(self, *more: object, **settings: Any) -> Traffic:  # noqa: ANN401
        """Return the same tools in another host, with more plugins and settings beside it."""
        words = {**_operator(self.tools), **settings}
        return attrs.evolve(self, host=Host(tools=self.tools, plugins=more, settings=words))

    def session(self) -> Session:
        """Return a conversation with a provider of the farthest zone."""
        return self.host.session(actor=Actor.system, zone="external_global")


def make_host(tools: Sequence[object]) -> Host:
    """Return the host that is driven unless another one is given."""
    return Host(tools=tools, settings=_operator(tools))


def _operator(tools: Sequence[object]) -> dict[str, Any]:
    """Return what an operator says, who sets the planted tools to what is planted there."""
    one: Any = tools[0]
    return {"enable": [_WRITING], "plugins": {_OURS: attrs.asdict(one.tool_spec().settings())}}


@contextlib.contextmanager
def planted(make: Make) -> Generator[Traffic]:
    """Plant every canary, and take the one of the environment out again."""
    shapes = ("table", "text", "tree", "key_value", "code", "label")
    places = ("data", "metadata", *(f"artifact_{shape}" for shape in shapes))
    failing = ("failure_metadata", "exception", "look_alike", "settings", "environment")
    birds = {place: canary(place) for place in (*places, *failing)}
    told = canary("told")
    os.environ[_VARIABLE] = birds["environment"].text
    try:
        settings = _settings(birds["settings"])
        tools = tuple(_plugin(name, birds, told, settings) for name in TOOLS)
        host = make(tools)
        try:
            yield Traffic(host, birds, told, tools)
        finally:
            host.close()
    finally:
        os.environ.pop(_VARIABLE, None)


def _settings(bird: Canary) -> type:
    """Return a class of settings; by its default the canary is in a host of somebody else too."""

    @attrs.frozen
    class Planted:
        password: str = bird.text

    return Planted


def _plugin(name: str, birds: dict[str, Canary], told: Canary, settings: type) -> object:
    said = {place: bird.text for place, bird in birds.items()}

    def fine(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        table = ToolArtifact.table(said["artifact_label"], ["cell"], [[said["artifact_table"]]])
        text = ToolArtifact.text("text", said["artifact_text"])
        tree = ToolArtifact.tree("tree", [(0, said["artifact_tree"])])
        items = ToolArtifact.key_value("items", {"key": said["artifact_key_value"]})
        code = ToolArtifact.code("code", [said["artifact_code"]])
        data, metadata = {"data": said["data"]}, {"metadata": said["metadata"]}
        shown = (table, text, tree, items, code)
        return ToolResult.text(f"fine {told.text}", *shown, data=data, metadata=metadata)

    def failing(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        metadata = {"remote": said["failure_metadata"]}
        return ToolResult.error("It failed.", ErrorCode.CONFLICT, metadata=metadata)

    def raising(arguments: Any) -> ToolResult:  # noqa: ANN401, ARG001
        raise ValueError(said["exception"])

    def settled(arguments: Any, context: Any) -> ToolResult:  # noqa: ANN401, ARG001
        kept = len(context.settings.password) + len(os.environ.get(_VARIABLE, ""))
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
        settings=settings,
    )
    answers: dict[str, Any] = {
        FINE: fine,
        _FAILING: failing,
        RAISING: raising,
        _SETTLED: settled,
        _BREAKING: breaking,
        _WRITING: fine,
    }
    plugin = SimpleNamespace(tool_spec=hookimpl(lambda: spec), execute=hookimpl(answers[name]))
    if name == _WRITING:
        plugin.preview = hookimpl(preview)
    return plugin
