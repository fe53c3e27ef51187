"""Plain tables that fit the reader's width: cells are wrapped, never cut."""

from __future__ import annotations

from toolseam.cli._terminal import Shown, joined, one_line, paint

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_GAP = "  "
_NARROWEST = 8


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    width: int | None,
    style: Callable[[int, str], Shown] | None = None,
) -> Shown:
    """Return a table as lines without the last newline.

    Args:
        headings: one a column.
        rows: cells, as many a row as there are headings.
        width: columns of the terminal; None lets the table be as wide as its cells.
        style: paints one line of a cell, given the number of its column.
    """
    heads = [one_line(head) for head in headings]
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = _fit([max(map(measure, column)) for column in zip(heads, *cells, strict=True)], width)
    lines = [_row(heads, widths, lambda _, cell: paint(cell, "bold"))]
    lines += [_row(["─" * w for w in widths], widths, lambda _, cell: paint(cell, "dim"))]
    lines += [_row(row, widths, style or (lambda _, cell: Shown(cell))) for row in cells]
    return joined(*[part for line in lines for part in (line, Shown("\n"))][:-1])


def measure(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text
    )


def wrapped(text: str, width: int) -> Iterator[str]:
    """Break `text` into lines of at most `width` columns, between words where it can."""
    if measure(text) <= width:
        yield text
        return
    line, taken = "", 0
    for word in text.split(" "):
        size = measure(word)
        if line and taken + 1 + size <= width:
            line, taken = f"{line} {word}", taken + 1 + size
            continue
        if line:
            yield line
        *whole, line = _pieces(word, width)
        yield from whole
        taken = measure(line)
    yield line


def _pieces(word: str, width: int) -> list[str]:
    pieces, taken = [""], 0
    for letter in word:
        size = measure(letter)
        if taken + size > width and pieces[-1]:
            pieces.append("")
            taken = 0
        pieces[-1] += letter
        taken += size
    return pieces


def _fit(natural: list[int], width: int | None) -> list[int]:
    """Take columns from the widest ones until the table fits, or all are as narrow as may be."""
    widths = [max(1, size) for size in natural]
    if width is None:
        return widths
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    while excess > 0:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        ranked = sorted(widths)
        second = ranked[-2] if len(ranked) > 1 else _NARROWEST
        step = min(excess, max(1, widths[widest] - max(second, _NARROWEST)))
        widths[widest] -= step
        excess -= step
    return widths


def _row(row: Sequence[str], widths: Sequence[int], style: Callable[[int, str], Shown]) -> Shown:
    broken = [list(wrapped(cell, size)) for cell, size in zip(row, widths, strict=True)]
    height = max(map(len, broken))
    lines: list[str] = []
    for number in range(height):
        parts: list[str] = []
        for column, (lines_of, size) in enumerate(zip(broken, widths, strict=True)):
            text = lines_of[number] if number < len(lines_of) else ""
            padding = _GAP if column + 1 < len(widths) else ""
            blank = " " * (size - measure(text)) if padding else ""
            parts += [style(column, text), blank, padding]
        lines.append(joined(*parts).rstrip(" "))
    return Shown("\n".join(lines))
