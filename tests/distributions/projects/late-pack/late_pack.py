"""Gives one tool, then fails: all of it or nothing."""

from collections.abc import Iterator

from import_marks import mark

from toolseam import ToolResult, hookimpl, tool

mark(__name__)


@tool(effect="read_only", data_class="public_content")
def first() -> ToolResult:
    """Answer."""
    return ToolResult.text("First")


@hookimpl
def toolseam_tools(settings: object) -> Iterator[object]:
    """Give a good tool, then fail."""
    yield first
    raise KeyError(settings)
