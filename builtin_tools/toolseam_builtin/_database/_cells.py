"""Cells on their way into an answer: one text for content and table, one value for the data."""

from __future__ import annotations

import json
import re
from datetime import date, datetime
from typing import TYPE_CHECKING

import attrs

from toolseam import json_safe
from toolseam.guards import MASK, is_sensitive_name, mask_fields, mask_secrets
from toolseam_builtin._database._model import FETCH_CHARACTERS, Blob, Excerpt
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from toolseam_builtin._database._model import Cell, Column, Table

CELL_CHARACTERS = 300
"""How much text of a cell a list of rows shows."""

_BLANKS = "\ufeff \t\r\n"
_WORD = re.compile(r"[\w.\-]{1,128}")
_NAME_CHARACTERS = 200
_SEGMENT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NAMING = frozenset({
    "attribute", "code", "column", "columnname", "field", "fieldname", "key", "name", "option",
    "parameter", "property", "setting", "variable",
})  # fmt: skip
_LABELS = ("label", "title", "name", "headline", "subject", "caption", "description")
_VALUES = frozenset({
    "after", "before", "new", "newvalue", "old", "oldvalue", "previous", "val", "value", "values",
})  # fmt: skip


@attrs.frozen
class Shown:
    """One cell as an answer shows it; `doubt` says why a value is not what its column declares."""

    text: str
    value: object
    doubt: str | None = None


def engine_text(text: str) -> str:
    """Return text that the engine stores (a default, a condition, a comment) fit to be shown."""
    if len(text) > FETCH_CHARACTERS:
        return f"({len(text):,} characters)"
    masked, _ = mask_secrets(text)
    return one_line(excerpt(masked, CELL_CHARACTERS))


def names_field(column: str) -> bool:
    """Tell whether a column holds the name of a field that its row speaks of."""
    return not _NAMING.isdisjoint(_segments(column))


def holds_named_value(column: str) -> bool:
    """Tell whether a column holds the value of a field that another cell names."""
    return not _VALUES.isdisjoint(_segments(column))


def label_column(table: Table, named: str | None = None) -> str | None:
    """Return the column that names a record to people: the workspace's word, else a usual name."""
    readable = [column.name for column in table.readable()]
    usual = {name.casefold(): name for name in readable}
    if named is not None and named.casefold() in usual:
        return usual[named.casefold()]
    return next((usual[name] for name in _LABELS if name in usual), None)


def show_row(table: Table, columns: tuple[Column, ...], cells: tuple[Cell, ...]) -> list[Shown]:
    """Return the cells of one row as an answer shows them.

    Args:
        table: where the row is from; decides whether cells of it are named by others.
        columns: what the cells are, in their order; every naming column of a table that has
            paired ones must be among them.
        cells: as the reader gave them.
    """
    secret = speaks_of_secret(table, columns, cells)
    return [
        Shown(MASK, MASK) if secret and column.paired and cell is not None else show(cell, column)
        for column, cell in zip(columns, cells, strict=True)
    ]


def speaks_of_secret(table: Table, columns: tuple[Column, ...], cells: tuple[Cell, ...]) -> bool:
    """Tell whether a row names a sensitive field, so that its paired cells are not shown."""
    return any(column.paired for column in table.columns) and any(
        isinstance(cell, Excerpt)
        and column.naming
        and is_sensitive_name(cell.text[:_NAME_CHARACTERS])
        for column, cell in zip(columns, cells, strict=True)
    )


def show(cell: Cell, column: Column, *, characters: int = CELL_CHARACTERS) -> Shown:
    """Return one cell as an answer shows it, at most `characters` of its text."""
    if cell is None:
        return Shown("null", None)
    if isinstance(cell, Blob):
        return Shown(f"({cell.size:,} bytes)", {"bytes": cell.size})
    kind = _time_kind(column.type)
    if isinstance(cell, Excerpt):
        return _text(cell, kind, characters)
    if isinstance(cell, bool):
        return Shown("true" if cell else "false", cell)
    value = json_safe(cell)
    text = value if isinstance(value, str) else str(value)
    if len(text) > characters:
        return _text(Excerpt(text, len(text)), kind, characters)
    return Shown(text, value, f"no {kind}, shown as stored" if kind else None)


def mask_json(text: str) -> str:
    """Return the text with values under sensitive keys masked, if it is JSON."""
    if not begins_json(text):
        return text
    try:
        value: object = json.loads(text.lstrip(_BLANKS))
        masked = mask_fields(value, mask_json)
    except (ValueError, RecursionError):
        return f"[withheld: {len(text):,} characters that name a secret]" if _risky(text) else text
    return text if masked == value else json.dumps(masked, ensure_ascii=False)


def begins_json(text: str) -> bool:
    """Tell whether a text begins as JSON that may have keys does."""
    return text.lstrip(_BLANKS)[:1] in {"{", "[", '"'}


def _risky(text: str) -> bool:
    # An escape may spell a name that no word of the text shows.
    return "\\u" in text or any(is_sensitive_name(word) for word in _WORD.findall(text))


def _text(cell: Excerpt, kind: str | None, characters: int) -> Shown:
    text, total = cell.text, cell.total
    if kind is not None:
        moment = _moment(text, kind)
        if moment is not None:
            return Shown(moment, moment)
    if total > len(text) and begins_json(text):
        note = f"[JSON of {total:,} characters]"
        return Shown(note, note)
    masked, _ = mask_secrets(mask_json(text))
    if masked != text:
        text, total = masked, len(masked)
    doubt = f"no {kind}, shown as stored" if kind else None
    if total > characters:
        cut = excerpt(text, characters, total=total)
        return Shown(one_line(cut), cut, doubt)
    return Shown(one_line(text), text, doubt)


def _time_kind(declared: str) -> str | None:
    word = declared.casefold().split("(", 1)[0].strip()
    if word == "date":
        return "date"
    return "time" if word.startswith(("datetime", "timestamp")) else None


def _moment(text: str, kind: str) -> str | None:
    try:
        if kind == "date" or len(text) <= len("2024-02-29"):
            return date.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return None


def _segments(name: str) -> set[str]:
    return {segment.casefold() for segment in _SEGMENT.findall(name)}
