"""Looking through the sources of a workspace, within a budget."""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK, mask_secrets, read_tree
from toolseam_builtin.code import PASSED_OVER
from toolseam_builtin.code._source import is_text, source_of

if TYPE_CHECKING:
    from toolseam.guards import FileRead, PathGuard

_NO_TEXT = "\0" * len(MASK)
# Alternatives, flags, and escapes that stand for more than the sign behind them.
_UNCLEAR = re.compile(r"\||\(\?|\\[^\WwWdDsSbB]|\[\^?\]|\[[^\]]*\[")
_TOKEN = re.compile(r"\\.|\[(?:[^\]\\]|\\.)+\]|\{[^}]*\}|.", re.DOTALL)
_SIGNS = frozenset(".^$?*+{}[]\\")
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TIME = "the time limit"
_EXPRESSION_BYTES = 8 << 20
"""Memory for one compiled expression; the engine stays linear when it does not suffice."""


@attrs.frozen
class Budget:
    """What one search may cost: a moment of `time.monotonic()`, files, bytes of text."""

    end: float
    cancelled: Callable[[], bool]
    files: int = 200_000
    size: int = 2_000_000_000

    def over(self) -> bool:
        """Tell whether the time is used up."""
        return time.monotonic() >= self.end or self.cancelled()

    def spent(self, files: int, size: int) -> str | None:
        """Name the part of the budget that is used up."""
        if files >= self.files:
            return f"{self.files:,} files"
        if size >= self.size:
            return f"{self.size:,} bytes"
        return _TIME if self.over() else None


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


@attrs.frozen
class Finder:
    """Finds a pattern in lines: `place` gives where the first match begins, or -1.

    `needed` is UTF-8 text without which no line matches, whatever is masked in it; or nothing.
    """

    place: Callable[[str], int]
    needed: bytes = b""

    def may_match(self, file: FileRead) -> bool:
        """Tell by the bytes of a file whether a line of it can match once it is masked."""
        return self.needed in file.data or file.data.startswith(_WIDE)


def finder(pattern: str, *, regex: bool) -> Finder:
    """Return what finds a text in a line, or an expression on an engine with linear time.

    Raises `ToolError`: `unavailable` if the engine is not installed, `invalid_arguments` if it
    does not accept the expression.
    """
    if not regex:
        return _text_finder(pattern)
    try:
        re2 = import_module("re2")
    except ImportError:
        raise ToolError(
            "Expressions need google-re2: install toolseam[regex], or search for a plain text.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "missing_extra", "extra": "regex"},
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

    def place(line: str) -> int:
        match = search_line(line)
        return -1 if match is None else int(match.start())

    return Finder(place, max(map(_needed, _literals(pattern)), key=len, default=b""))


def _text_finder(pattern: str) -> Finder:
    """Find a text; a part of a mask is not what anybody looks for, a whole one may be."""
    if pattern not in MASK or pattern == MASK:
        return Finder(lambda line: line.find(pattern), _needed(pattern))
    return Finder(lambda line: line.replace(MASK, _NO_TEXT).find(pattern), pattern.encode())


def _needed(text: str) -> bytes:
    """Give a text that must be in the file itself where it is found in what may be shown.

    Masking puts `MASK` in the place of something. So what holds a bracket, or lies within a mask,
    can be shown without being in the file; so can U+FFFD, which stands for bytes that are no text.
    """
    unclear = set(text) & set("[]\ufffd") or any("\ud800" <= sign <= "\udfff" for sign in text)
    return b"" if unclear or text in MASK else text.encode()


def _literals(pattern: str) -> list[str]:
    """Give texts that any match of an expression holds; none where that is not plain to see."""
    if _UNCLEAR.search(pattern):
        return []
    found, run, depth = [""], "", 0
    for part in _TOKEN.findall(pattern):
        if part in {"(", ")"}:
            depth += 1 if part == "(" else -1
        elif depth == 0 and part not in _SIGNS and len(part) == 1:
            run += part
            continue
        elif depth == 0 and part[0] == "\\" and not part[1].isalpha():
            run += part[1]
            continue
        elif part[0] in "?*{":
            run = run[:-1]
        found.append(run)
        run = ""
    return [*found, run]


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
    with closing(read_tree(guard, start, leave_out=PASSED_OVER)) as files:
        for file in files:
            found.stopped = found.stopped or budget.spent(
                found.files + found.passed_over, found.size
            )
            if found.stopped:
                break
            if file is None or not is_text(file.data):
                found.passed_over += 1
                continue
            found.files += 1
            found.size += file.size
            found.cut += not file.complete
            if find.may_match(file):
                _search_file(file, find, found, keep, budget)
    return found


def _search_file(file: FileRead, find: Finder, found: Found, keep: int, budget: Budget) -> None:
    """Add the matching lines of one file, as they may be shown."""
    source = source_of(file, budget.over)
    if source is not None and source.stopped:
        found.stopped = _TIME
    before = found.total
    for number, line in enumerate(source.lines if source is not None else (), 1):
        place = find.place(line)
        if place >= 0:
            found.total += 1
            if found.total <= keep:
                found.hits.append(Hit(mask_secrets(file.name)[0], number, line, place))
    found.matching_files += found.total > before
