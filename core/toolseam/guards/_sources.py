"""Source and configuration text as it may be shown."""

import functools
import re
from collections.abc import Callable

from toolseam.guards._names import lines_mentioning_secrets
from toolseam.guards._secrets import MASK, mask_secrets

_ASKED = 200
"""After how many lines with a secret it is asked whether to stop."""

_REACH = 100
"""How many lines on a masked value is looked for its end."""

_QUOTE = re.compile(r"[A-Za-z]{0,2}(\"\"\"|'''|[\"'`])")
_BLOCK = re.compile(r"(?:[|>][-+0-9]*|[&!]\S+)?\s*(?:#.*)?")
_TRIPLE = 3


def mask_source(text: str, stop: Callable[[], bool] | None = None) -> str:
    """Mask source or configuration text: by shape, and by the name that a value is assigned to.

    A value that goes on over several lines (in brackets, quotes or an indented block, or behind a
    backslash) is masked to its end. The text keeps its number of lines.

    Args:
        text: Text whose lines end in a newline alone.
        stop: Asked now and then; where it says yes, the lines that are not masked yet are left out.

    Returns:
        The text as it may be shown and searched.
    """
    text = mask_secrets(text, keep_lines=True)[0]
    suspects = lines_mentioning_secrets(text)
    if not suspects:
        return text
    from toolseam.guards._assignments import mask_line, open_brackets  # a dozen expressions

    lines = text.split("\n")

    @functools.cache
    def opens(number: int) -> int:
        return open_brackets(lines[number])

    shown = lines.copy()
    last = -1
    for masked, number in enumerate(suspects):
        if stop is not None and masked % _ASKED == 0 and stop():
            return "\n".join(shown[:number])
        if number <= last:
            continue
        shown[number], value = mask_line(lines[number])
        if value is None:
            continue
        last = min(_last_line(lines, number, value, opens), len(lines) - 1)
        for following in range(number + 1, last + 1):
            if lines[following].strip(" \t()[]{},;\"'`"):
                shown[following] = MASK
    return "\n".join(shown)


def _last_line(lines: list[str], first: int, value: str, opens: Callable[[int], int]) -> int:
    """Give the last line of a value that ran to the end of its first."""
    from toolseam.guards._assignments import open_brackets

    following = range(first + 1, min(first + _REACH, len(lines)))
    if value.rstrip().endswith("\\"):
        ends = (number for number in following if not lines[number].rstrip().endswith("\\"))
        return next(ends, len(lines))
    quote = _QUOTE.match(value)
    if quote and quote[1] not in value[quote.end() :]:
        closing = next((number for number in following if quote[1] in lines[number]), None)
        if closing is not None:
            return closing
        if len(quote[1]) == _TRIPLE:
            return len(lines)
    depth = open_brackets(value)
    if depth > 0:
        for number in following:
            depth += opens(number)
            if depth <= 0:
                return number
        return _last_indented(lines, first)
    return _last_indented(lines, first) if _BLOCK.fullmatch(value) else first


def _last_indented(lines: list[str], first: int) -> int:
    """Give the last line that is indented more than the first, or begins an item of its list."""
    indent = _indent(lines[first])
    last = first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        deeper = _indent(line) - indent
        if deeper < 0 or (deeper == 0 and not line.lstrip().startswith("- ")):
            break
        last = number
    return last


def _indent(line: str) -> int:
    """Count the blanks before a line's first character."""
    return len(line) - len(line.lstrip())
