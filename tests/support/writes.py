"""A write with a preview, for hosts that ask a person about it."""

from __future__ import annotations

from typing import Any

from support.tools import spec
from toolseam import Actor, Host, ToolResult, ToolSpec, hookimpl

OWNER = Actor("owner", {"support"})
EVE = Actor("eve", {"admin"})


class Rename:
    """A tool that renames the one row there is, and shows what it would do."""

    def __init__(self) -> None:
        self.row = "old"

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return a specification of a write."""
        parameters = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
        return spec("rename", effect="non_idempotent_write", parameters=parameters)

    @hookimpl
    def preview(self, arguments: dict[str, Any]) -> ToolResult:
        """Say what would be changed."""
        return ToolResult.text(f"{self.row} -> {arguments['name']}")

    @hookimpl
    def execute(self, arguments: dict[str, Any]) -> ToolResult:
        """Change it."""
        self.row = arguments["name"]
        return ToolResult.text(f"renamed to {self.row}")


class Broken(Rename):
    """The same, but it forgets to answer; `count` says how often it has run."""

    count = 0

    @hookimpl
    def execute(self, arguments: dict[str, Any]) -> Any:
        """Count the call."""
        self.count += 1


def host_of(*tools: object) -> Host:
    """Return a host with these tools."""
    return Host(tools=tools)
