"""TOML from the standard library's parser, and the lines of doubled keys."""

from __future__ import annotations

import re
import tomllib

from toolseam import json_safe
from toolseam_builtin._config._model import (
    NESTING,
    Broken,
    Findings,
    Parsed,
    Written,
    is_list,
    is_mapping,
    named,
    real,
    too_deep,
)

_PLACE = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")
_DOUBLED = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate inline")
_PROBLEMS = (
    ("Expected '='", "a key without its '='"),
    ("Expected newline", "something after the end of the value"),
    ("Invalid value", "a value that TOML does not know; a text wants quotes"),
    ("Invalid statement", "neither a key nor a table"),
    ("Invalid initial character", "a key that begins with a character TOML does not allow there"),
    ("Invalid date", "a date that does not exist"),
    ("Unclosed array", "a bracket that is not closed, or a comma that is missing"),
    ("Unclosed inline table", "a brace that is not closed, or a comma that is missing"),
    ("Expected ']'", "the head of a table that is not closed"),
    ("Illegal character", "a line end or control character within quotes"),
    ("Unterminated string", "a quote that is not closed"),
    ("Unescaped", "an unknown escape"),
    ("Expected '\"'", "a quote that is not closed"),
    ('Expected "\'"', "a quote that is not closed"),
)
_PART = r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
# A key of many parts takes the standard library quadratic time, so it is refused before.
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{NESTING},}}")
_HEAD = re.compile(r"[ \t]*\[\[?[ \t]*([^\]\n]*?)[ \t]*\]")
_KEY = re.compile(rf"[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)[ \t]*=")


def parse_toml(text: str) -> Parsed:
    """Read a TOML text.

    Raises `Broken`.
    """
    lines = text.replace("\r\n", "\n")
    if long := _LONG_KEY.search(lines):
        raise too_deep(lines.count("\n", 0, long.start()) + 1)
    try:
        value = tomllib.loads(text, parse_float=real)
    except tomllib.TOMLDecodeError as error:
        raise _fault(str(error), lines) from None
    except RecursionError:
        raise too_deep() from None
    except ValueError:
        raise Broken(None, "syntax", "a whole number of too many digits") from None
    return Parsed(_safe(value, 0), Findings())


def _safe(value: object, depth: int) -> object:
    """Return a value with dates as text, nested no deeper than the limit."""
    if depth >= NESTING and (is_mapping(value) or is_list(value)):
        raise too_deep()
    if is_mapping(value):
        return {key: _safe(each, depth + 1) for key, each in value.items()}
    if is_list(value):
        return [_safe(each, depth + 1) for each in value]
    if isinstance(value, str | bool | Written):
        return value
    safe = json_safe(value)
    return Written(str(safe), safe) if isinstance(safe, str) else safe


def _fault(message: str, text: str) -> Broken:
    place = _PLACE.search(message)
    end = len(text.rstrip("\n").split("\n"))
    line = int(place[1]) if place and place[1] else end
    if message.startswith(_DOUBLED):
        path, first = _doubled(text, line)
        name = named(path) if path else "a key or table"
        where = "" if first is None else f"; the first time is in line {first}"
        return Broken(line, "doubled key", f"{name} is set again{where}")
    words = next((words for part, words in _PROBLEMS if message.startswith(part)), "no TOML")
    column = f" (column {place[2]})" if place and place[2] else ""
    return Broken(line, "syntax", words + column)


def _doubled(text: str, last: int) -> tuple[tuple[str, ...], int | None]:
    """Give the path of what a line sets again, and the line that set it first, as far as found."""
    head: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    first: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.split("\n")[:last], 1):
        path = ()
        if match := _HEAD.match(line):
            path = head = _parts(match[1])
        elif match := _KEY.match(line):
            path = (*head, *_parts(match[1]))
        if path and number < last:
            first.setdefault(path, number)
    return path, first.get(path)


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in key.split("."))
