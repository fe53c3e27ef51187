"""Amounts as people say them: bytes and spans of time."""

from __future__ import annotations

_STEP = 1_000
_UNITS = ("kB", "MB", "GB", "TB", "PB")
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def size_text(size: float) -> str:
    """Return a number of bytes in decimal units and one digit behind the point."""
    if size < _STEP:
        return f"{int(size)} byte{'' if int(size) == 1 else 's'}"
    step = 1
    while round(size / _STEP**step, 1) >= _STEP and step < len(_UNITS):
        step += 1
    return f"{size / _STEP**step:,.1f} {_UNITS[step - 1]}"


def span_text(seconds: float) -> str:
    """Return a span of time in its two largest units, from seconds to days."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for length, unit in _SPANS:
        count, rest = divmod(left, length)
        if count or parts:
            parts.append(f"{count} {unit}")
            left = rest
        if len(parts) == 2:  # noqa: PLR2004 - the two largest
            break
    return " ".join(part for part in parts if not part.startswith("0 ")) or "0 s"
