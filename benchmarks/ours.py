"""Our side: the measured tool in each form that a plugin may have, and the hosts that hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from benchmarks.subject import ARGUMENTS, CONTENT
from toolseam import Actor, Host, ToolResult, ToolSpec, hookimpl

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable

DISTRIBUTION = "toolseam"
SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "path": {"type": "string"},
        "limit": {"type": "integer"},
    },
    "required": ["query", "path", "limit"],
    "additionalProperties": False,
}


@attrs.frozen
class Arguments:
    """The same arguments, as the documentation writes them."""

    query: str
    path: str
    limit: int


def spec(parameters: Any, name: str = "search") -> ToolSpec:
    """Return what the tool says of itself."""
    return ToolSpec(
        name=name,
        description="Search files.",
        parameters=parameters,
        effect="read_only",
        data_class="public_content",
    )


class Search:
    """A plugin whose `execute` gives what `build` does."""

    def __init__(self, build: Callable[[], ToolResult], parameters: Any = SCHEMA) -> None:
        self._build = build
        self._spec = spec(parameters)

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Say what the tool is."""
        return self._spec

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:  # noqa: ARG002 - as tools are called
        """Answer."""
        return self._build()


class AsyncSearch:
    """A plugin whose `execute` is awaited."""

    def __init__(self, build: Callable[[], ToolResult]) -> None:
        self._build = build

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Say what the tool is."""
        return spec(SCHEMA)

    @hookimpl
    async def execute(self, arguments: Any) -> ToolResult:  # noqa: ARG002
        """Answer."""
        return self._build()


def caller(plugin: object) -> Callable[[], ToolResult]:
    """Return what calls a plugin's tool through the whole seam."""
    call, actor = Host(tools=[plugin]).call, Actor.system
    return lambda: call("search", ARGUMENTS, actor=actor)


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:  # noqa: ARG001 - as peers are asked
    """Return the calls to compare: through the seam, awaited, and the raw hook beneath."""
    ready = ToolResult.text(CONTENT)
    ahost, actor = Host(tools=[AsyncSearch(lambda: ready)]), Actor.system
    bound = Host(tools=[Search(lambda: ready)]).tool("search")
    assert bound is not None
    bound.execute(arguments=ARGUMENTS, context=None)
    # Only now: the first call puts pluggy's hook in its own place.
    hook: Callable[..., Any] = bound.execute
    found: dict[str, Callable[[], Any]] = {
        "schema": caller(Search(lambda: ready)),
        "attrs": caller(Search(lambda: ready, Arguments)),
        "acall": lambda: ahost.acall("search", ARGUMENTS, actor=actor),
        "hook": lambda: hook(arguments=ARGUMENTS, context=None),
    }
    assert found["schema"]().content == found["attrs"]().content == CONTENT
    return found
