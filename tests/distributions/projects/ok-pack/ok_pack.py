"""A good plugin."""

from import_marks import mark

from toolseam import ToolResult, tool

mark(__name__)


@tool(effect="read_only", data_class="public_content")
def greet(name: str = "you") -> ToolResult:
    """Answer somebody."""
    return ToolResult.text(f"Hello, {name}")
