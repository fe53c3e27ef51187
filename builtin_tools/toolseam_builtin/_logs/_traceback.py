"""Tracebacks as CPython prints them, read back: chains, groups, notes, messages of many lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = "Traceback (most recent call last):"
_GROUP_HEADER = f"Exception Group {_HEADER}"
_OPENS = re.compile(rf"^(?:[ \t]*|  \+ Exception Group ){re.escape(_HEADER)}[ \t]*$", re.MULTILINE)
_LINKS = {
    "The above exception was the direct cause of the following exception:": "cause",
    "During handling of the above exception, another exception occurred:": "context",
}
_FRAME = re.compile(r"(?:> |  )File \"(?P<file>.*)\", line (?P<line>\d+)(?:, in (?P<name>.*))?")
_REPEATED = re.compile(r"  \[Previous line repeated (?P<times>\d+) more times?\]")
_FIRST_MEMBER = re.compile(r"(?P<indent> *)\+-\+-{16} (?:\d+|\.\.\.) -{16}")
_MEMBER = re.compile(r"(?P<indent> *)\+-{16} (?:\d+|\.\.\.) -{16}")
_CLOSING = re.compile(r"(?P<indent> *)\+-{36}")
_TYPE = re.compile(r"(?P<type>[^\W\d](?:[\w.]|<locals>)*)(?:: ?(?P<message>.*))?", re.DOTALL)
_LEFT_OUT = re.compile(r"and \d+ more exceptions?")
_MOST_DEPTH = 12


@attrs.frozen
class Frame:
    """One call: where, in what, the source line as it is printed, how often it is repeated."""

    file: str
    line: int
    name: str = ""
    source: str = ""
    repeated: int = 0


@attrs.frozen
class Raised:
    """One exception as a traceback tells it.

    `message` has all lines of the message and of the notes, which print alike. `earlier` is the
    exception before it in the chain, `relation` how: `cause` (raised from it) or `context`
    (raised while it was handled). `members` are those of a group; `left_out` says what the
    traceback itself left out of them. A traceback that is cut off has no `type`.
    """

    type: str
    message: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    earlier: Raised | None = None
    relation: str | None = None
    members: tuple[Raised, ...] = ()
    left_out: str = ""

    @property
    def chain(self) -> list[Raised]:
        """The exceptions of the chain from this one back to the root cause."""
        found: list[Raised] = []
        raised: Raised | None = self
        while raised is not None:
            found.append(raised)
            raised = raised.earlier
        return found


def has_traceback(text: str) -> bool:
    """Tell whether a record holds a traceback."""
    return _HEADER in text and _OPENS.search(text) is not None


def read_traceback(text: str) -> tuple[list[str], Raised] | None:
    """Read the last traceback of a record.

    Args:
        text: the record, its lines ended by newlines.

    Returns:
        The lines before the traceback, and the exception that it tells; None if there is none.
    """
    if not has_traceback(text):
        return None
    lines = text.split("\n")
    start = _begin(lines)
    return lines[:start], _Reader(lines, start).chain(0, 0)


def _begin(lines: list[str]) -> int:
    """Give the line where the traceback begins: the header, or an exception without one."""
    header = next(number for number, line in enumerate(lines) if _OPENS.match(line))
    link = next((number for number in range(header) if lines[number] in _LINKS), None)
    if link is None:
        return header
    return next((number for number in range(1, link) if _looks_raised(lines[number])), link)


def _is_group_header(line: str) -> bool:
    return line == f"  + {_GROUP_HEADER}"


def _looks_raised(line: str) -> bool:
    found = _TYPE.fullmatch(line.removeprefix("  | "))
    return found is not None and found["type"].rpartition(".")[2][:1].isupper()


@attrs.define
class _Reader:
    """Reads on from a line; `depth` is how many margins stand before the text."""

    lines: list[str]
    place: int

    def chain(self, depth: int, level: int) -> Raised:
        """Read exceptions until no link follows; the last one holds the others."""
        raised = self._exception(depth, level, None, None)
        while (relation := self._link(depth)) is not None:
            raised = self._exception(depth, level, raised, relation)
        return raised

    def _at(self, depth: int, offset: int = 0) -> str | None:
        """Give a line without its margins, or None where these end."""
        place = self.place + offset
        if place >= len(self.lines):
            return None
        line = self.lines[place]
        if depth == 0:
            return line
        margin = f"{'  ' * depth}|"
        return line[len(margin) + 1 :] if line.startswith(margin) else None

    def _link(self, depth: int) -> str | None:
        """Pass a link to the next exception, and say which it is."""
        offset = 0
        while (line := self._at(depth, offset)) is not None and not line.strip():
            offset += 1
        if line is None or line not in _LINKS:
            return None
        self.place += offset + 1
        while (following := self._at(depth)) is not None and not following.strip():
            self.place += 1
        return _LINKS[line]

    def _exception(
        self, depth: int, level: int, earlier: Raised | None, relation: str | None
    ) -> Raised:
        """Read one exception: header, frames, type, message, and its members if it is a group."""
        outermost = depth == 0 and self.place < len(self.lines) and self._opens_group()
        inner = 1 if outermost else depth
        line = self._at(inner)
        begins = outermost and _is_group_header(self.lines[self.place])
        if begins or (line is not None and line.strip() in {_HEADER, _GROUP_HEADER}):
            self.place += 1
        frames = tuple(self._frames(inner))
        kind, message = self._message(inner)
        members, left_out = self._members(inner, level)
        return Raised(kind, message, frames, earlier, relation, members, left_out)

    def _opens_group(self) -> bool:
        line = self.lines[self.place]
        return _is_group_header(line) or line.startswith("  | ")

    def _frames(self, depth: int) -> Iterator[Frame]:
        """Read frames, each with its source and what underlines it."""
        frame: Frame | None = None
        while (line := self._at(depth)) is not None:
            if found := _FRAME.fullmatch(line):
                if frame is not None:
                    yield frame
                frame = Frame(found["file"], int(found["line"]), found["name"] or "")
            elif frame is not None and (found := _REPEATED.fullmatch(line)):
                frame = attrs.evolve(frame, repeated=int(found["times"]))
            elif frame is not None and line.startswith("    "):
                if not frame.source:
                    frame = attrs.evolve(frame, source=line.strip())
            elif line.strip() or not self._frames_follow(depth):
                break
            self.place += 1
        if frame is not None:
            yield frame

    def _frames_follow(self, depth: int) -> bool:
        """Tell whether a blank line is one within the frames, as some formatters write them."""
        following = self._at(depth, 1)
        return following is not None and following.startswith(("  ", "> File"))

    def _message(self, depth: int) -> tuple[str, tuple[str, ...]]:
        """Read type and message, up to a link, a margin's end or the end of all."""
        while (first := self._at(depth)) is not None and not first.strip():
            self.place += 1
        if first is None or first in _LINKS:
            return "", ()
        self.place += 1
        found = _TYPE.fullmatch(first)
        kind, said = (found["type"], found["message"]) if found else ("", first)
        lines = [] if said is None else [said]
        while (line := self._at(depth)) is not None and line not in _LINKS:
            lines.append(line)
            self.place += 1
        while lines and not lines[-1].strip():
            lines.pop()
        return kind, tuple(lines)

    def _members(self, depth: int, level: int) -> tuple[tuple[Raised, ...], str]:
        """Read the members of a group, if members follow."""
        members: list[Raised] = []
        left_out = ""
        expected = _FIRST_MEMBER
        indent = "  " * depth
        while depth and level < _MOST_DEPTH and self.place < len(self.lines):
            found = expected.fullmatch(self.lines[self.place])
            if found is None or found["indent"] != indent:
                break
            self.place += 1
            line = self._at(depth + 1)
            if line is not None and _LEFT_OUT.fullmatch(line):
                left_out = line
                self.place += 1
            else:
                members.append(self.chain(depth + 1, level + 1))
            expected, indent = _MEMBER, "  " * (depth + 1)
        if members and self.place < len(self.lines):
            found = _CLOSING.fullmatch(self.lines[self.place])
            self.place += found is not None and len(found["indent"]) >= len(indent)
        return tuple(members), left_out
