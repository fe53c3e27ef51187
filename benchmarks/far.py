"""Tools whose bodies the benchmark sends to other processes, which import them by name."""

from __future__ import annotations

import time

from toolseam import ToolResult, tool


@tool(effect="read_only", data_class="public_content")
def echo_text(text: str) -> ToolResult:
    """Give a text back."""
    return ToolResult.text(text)


@tool(effect="read_only", data_class="public_content")
def take_nap(seconds: float) -> ToolResult:
    """Sleep."""
    time.sleep(seconds)
    return ToolResult.text("awake")


def same(text: bytes) -> bytes:
    """Give bytes back, as an engine carries them without us."""
    return text


def nap(seconds: float) -> None:
    """Sleep, as an engine carries it without us."""
    time.sleep(seconds)
