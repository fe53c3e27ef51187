"""Looking through the sources of a workspace, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin.code import PASSED_OVER
from toolseam_builtin.code._source import read_lines

if TYPE_CHECKING:
    from toolseam.guards import PathGuard

    Finder = Callable[[str], int]
    """Gives the place of the first match in a line, or -1."""

_EXPRESSION_BYTES = 8 << 20
"""Memory for one compiled expression; the engine stays linear when it does not suffice."""


@attrs.frozen
class Budget:
    """What one search may cost: a moment of `time.monotonic()`, files, bytes of text."""

    end: float
    cancelled: Callable[[], bool]
    files: int = 20_000
    size: int = 64_000_000

    def spent(self, files: int, size: int) -> str | None:
        """Name the part of the budget that is used up."""
        if files >= self.files:
            return f"{self.files:,} files"
        if size >= self.size:
            return f"{self.size:,} bytes"
        return "the time limit" if time.monotonic() >= self.end or self.cancelled() else None


@attrs.frozen
class Hit:
    """One matching line, as it may be shown, and the place of its first match."""

    file: str
    line: int
    text: str
    place: int


@attrs.define
class Found:
    """What a search came to; `hits` are the first ones, `total` counts them all.

    `cut` counts files that were too large to be read whole, `passed_over` those that are no text
    or may not be read, `stopped` names the part of the budget that ended the search.
    """

    hits: list[Hit] = attrs.field(factory=list[Hit])
    total: int = 0
    files: int = 0
    matching_files: int = 0
    size: int = 0
    cut: int = 0
    passed_over: int = 0
    stopped: str | None = None


def finder(pattern: str, *, regex: bool) -> Finder:
    """Return what finds a text in a line, or an expression on an engine with linear time.

    Raises `ToolError`: `unavailable` if the engine is not installed, `invalid_arguments` if it
    does not accept the expression.
    """
    if not regex:
        return lambda line: line.find(pattern)
    try:
        re2 = import_module("re2")
    except ImportError:
        raise ToolError(
            "Expressions need google-re2: install toolseam[regex], or search for a plain text.",
            ErrorCode.UNAVAILABLE,
            metadata={"extra": "regex"},
        ) from None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _EXPRESSION_BYTES
    try:
        search_line = re2.compile(pattern, options).search
    except re2.error:
        raise ToolError(
            "The pattern is no RE2 expression (no look-around, no back-references).",
            ErrorCode.INVALID_ARGUMENTS,
        ) from None

    def find(line: str) -> int:
        match = search_line(line)
        return -1 if match is None else int(match.start())

    return find


def search(guard: PathGuard, start: str, find: Finder, budget: Budget, keep: int) -> Found:
    """Search the text files below a folder in order, as they may be shown.

    Args:
        guard: gives out the files.
        start: a folder or file below the guard's root.
        find: the place of the first match in a line.
        budget: when to stop.
        keep: how many hits are kept; all are counted.

    Raises `ToolError` as `PathGuard.walk` does.
    """
    found = Found()
    for name in guard.walk(start, leave_out=PASSED_OVER):
        found.stopped = budget.spent(found.files + found.passed_over, found.size)
        if found.stopped:
            break
        try:
            source = read_lines(guard, name)
        except ToolError:
            source = None
        if source is None:
            found.passed_over += 1
            continue
        found.files += 1
        found.size += source.size
        found.cut += not source.complete
        before = found.total
        for number, line in enumerate(source.lines, 1):
            place = find(line)
            if place >= 0:
                found.total += 1
                if found.total <= keep:
                    found.hits.append(Hit(source.name, number, line, place))
        found.matching_files += found.total > before
    return found
