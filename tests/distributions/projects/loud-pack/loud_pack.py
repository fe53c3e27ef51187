"""Prints at import, and is good otherwise."""

from import_marks import mark

from toolseam import ToolResult, tool

mark(__name__)
print("printed by loud_pack")


@tool(effect="read_only", data_class="public_content")
def shout(name: str = "you") -> ToolResult:
    """Answer somebody."""
    return ToolResult.text(f"HELLO, {name}")
