"""JSON, with the lines of doubled keys, which the standard library does not tell."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._config._model import (
    NESTING,
    Broken,
    Findings,
    Parsed,
    Written,
    real,
    too_deep,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,\n]|-?Infinity|NaN', re.DOTALL)
_DIGITS = 4_000
"""Python refuses to read longer whole numbers from text."""

_PROBLEMS = (
    ("Expecting property name", "a key in double quotes is missing, or a comma is too much"),
    ("Illegal trailing comma", "a comma is too much"),
    ("Expecting ',' delimiter", "a comma or a closing bracket is missing"),
    ("Expecting ':' delimiter", "a key without its colon"),
    ("Expecting value", "a value is missing"),
    ("Extra data", "text after the end of the document"),
    ("Invalid control character", "a line end or control character within quotes"),
    ("Unterminated string", "a quote that is not closed"),
    ("Invalid \\", "an unknown escape"),
)


def parse_json(text: str) -> Parsed:
    """Read a JSON text; NaN and Infinity, which are none, are taken and told.

    Raises `Broken`.
    """
    _hold_depth(text)
    seen: set[str] = set()

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(found)
        if len(made) < len(found):
            seen.add("doubled")
        return made

    def no_number(name: str) -> Written:
        seen.add("no number")
        return Written(name, name)

    try:
        value: object = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=no_number,
            parse_float=real,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise _fault(error, text) from None
    return Parsed(value, _findings(text) if seen else Findings())


def _whole(text: str) -> object:
    return int(text) if len(text) < _DIGITS else Written(text, text)


def _hold_depth(text: str) -> None:
    depth = 0
    for match in _TOKEN.finditer(text):
        sign = match[0]
        if sign in "{[":
            depth += 1
            if depth > NESTING:
                raise too_deep(text.count("\n", 0, match.start()) + 1)
        elif sign in "]}":
            depth -= 1


def _fault(error: json.JSONDecodeError, text: str) -> Broken:
    if text[error.pos : error.pos + 1] in {"/", "#"}:
        words = "a comment, which JSON does not know"
    else:
        words = next((w for part, w in _PROBLEMS if error.msg.startswith(part)), "no JSON")
    return Broken(error.lineno, "syntax", f"{words} (column {error.colno})")


@attrs.define
class _Level:
    """An open object or list, where it stands, and the lines of its keys."""

    path: tuple[str, ...]
    lines: dict[str, list[int]] | None
    key: str = ""
    items: int = 0

    def below(self) -> tuple[str, ...]:
        return (*self.path, str(self.items) if self.lines is None else self.key)


def _findings(text: str) -> Findings:
    """Look through sound JSON for doubled keys and for what is no number."""
    findings = Findings()
    levels: list[_Level] = []
    last = ""
    for sign, line in _tokens(text):
        level = levels[-1] if levels else None
        if sign in {"{", "["}:
            path = level.below() if level else ()
            levels.append(_Level(path, {} if sign == "{" else None))
        elif sign in {"}", "]"}:
            closed = levels.pop()
            for key, lines in (closed.lines or {}).items():
                if len(lines) > 1:
                    findings.doubled((*closed.path, key), lines, "most parsers keep the last")
        elif sign == ":" and level is not None and level.lines is not None:
            level.key = json.loads(last)
            level.lines.setdefault(level.key, []).append(line)
        elif sign == "," and level is not None:
            level.items += 1
        elif sign.endswith(("Infinity", "NaN")):
            findings.add(line, "no number", "NaN and Infinity are no JSON; other parsers refuse it")
        last = sign
    return findings


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Give the tokens with their lines, without line ends."""
    line = 1
    for match in _TOKEN.finditer(text):
        if match[0] == "\n":
            line += 1
        else:
            yield match[0], line
