"""A generator where a function is asked for."""

from collections.abc import Iterator

from import_marks import mark

from toolseam import ToolResult, ToolSpec, hookimpl

mark(__name__)


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="drip",
        description="Answers.",
        parameters={"type": "object", "properties": {}},
        effect="read_only",
    )


@hookimpl
def execute(arguments: object) -> Iterator[ToolResult]:
    """Answer bit by bit."""
    yield ToolResult.text(f"Never {arguments}")
