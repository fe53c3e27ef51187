"""Speaks a contract of the future."""

from import_marks import mark

from toolseam import ToolResult, ToolSpec, hookimpl

mark(__name__)
toolseam_api = "99"


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    mark("hook-of-the-future")
    return ToolSpec(
        name="later",
        description="Answers.",
        parameters={"type": "object", "properties": {}},
        effect="read_only",
    )


@hookimpl
def execute() -> ToolResult:
    """Answer."""
    return ToolResult.text("Later")
