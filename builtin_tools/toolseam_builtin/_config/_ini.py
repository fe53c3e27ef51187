"""INI as `configparser` reads it, but with lines, and without any interpolation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._config._model import Findings, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECTION = re.compile(r"\[(?P<name>.+)\]")
_OPTION = re.compile(r"(?P<key>[^=:]*?)\s*(?:[=:]\s*(?P<value>.*))?$")
_KEEPS = "Python's parser refuses the file, others keep the last"


@attrs.define
class _Section:
    """What was read of a section, which may stand in several places."""

    path: tuple[str, ...]
    lines: list[int] = attrs.field(factory=list[int])
    values: dict[str, str | None] = attrs.field(factory=dict[str, "str | None"])
    found: dict[str, list[int]] = attrs.field(factory=dict[str, "list[int]"])


def parse_ini(text: str) -> Parsed:
    """Read sections, options and values of several lines; `%(name)s` stays as it is written.

    Names keep their case; the section DEFAULT is one like the others, and nothing is inherited.
    What stands before the first section comes at the top.
    """
    findings = Findings()
    top = section = _Section(())
    sections: dict[str, _Section] = {}
    for number, (first, *more) in _statements(text):
        if head := _SECTION.match(first):
            section = sections.setdefault(head["name"], _Section((head["name"],)))
            section.lines.append(number)
            continue
        option = _OPTION.match(first)
        if option is None or not option["key"]:
            findings.add(number, "syntax", "neither a section nor an option")
            continue
        if section is top and not top.found:
            findings.add(number, "syntax", "an option before the first section")
        value = option["value"]
        section.values[option["key"]] = (
            None if value is None else "\n".join((value, *more)).rstrip()
        )
        section.found.setdefault(option["key"], []).append(number)
    for each in (top, *sections.values()):
        if len(each.lines) > 1:
            findings.doubled(each.path, each.lines, _KEEPS)
        for key, lines in each.found.items():
            if len(lines) > 1:
                findings.doubled((*each.path, key), lines, _KEEPS)
    values = {name: each.values for name, each in sections.items()}
    return Parsed({**top.values, **values}, findings)


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give the number of each line that begins something, and it with those that go on with it.

    Comments are left out; a line goes on with an option if it is indented more.
    """
    number = indent = 0
    lines: list[str] = []
    for here, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if bare.startswith(("#", ";")):
            continue
        if not bare or (lines and depth > indent and not _SECTION.match(lines[0])):
            lines += [bare] if lines else []
            continue
        if lines:
            yield number, lines
        number, indent, lines = here, depth, [bare]
    if lines:
        yield number, lines
