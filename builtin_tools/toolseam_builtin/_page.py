"""Filling one page: rows until the answer is full, with text, table and data in step."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_BYTES = 44_000
"""What one answer takes of text, table and data each: below the contract's caps, with a reserve."""

_BREAKS = re.compile(r"\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")


@attrs.define(eq=False, repr=False)
class Page:
    """Lines of text, cells of a table and rows of data that say the same.

    `take` refuses a row that does not fit into `budget` bytes any more, so that nothing is cut in
    the middle.
    """

    lines: list[str] = attrs.field(factory=list[str])
    cells: list[list[str]] = attrs.field(factory=list[list[str]])
    rows: list[list[object]] = attrs.field(factory=list[list[object]])
    budget: int = PAGE_BYTES
    _used: int = 0

    def take(self, lines: Sequence[str], cells: Sequence[str], row: Sequence[object]) -> bool:
        """Add one row in its three forms, or return `False` if the page is full."""
        used = self._used + max(_size(lines), _size(cells), _size(row))
        if used > self.budget and self.cells:
            return False
        self._used = used
        self.lines += lines
        self.cells.append(list(cells))
        self.rows.append(list(row))
        return True


def shown_range(offset: int, count: int) -> str:
    """Say which rows of a list a page shows: `shown 21 to 40`."""
    if count:
        return f"shown {offset + 1:,} to {offset + count:,}"
    return f"none shown; offset {offset:,} is past the end" if offset else "none shown"


def more_with(*ways: str) -> str:
    """Say how to get the rest: `More with offset=20.`; a way that is empty does not apply."""
    *others, last = filter(None, ways)
    return f"More with {', '.join(others)}{' or ' * bool(others)}{last}."


def next_page(offset: int, most: int, narrower: str) -> tuple[int | None, str]:
    """Return the offset of the next page, and say it; past the greatest one there is none.

    Args:
        offset: of the first row that was not shown.
        most: the greatest offset that the tool takes.
        narrower: what else brings the rest.
    """
    if offset <= most:
        return offset, more_with(f"offset={offset}")
    return None, f"{more_with(narrower)[:-1]}; paging ends at offset {most:,}."


def larger(count: int, limit: int, most: int, name: str = "limit") -> str:
    """Say `a larger limit (at most 50)`, a way for `more_with`, where the limit ended the page."""
    return f"a larger {name} (at most {most})" if count == limit < most else ""


def one_line(text: str) -> str:
    """Return text with each line break as a visible sign, so that no value forges a line."""
    return _BREAKS.sub("↵", text)


def excerpt(text: str, characters: int, around: int = 0, *, total: int | None = None) -> str:
    """Return text cut to so many characters, with a word on how many there are in all.

    Args:
        text: one line.
        characters: how many are kept at most.
        around: a place in the text that the kept part shows, with a little of what is before.
        total: how many there are in all, where the text itself is a beginning.
    """
    total = len(text) if total is None else total
    if total <= characters:
        return text
    start = max(0, min(around - characters // 3, len(text) - characters))
    kept = text[start : start + characters]
    return f"{'…' * (start > 0)}{kept}… [{total:,} characters in all]"


def _size(value: Sequence[object]) -> int:
    # JSON spells a control character with six bytes, more than any other form of the answer.
    return len(json.dumps(list(value), ensure_ascii=False).encode("utf-8", "replace"))
