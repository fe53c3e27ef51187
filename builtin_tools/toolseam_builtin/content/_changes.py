"""The changes of one record, out of either shape of a history table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK, is_sensitive_name
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from collections.abc import Mapping

_VALUE = 120
_VERSIONS = 1_000_000
_NAME = 200


@attrs.frozen
class Change:
    """One field of a record before and after, as an answer shows it; unknown is empty."""

    when: str
    who: str
    field: str
    old: str
    new: str


@attrs.frozen
class Changes:
    """The newest changes of a record; `more` says that there are older ones."""

    title: str
    key: str
    source: str
    field: str | None
    found: tuple[Change, ...]
    more: bool
    complete: bool


@attrs.frozen
class Asked:
    """Which record, by its table and key, and which of its fields."""

    table: db.Table
    key: str | int
    field: str | None


@attrs.frozen
class Source:
    """The rows of a history that are about one record, and perhaps about one field of it."""

    table: db.Table
    history: db.History
    about: db.Where
    field: str | None

    def hides(self, field: str) -> bool:
        """Tell whether the values of a field are not shown."""
        column = self.table.column(field)
        return is_sensitive_name(field[:_NAME]) or (column is not None and column.sensitive)

    def frame(self, cells: Mapping[str, tuple[db.Column, db.Cell]]) -> tuple[str, str]:
        """Return when and by whom, empty where it is not known."""
        when, who = (
            "" if name is None else _text(*cells[name])
            for name in (self.history.when, self.history.who)
        )
        return when, who


def read_changes(
    database: db.Database, history: db.History, asked: Asked, *, limit: int
) -> Changes:
    """Return the newest changes of a record, of one field if one is asked for.

    Raises `ToolError`: `not_found` if neither the record nor a change of it is there,
    `invalid_arguments` for a field that neither the record nor a change of it has.
    """
    table, column = asked.table, None if asked.field is None else asked.table.column(asked.field)
    name = asked.field if column is None else column.name
    about, present = _about(database, history, asked)
    read = _versions if history.field is None else _rows
    found, complete = read(database, Source(table, history, about, name), limit + 1)
    if not found and not present:
        raise db.no_record(table, asked.key)
    if not found and name is not None and column is None:
        raise db.no_column(name, table.title, [each.name for each in table.columns])
    return Changes(
        title=table.title,
        key=str(asked.key),
        source=history.table.title,
        field=name,
        found=tuple(found[:limit]),
        more=len(found) > limit,
        complete=complete,
    )


def _about(database: db.Database, history: db.History, asked: Asked) -> tuple[db.Where, bool]:
    """Return which rows are about the record, and whether the record is there."""
    title = asked.table.title
    try:
        _, cells = db.find_record(database, asked.table, asked.key, [history.target])
    except ToolError as failure:
        keyed = asked.table.key() == (history.target,)
        if failure.code is not ErrorCode.NOT_FOUND or not keyed:
            raise
        # The history of a record outlives it.
        return history.of(title, asked.key), False
    return history.of(title, db.scalar(cells[0])), True


def _rows(database: db.Database, source: Source, limit: int) -> tuple[list[Change], bool]:
    """Read changes from a history whose rows are changes."""
    history, table = source.history, source.history.table
    field = history.field or ""
    where = source.about if source.field is None else (*source.about, (field, source.field))
    told = (history.when, history.who, field, history.old, history.new)
    names = tuple(dict.fromkeys((*table.naming(), *(name for name in told if name))))
    columns = db.columns_of(table, names)
    newest = history.when or table.order()[0]
    try:
        rows, complete = db.read_until(
            database, db.Query(table, names, where, limit, newest=newest)
        )
    except ToolError as failure:
        if failure.code is not ErrorCode.INVALID_ARGUMENTS:
            raise
        # A key that does not fit its column is the key of no record.
        return [], True
    changes: list[Change] = []
    for row in rows:
        cells = dict(zip(names, zip(columns, row, strict=True), strict=True))
        column, cell = cells[field]
        name = db.show(cell, column).text
        secret = source.hides(name) or db.speaks_of_secret(table, columns, row)
        old, new = _pair(
            None if history.old is None else _value(*cells[history.old], secret=secret),
            None if history.new is None else _value(*cells[history.new], secret=secret),
        )
        changes.append(Change(*source.frame(cells), name, old, new))
    return changes, complete


def _versions(database: db.Database, source: Source, limit: int) -> tuple[list[Change], bool]:
    """Read changes from a history whose rows are versions, each compared with the one before."""
    history, table = source.history, source.history.table
    copies = [name for name in history.copies if source.field in {None, name}]
    if not copies:
        raise db.no_column(source.field or "", table.title, history.copies)
    told = (name for name in (history.when, history.who) if name)
    names = tuple(dict.fromkeys((*table.naming(), *told, *copies)))
    columns = db.columns_of(table, names)
    changes: list[Change] = []
    later: list[dict[str, tuple[db.Column, db.Cell]]] = []
    masked: list[bool] = []

    def take(row: tuple[db.Cell, ...]) -> bool:
        earlier = dict(zip(names, zip(columns, row, strict=True), strict=True))
        masked.append(db.speaks_of_secret(table, columns, row))
        if later:
            secret = any(masked[-2:])
            for name in copies:
                column, before = earlier[name]
                after = later[-1][name][1]
                if before != after:
                    hidden = source.hides(name) or (secret and column.paired)
                    texts = (_value(column, cell, secret=hidden) for cell in (before, after))
                    changes.append(Change(*source.frame(later[-1]), name, *_pair(*texts)))
        later[:] = [earlier]
        return len(changes) < limit

    newest = history.when or table.order()[0]
    query = db.Query(table, names, source.about, _VERSIONS, newest=newest)
    complete = database.scan(query, take, db.READ_SECONDS)
    if later and complete and len(changes) < limit:
        changes.append(Change(*source.frame(later[-1]), "(first version)", "", ""))
    return changes[:limit], complete


def _value(column: db.Column, cell: db.Cell, *, secret: bool) -> str:
    """Return a value as an answer shows it, not yet cut."""
    if cell is None:
        return "(unset)"
    if secret:
        return MASK
    return db.show(cell, column, characters=db.FETCH_CHARACTERS).text or "(empty)"


def _pair(old: str | None, new: str | None) -> tuple[str, str]:
    """Return two values cut to where they begin to differ; an unknown one is empty."""
    if old is None or new is None:
        return _cut(old, 0), _cut(new, 0)
    alike = next(
        (place for place, pair in enumerate(zip(old, new, strict=False)) if len(set(pair)) > 1), 0
    )
    return _cut(old, alike), _cut(new, alike)


def _cut(text: str | None, around: int) -> str:
    return "" if text is None else db.excerpt(text, _VALUE, around)


def _text(column: db.Column, cell: db.Cell) -> str:
    return "" if cell is None else db.show(cell, column).text
