"""Going through the tables of a database, and through the rows that refer to others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ToolError
from toolseam_builtin.structure._findings import (
    ORPHANS,
    Finding,
    countable,
    findings,
    reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin import _database as db

_KEY_SECONDS = 0.3


@attrs.define
class Review:
    """What was found, and what was looked at.

    `tables` of `total` were checked; `counted` references were held against the rows, `uncounted`
    were not within the budget, `unreadable` lead to what may not be read, and `capped` tables
    have more rows than were looked at.
    """

    total: int
    tables: int = 0
    counted: int = 0
    uncounted: list[str] = attrs.field(factory=list[str])
    unreadable: int = 0
    capped: int = 0
    findings: list[Finding] = attrs.field(factory=list[Finding])


def check(database: db.Database, name: str | None, until: float) -> Review:
    """Check tables until a moment on the monotonic clock; counting gives way to checking."""
    if name is None:
        entries = database.tables(count=False)
        names = sorted(entry.title for entry in entries if entry.kind == "table")
    else:
        names = [name]
    review = Review(len(names))
    reserved = database.reserved_words()
    checked: dict[str, tuple[db.Table, db.Structure]] = {}
    for title in names:
        if review.tables and time.monotonic() > until:
            break
        table = database.table(title)
        structure = database.structure(table)
        checked[table.title] = (table, structure)
        review.tables += 1
        review.findings += findings(table, structure, reserved)
    for table, structure in checked.values():
        for key in sorted(structure.foreign_keys, key=lambda key: (key.columns, key.table or "")):
            review.findings += _orphans(database, table, key, review, until)
    review.findings.sort(key=lambda each: (each.table, each.kind, each.text))
    return review


def _orphans(
    database: db.Database, table: db.Table, key: db.ForeignKey, review: Review, until: float
) -> Iterator[Finding]:
    if key.table is None:
        review.unreadable += 1
        return
    seconds = min(_KEY_SECONDS, until - time.monotonic())
    found = None
    if seconds > 0:
        if not countable(table, database.table(key.table), key):
            review.unreadable += 1
            return
        found = _counted(database, table, key, seconds)
    if found is None:
        review.uncounted.append(f"{table.title}: {reference(key)}")
        return
    review.counted += 1
    review.capped += found.capped
    if found.count:
        least = "at least " if found.capped else ""
        rows = "row refers" if found.count == 1 else "rows refer"
        text = f"{least}{found.count:,} {rows} to none: {reference(key)}"
        yield Finding(table.title, ORPHANS, text, found.count)


def _counted(
    database: db.Database, table: db.Table, key: db.ForeignKey, seconds: float
) -> db.Orphans | None:
    try:
        return database.orphans(table, key, seconds)
    except ToolError:
        # Cells or types that the engine does not compare: nothing is known of such a reference.
        return None
