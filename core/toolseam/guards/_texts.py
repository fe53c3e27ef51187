"""Text of somebody else, as a log, a message or a model may have it (contract §7)."""

from __future__ import annotations

from toolseam import _text


def clean(text: str) -> str:
    """Show control characters, and replace what is hidden by U+FFFD; lines stay."""
    return _text.clean(text)


def one_line(text: str, limit: int) -> str:
    """Return a text as one clean line of at most so many characters."""
    return _text.short(text, limit)
