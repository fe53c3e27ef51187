"""Small tool plugins and hosts for tests of the core."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from toolseam import Actor, ToolResult, ToolSpec, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Host
    from toolseam._approval import Approval

ADA = Actor("ada", {"admin"})
BOB = Actor("bob")


def spec(name: str = "probe", **more: Any) -> ToolSpec:
    """Return a specification that every actor may be offered unless `more` says otherwise."""
    given = {
        "description": "A probe.",
        "effect": "read_only",
        "data_class": "public_content",
        "parameters": {},
    }
    return ToolSpec(name=name, **{**given, **more})


def plugin(execute: Any, *, name: str = "probe", preview: Any = None, **more: Any) -> Any:
    """Return a tool plugin whose hooks are the functions that are given."""
    told = spec(name, **more)
    hooks = {"tool_spec": hookimpl(lambda: told), "execute": hookimpl(execute)}
    if preview is not None:
        hooks["preview"] = hookimpl(preview)
    return SimpleNamespace(**hooks)


class Counted:
    """A tool plugin that counts how often its hook began; `give` says what it returns."""

    def __init__(self, give: Callable[[], Any], **more: Any) -> None:
        self.count = 0
        self._gives = [give]  # bare, it may carry a hook mark of another test
        self._turn = threading.Lock()
        self._spec = spec(**{"name": "probe", **more})

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return the specification."""
        return self._spec

    @hookimpl
    def execute(self, arguments: object) -> Any:
        """Count the call."""
        with self._turn:
            self.count += 1
        return self._gives[0]()


class CountedAsync(Counted):
    """The same as an async tool."""

    @hookimpl
    async def execute(self, arguments: object) -> Any:
        """Count the call."""
        with self._turn:
            self.count += 1
        return self._gives[0]()


def fine() -> ToolResult:
    """Return a sound result."""
    return ToolResult.text("fine")


def approved(host: Host, name: str, arguments: Any = None, actor: Actor = ADA) -> Approval:
    """Return a person's approval of a call by the host's own code."""
    return host.approve(host.preview(name, arguments, actor=actor), actor=ADA)
