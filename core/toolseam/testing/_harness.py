"""One tool in a host of its own: the author's test double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from toolseam import Actor, Host, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from toolseam import Approval, Step, ToolResult, ToolSpec

    Arguments = str | bytes | Mapping[str, Any] | None

_APPROVER = Actor("approver", {"admin"})


def harness(
    plugin: object,
    *,
    actor: Actor | None = Actor.system,
    settings: object = None,
    approve: bool = False,
    plugins: Iterable[object] = (),
) -> Harness:
    """Return a harness around one tool plugin, a module or an object.

    Args:
        plugin: what the entry point would name.
        actor: who calls; None is nobody.
        settings: an instance of the plugin's settings class.
        approve: True: a person approves each write, for exactly the call that is made.
        plugins: host plugins around the tool, for example wrappers.

    Raises `LoadError` for a plugin that a host would refuse.
    """
    return Harness(plugin, actor=actor, settings=settings, approve=approve, plugins=plugins)


class Harness:
    """Calls one tool through the whole seam, as a host would; a context manager."""

    def __init__(
        self,
        plugin: object,
        *,
        actor: Actor | None,
        settings: object,
        approve: bool,
        plugins: Iterable[object],
    ) -> None:
        given = () if settings is None else (settings,)
        self.host = Host(tools=[plugin], plugins=plugins, plugin_settings=given)
        self.spec: ToolSpec = self.host.tools()[0].spec
        self._actor = actor
        self._approve = approve

    def call(self, arguments: Arguments = None, *, timeout: float | None = None) -> ToolResult:
        """Call the tool; `timeout` is an explicit deadline in seconds."""
        approval = self._approval(arguments)
        return self.host.call(
            self.spec.name, arguments, actor=self._actor, approval=approval, timeout=timeout
        )

    async def acall(
        self, arguments: Arguments = None, *, timeout: float | None = None
    ) -> ToolResult:
        """Await the tool; else like `call`."""
        approval = self._approval(arguments)
        return await self.host.acall(
            self.spec.name, arguments, actor=self._actor, approval=approval, timeout=timeout
        )

    def _approval(self, arguments: Arguments) -> Approval | None:
        if not (self._approve and self.spec.requires_approval):
            return None
        try:
            preview = self.host.preview(self.spec.name, arguments, actor=self._actor)
        except ToolError:
            return None  # the call is refused before any approval, and says why itself
        return self.host.approve(preview, actor=_APPROVER)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the trace kept of the calls, oldest first."""
        return self.host.steps

    def close(self) -> None:
        """End the host."""
        self.host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
