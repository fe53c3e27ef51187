"""Asks for a parameter that the hook does not have."""

from import_marks import mark

from toolseam import ToolResult, ToolSpec, hookimpl

mark(__name__)


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="greedy",
        description="Answers.",
        parameters={"type": "object", "properties": {}},
        effect="read_only",
    )


@hookimpl
def execute(arguments: object, database: object) -> ToolResult:
    """Answer."""
    return ToolResult.text(f"Never {arguments} {database}")
