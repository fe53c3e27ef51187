"""Patterns of JSON Schema as Python reads them: searched for, ASCII classes, a firm end."""

from __future__ import annotations

import re

_CLASSES = {
    "L": "A-Za-z\u00e0-\u00f6",
    "Lu": "A-Z\u00c0-\u00d6",
    "Ll": "a-z\u00e0-\u00f6",
    "N": "0-9",
    "Nd": "0-9",
    "P": "!-/:-@",
    "Z": " ",
    "Zs": " ",
}
_PROPERTY = re.compile(r"\\p\{(\w+)\}")
_OPEN_END = re.compile(r"(?<!\\)([*+]|\{\d+,\})(\$|\\Z)?$")
_SHORT = 2


def readable(pattern: str, least: int, most: int | None) -> re.Pattern[str] | None:
    r"""Compile a pattern so that what Python finds in a text, the linear engine finds too.

    Args:
        pattern: as the schema has it.
        least: characters that a text must have; an open end of the pattern is stretched to it.
        most: characters that it may have.

    `\d`, `\w` and `\s` mean ASCII, `$` does not stand before a last newline. None where Python
    cannot read it at all.
    """
    text = _named(pattern)
    if text.endswith("$") and not text.endswith("\\$"):
        text = text[:-1] + r"\Z"
    if least > _SHORT or most is not None:
        text = _stretched(text, least, most)
    try:
        return re.compile(text, re.ASCII)
    except re.error:
        return None


def _named(pattern: str) -> str:
    """Spell out Unicode classes, of which Python knows none."""
    found, inside, place = "", False, 0
    while place < len(pattern):
        match = _PROPERTY.match(pattern, place)
        if match:
            letters = _CLASSES.get(match[1], "a-z")
            found += letters if inside else f"[{letters}]"
            place = match.end()
            continue
        if pattern[place] == "\\":
            found += pattern[place : place + 2]
            place += 2
            continue
        inside = (pattern[place] == "[") or (inside and pattern[place] != "]")
        found += pattern[place]
        place += 1
    return found.replace("(?<", "(?P<") if "(?<=" not in found and "(?<!" not in found else found


def _stretched(text: str, least: int, most: int | None) -> str:
    """Let the open end of a pattern be as long as the text has to be, and no longer."""
    end = _OPEN_END.search(text)
    if end is None:
        return text
    few = max(least - 1, 0) if end[1] == "*" else max(least - 1, 1)
    if end[1].startswith("{"):
        few = max(few, int(end[1][1:-2]))
    many = "" if most is None else str(max(most - 1, few, 1))
    return f"{text[: end.start()]}{{{few},{many}}}{end[2] or ''}"
