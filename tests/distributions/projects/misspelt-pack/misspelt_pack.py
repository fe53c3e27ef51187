"""Misspells its hook."""

from import_marks import mark

from toolseam import ToolResult, ToolSpec, hookimpl

mark(__name__)


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="typo",
        description="Answers.",
        parameters={"type": "object", "properties": {}},
        effect="read_only",
    )


@hookimpl
def exceute(arguments: object) -> ToolResult:
    """Answer."""
    return ToolResult.text(f"Never {arguments}")
