"""A sample of the values of one JSON column."""

from __future__ import annotations

import json
import time

import attrs

from toolseam_builtin import _database as db
from toolseam_builtin.structure._shape import Shape

_SECONDS = 1.0
_PAGE = 200
_CHARACTERS = 65_536


@attrs.define
class Sample:
    """The values that were looked at, and what was left aside, by the reason why."""

    shape: Shape = attrs.field(factory=Shape)
    taken: int = 0
    rows: int = 0
    aside: dict[str, int] = attrs.field(factory=dict[str, int])
    stopped: bool = False


def look(database: db.Database, table: db.Table, column: db.Column, wanted: int) -> Sample:
    """Take the first so many values in key order; cells without one do not count."""
    names = tuple(dict.fromkeys((column.name, *table.naming())))
    fetched = db.columns_of(table, names)
    sample = Sample()
    until = time.monotonic() + _SECONDS

    def take(row: tuple[db.Cell, ...]) -> bool:
        sample.rows += 1
        masked = column.paired and db.speaks_of_secret(table, fetched, row)
        hidden = masked and row[0] is not None
        reason = "masked, as other cells name a secret" if hidden else _add(sample.shape, row[0])
        if reason is None:
            sample.taken += 1
        else:
            sample.aside[reason] = sample.aside.get(reason, 0) + 1
        sample.stopped = time.monotonic() > until
        return sample.taken < wanted and not sample.stopped

    size = min(wanted, _PAGE)
    while sample.taken < wanted and not sample.stopped:
        before = sample.rows
        query = db.Query(table, names, limit=size, offset=before, characters=_CHARACTERS)
        left = max(0.0, until - time.monotonic())
        whole = database.scan(query, take, left)
        sample.stopped |= not whole
        if sample.rows < before + size:
            break
    return sample


def _add(shape: Shape, cell: db.Cell) -> str | None:
    """Add what a cell holds, or return why not."""
    if cell is None:
        return "empty"
    if not isinstance(cell, db.Excerpt):
        return "no text"
    if cell.total > len(cell.text):
        return f"longer than {_CHARACTERS:,} characters"
    try:
        shape.take(json.loads(cell.text.lstrip("\ufeff")))
    except RecursionError:
        return "nested more than 64 deep"
    except ValueError:
        return "no JSON"
    return None
