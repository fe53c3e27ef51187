"""Artifacts to take away: CSV for spreadsheets, and JSON, which is the faithful one (H36)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula, unless it is a number."""
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    plain = text[1:] if text[:1] in {"+", "-"} else text
    whole, point, rest = plain.partition(".")
    digits = [whole, rest] if point else [whole]
    return all(part.isascii() and part.isdigit() for part in digits if part) and any(digits)


def sheet(kind: str, data: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return an artifact as CSV with a heading; None for a shape that has no rows.

    Args:
        kind: the type of the artifact.
        data: its data, of that type's shape.
    """
    try:
        rows = _rows(kind, data)
        return None if rows is None else "".join(_written(rows))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # a stored one that went through the redactor may have lost its shape


def _rows(kind: str, data: Any) -> Iterable[Iterable[Any]] | None:  # noqa: ANN401
    if kind == "table":
        return [data["columns"], *data["rows"]]
    if kind == "key_value":
        return [["key", "value"], *data["items"]]
    if kind == "tree":
        return [["depth", "text"], *data["nodes"]]
    if kind == "text":
        return [["text"], *([line] for line in data["text"].splitlines())]
    if kind == "code":
        first = data["first_line"]
        return [["line", "text"], *([first + n, line] for n, line in enumerate(data["lines"]))]
    return None


def _written(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow([cell(str(each)) for each in row])
        yield line.getvalue()
