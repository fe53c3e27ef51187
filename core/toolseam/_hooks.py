"""The hooks of contract §2 and their markers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Executor

    from toolseam._context import ToolContext
    from toolseam._endpoints import Endpoint
    from toolseam._host import Host
    from toolseam._messages import Provider
    from toolseam._result import ToolResult
    from toolseam._run_store import RunStore
    from toolseam._settings_keys import ExecutorSettings, OperatorSettings
    from toolseam._spec import ToolSpec
    from toolseam._steps import Step

PROJECT = "toolseam"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class ToolHooks:
    """What a tool implements; one `PluginManager` a tool, so a call reaches one implementation."""

    @hookspec(firstresult=True)
    def tool_spec(self) -> ToolSpec:  # type: ignore[empty-body]
        """Describe the tool; called once a load; pure, cheap, no I/O."""

    @hookspec(firstresult=True)
    def execute(self, arguments: Any, context: ToolContext) -> ToolResult:  # type: ignore[empty-body]  # noqa: ANN401
        """Do the work; `context` is optional; `async def` is welcome."""

    @hookspec(firstresult=True)
    def preview(self, arguments: Any, context: ToolContext) -> ToolResult:  # type: ignore[empty-body]  # noqa: ANN401
        """Say what a write would do, without doing it."""


@runtime_checkable
class ToolSource(Protocol):
    """What `toolseam_tools` gives where the tools live and end with the host.

    Of a bare iterable all tools are taken or none; of this one each that is sound.
    """

    def __iter__(self) -> Iterator[object]:
        """Give the tools that there are when the host starts."""
        ...

    def refused(self, tool: object, reason: str) -> None:
        """Hear that the host did not take one of them."""
        ...

    def health(self) -> Iterable[tuple[str, str, str]]:
        """Say how it stands: name, `ok`, `note` or `fault`, and a line; `doctor` shows it."""
        ...

    def close(self) -> None:
        """End with the host."""
        ...


class PluginHooks:
    """What a host plugin implements; loaded only when the operator names it."""

    @hookspec
    def toolseam_tools(self, settings: Any, operator: OperatorSettings) -> Iterable[object]:  # type: ignore[empty-body]  # noqa: ANN401
        """Give many tools: mounts, specs known at run time.

        Both parameters are optional: `settings` is `[plugins.<distribution>]`, `operator` the
        whole of the operator's settings. What is given may be a `ToolSource`.
        """

    @hookspec(firstresult=True)
    def toolseam_provider(self, endpoint: Endpoint) -> Provider | None:
        """Give the provider that `host.provider` is asked for, or None; `endpoint` is optional."""

    @hookspec(firstresult=True)
    def toolseam_executor(self, name: str, settings: ExecutorSettings) -> Executor | None:
        """Make the executor of `[executors.<name>]`, or None; asked when a body first goes there.

        Raises a `ToolseamError` with a line for the operator where it cannot be made.
        """

    @hookspec
    def toolseam_run_store(self, host: Host) -> RunStore | None:
        """Keep runs and steps; None keeps nothing. What it raises stops the host's start."""

    @hookspec
    def toolseam_step(self, step: Step) -> None:
        """Look at a finished step."""

    @hookspec
    def toolseam_open(self, host: Host) -> None:
        """Begin with the host."""

    @hookspec
    def toolseam_close(self, host: Host) -> None:
        """End with the host."""

    @hookspec(firstresult=True)
    def execute(self, arguments: Any, context: ToolContext) -> ToolResult:  # type: ignore[empty-body]  # noqa: ANN401
        """Wrap every tool: `hookimpl(wrapper=True)` alone, a plain generator."""
