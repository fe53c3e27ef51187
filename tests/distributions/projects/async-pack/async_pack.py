"""An async tool."""

from import_marks import mark

from toolseam import ToolResult, tool

mark(__name__)


@tool(effect="read_only", data_class="public_content")
async def wait(name: str = "you") -> ToolResult:
    """Answer somebody."""
    return ToolResult.text(f"Waited, {name}")
