"""Environment files: the names, never a value, and nothing is expanded."""

from __future__ import annotations

import re

from toolseam.guards import mask_secrets
from toolseam_builtin._config._model import Findings, Parsed, Written

SET = Written("[set, not shown]", "[set, not shown]")
"""What stands for a value."""

_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_][\w.-]{0,99})\s*=[ \t]*(?P<value>.*)")
_QUOTED = {quote: re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*+{quote}") for quote in "\"'`"}
_REACH = 200


def parse_dotenv(text: str) -> Parsed:
    """Read which names an environment file sets, and whether to nothing.

    A value in quotes may go on over some lines. Lines that are no assignment are told by number.
    """
    findings = Findings()
    names: dict[str, object] = {}
    found: dict[str, list[int]] = {}
    lines = mask_secrets(text, keep_lines=True)[0].split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            findings.add(number, "syntax", "no assignment of a name")
            continue
        value = match["value"].strip()
        name = match["name"]
        names[name] = "" if value in {"", '""', "''"} or value.startswith("#") else SET
        found.setdefault(name, []).append(number)
        if value[:1] in _QUOTED and not _QUOTED[value[0]].match(value):
            end = _end(lines, number, value[0])
            if end is None:
                findings.add(number, "syntax", "a quote that is not closed")
            else:
                number = end
    for name, numbers in found.items():
        if len(numbers) > 1:
            findings.doubled((name,), numbers, "the last counts")
    return Parsed(names, findings)


def _end(lines: list[str], start: int, quote: str) -> int | None:
    """Give how many lines a value in quotes leaves behind it, or None if they never close."""
    for number in range(start, min(start + _REACH, len(lines))):
        if quote in lines[number]:
            return number + 1
    return None
