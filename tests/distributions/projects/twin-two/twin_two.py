"""Offers ping, as its twin does."""

from import_marks import mark

from toolseam import ToolResult, tool

mark(__name__)


@tool(effect="read_only", data_class="public_content")
def ping(name: str = "you") -> ToolResult:
    """Answer somebody."""
    return ToolResult.text(f"Pong two, {name}")
