"""Rows that point to one file: by a path in a column, and by a key to such a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam_builtin import _database as db
from toolseam_builtin._database._model import Excerpt
from toolseam_builtin._storages._columns import FileColumns, FileRow, file_tables
from toolseam_builtin._storages._missing import ALL_ROWS
from toolseam_builtin._storages._model import Clock

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_FOLLOWED = 20
"""How many rows that hold the path are followed to what belongs to them."""

_MOST = 1_000
"""How many rows of one table are kept."""


@attrs.frozen
class Pointer:
    """One row that points to the file, as an answer shows it.

    `via` is the row in between, where it is not the row itself that holds the path.
    """

    record: str
    column: str
    value: str
    label: str
    via: str = ""


@attrs.define
class Pointers:
    """Rows that point to a file: those of one page; `total` counts them all, `linked` the indirect.

    `followed` tells whether rows that belong to the found ones were looked for, for each of them;
    `stopped` names the tables that were not read to their end.
    """

    sources: list[FileColumns]
    warnings: list[str]
    rows: list[Pointer] = attrs.field(factory=list[Pointer])
    total: int = 0
    linked: int = 0
    followed: bool = True
    stopped: list[str] = attrs.field(factory=list[str])


@attrs.frozen
class Pointing:
    """A search for rows that hold one of the texts by which a file is spelled."""

    texts: tuple[str, ...]
    clock: Clock
    offset: int = 0
    limit: int = 100

    def run(self, database: db.Database, workspace: Workspace) -> Pointers:
        """Look into all file tables, as far as the time allows."""
        sources, warnings = file_tables(database, workspace, every=True)
        pointers = Pointers(sources, warnings)
        direct: list[FileRow] = []
        for number, source in enumerate(sources):
            # Some time is kept for what belongs to the rows.
            seconds = self.clock.left(len(sources) - number + 1)
            direct += self._direct(database, source, pointers, seconds)
        for row in direct[:_FOLLOWED]:
            self._follow(database, workspace, row, pointers)
        pointers.followed = len(direct) <= _FOLLOWED
        return pointers

    def _direct(
        self, database: db.Database, source: FileColumns, pointers: Pointers, seconds: float
    ) -> list[FileRow]:
        """Add the rows of one table that hold one of the texts, and return them with their keys."""
        among = db.Among(self.texts, source.columns)
        query = source.query(ALL_ROWS, among=among)
        found = self._read(database, source, query, pointers, seconds)
        keys = tuple(name for name, _, _ in _links(database, source.table)) if found else ()
        if keys:
            source = attrs.evolve(source, also=keys)
            query = source.query(ALL_ROWS, among=among)
            found = self._read(database, source, query, pointers, seconds)
        for row in found:
            shown = row.shown()
            for column, text in row.paths():
                if text in self.texts:
                    value = shown.cells[column].text
                    self._add(pointers, Pointer(shown.record, column, value, shown.label))
        return found

    def _follow(
        self, database: db.Database, workspace: Workspace, row: FileRow, pointers: Pointers
    ) -> None:
        """Add the rows that belong to a row by a foreign key of either side."""
        via = row.shown().record
        for own, table, column in _links(database, row.source.table):
            value = _scalar(row.cells.get(own))
            related = None if value is None else database.table(table)
            if related is not None and _usable(related, column):
                self._related(database, workspace, pointers, (related, column, value, via))

    def _related(
        self,
        database: db.Database,
        workspace: Workspace,
        pointers: Pointers,
        wanted: tuple[db.Table, str, db.Scalar, str],
    ) -> None:
        table, column, value, via = wanted
        label = db.label_column(table, workspace.table_settings(table.name).label)
        source = FileColumns(table, (column,), label)
        query = attrs.evolve(source.query(ALL_ROWS), where=((column, value),))
        for row in self._read(database, source, query, pointers, self.clock.left()):
            shown = row.shown()
            text = shown.cells[column].text
            self._add(pointers, Pointer(shown.record, column, text, shown.label, via))

    def _read(
        self,
        database: db.Database,
        source: FileColumns,
        query: db.Query,
        pointers: Pointers,
        seconds: float,
    ) -> list[FileRow]:
        found: list[FileRow] = []

        def take(cells: tuple[db.Cell, ...]) -> bool:
            found.append(source.row(cells))
            return len(found) < _MOST

        complete = seconds > 0 and database.scan(query, take, seconds) and len(found) < _MOST
        if not complete and source.table.title not in pointers.stopped:
            pointers.stopped.append(source.table.title)
        return found

    def _add(self, pointers: Pointers, pointer: Pointer) -> None:
        pointers.total += 1
        pointers.linked += bool(pointer.via)
        if self.offset < pointers.total <= self.offset + self.limit:
            pointers.rows.append(pointer)


def _links(database: db.Database, table: db.Table) -> list[tuple[str, str, str]]:
    """Return own column, other table, its column, for each foreign key of one column, both ways."""
    structure = database.structure(table)
    return [
        (key.columns[0], key.table, key.target[0])
        for key in (*structure.foreign_keys, *structure.referenced_by)
        if key.table is not None and len(key.columns) == len(key.target) == 1
        if _usable(table, key.columns[0])
    ]


def _usable(table: db.Table, name: str) -> bool:
    column = table.column(name)
    return column is not None and column.comparable


def _scalar(cell: db.Cell) -> db.Scalar:
    """Return a key's value as a filter takes it, `None` for what is no key."""
    if isinstance(cell, Excerpt):
        return cell.text if cell.total == len(cell.text) else None
    return cell if isinstance(cell, int | str) and not isinstance(cell, bool) else None
