"""Rows that point to files: the tables and columns that do, and what names and describes a row."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db
from toolseam_builtin._database._cells import Shown, _segments
from toolseam_builtin._database._model import Excerpt
from toolseam_builtin._database._text_search import holds_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_builtin.workspace import TableSettings, Workspace

PATH_CHARACTERS = 1_000
"""The longest text that is taken for a path."""

_FILES = frozenset({
    "attachment", "audio", "avatar", "cover", "document", "download", "file", "filename",
    "filepath", "href", "icon", "image", "img", "logo", "media", "path", "photo", "picture",
    "poster", "src", "thumb", "thumbnail", "url", "video",
})  # fmt: skip
_NO_FILES = frozenset({"alt", "alternative", "caption", "description", "mime", "title", "type"})
_ALTERNATIVE = ("alternative_text", "alt_text", "alt", "alternative", "alternativetext")


@attrs.frozen
class FileColumns:
    """One table whose rows point to files.

    `named` tells whether the workspace says so; else the columns' names do. `also` are further
    columns that are read.
    """

    table: db.Table
    columns: tuple[str, ...]
    label: str | None = None
    alternative_text: str | None = None
    named: bool = True
    also: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that are read of a row."""
        return tuple(
            dict.fromkeys((*self.table.key(), *self.table.naming(), *self.searched(), *self.also))
        )

    def searched(self) -> tuple[str, ...]:
        """Return the columns that say something of the file."""
        described = [name for name in (self.label, self.alternative_text) if name is not None]
        return (*self.columns, *described)

    def query(
        self, limit: int, *, among: db.Among | None = None, contains: db.Contains | None = None
    ) -> db.Query:
        """Return the question for rows."""
        return db.Query(
            self.table,
            self.names,
            limit=limit,
            characters=PATH_CHARACTERS,
            among=among,
            contains=contains,
        )

    def all_paths(self, cells: tuple[db.Cell, ...], known: Callable[[str], bool]) -> bool:
        """Tell whether each file column of a row that `query` gave holds a text that is known."""
        return all(
            isinstance(cell := cells[place], Excerpt) and known(cell.text) for place in self.places
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Where the file columns are among the cells of a row."""
        return tuple(self.names.index(name) for name in self.columns)

    def row(self, cells: tuple[db.Cell, ...]) -> FileRow:
        """Return a row that `query` gave."""
        return FileRow(self, dict(zip(self.names, cells, strict=True)))


@attrs.frozen
class FileRow:
    """One row that points to files; `cells` are as they are stored."""

    source: FileColumns
    cells: dict[str, db.Cell]

    def paths(self) -> list[tuple[str, str]]:
        """Return the file columns that hold a whole text, each with the text."""
        found = ((name, self.cells[name]) for name in self.source.columns)
        return [
            (name, cell.text)
            for name, cell in found
            if isinstance(cell, Excerpt) and cell.total == len(cell.text) and cell.text
        ]

    def texts(self) -> list[str]:
        """Return all texts of the row, as they are stored."""
        return [cell.text for cell in self.cells.values() if isinstance(cell, Excerpt)]

    def shown(self) -> ShownRow:
        """Return the row as an answer shows it."""
        table = self.source.table
        names = tuple(self.cells)
        columns = tuple(table.column(name) or db.Column(name, "integer") for name in names)
        cells = db.show_row(table, columns, tuple(self.cells.values()))
        return ShownRow(self.source, dict(zip(names, cells, strict=True)))


@attrs.frozen
class ShownRow:
    """One row as an answer shows it."""

    source: FileColumns
    cells: dict[str, Shown]

    @property
    def record(self) -> str:
        """The table and the key, as other tools take them."""
        key = ",".join(self.cells[name].text for name in self.source.table.key())
        return f"{db.one_line(self.source.table.title)}:{key}"

    @property
    def label(self) -> str:
        """What names the row to people, empty if nothing does."""
        return self._text(self.source.label)

    @property
    def alternative_text(self) -> str | None:
        """What describes the file, `None` if nothing was written."""
        name = self.source.alternative_text
        if name is None or self.cells[name].value is None:
            return None
        return self.cells[name].text

    def _text(self, name: str | None) -> str:
        cell = None if name is None else self.cells[name]
        return "" if cell is None or cell.value is None else cell.text


def file_tables(
    database: db.Database, workspace: Workspace, *, every: bool = False
) -> tuple[list[FileColumns], list[str]]:
    """Return the tables whose rows point to files, by name, and warnings.

    Args:
        database: where they are.
        workspace: may name file columns.
        every: look at all tables, even where the workspace names file columns of some.
    """
    named = sorted(name for name, settings in workspace.tables.items() if settings.files)
    if named and not every:
        return _named_tables(database, workspace, named)
    found: list[FileColumns] = []
    warnings: list[str] = []
    for entry in database.tables(count=False):
        if entry.kind not in {"table", "foreign table"} or entry.fault is not None:
            continue
        table = database.table(entry.title)
        columns, missing = file_columns(table, workspace.table_settings(table.name))
        warnings += missing
        if columns is not None:
            found.append(columns)
    return found, warnings


def columns_said(sources: list[FileColumns]) -> str:
    """Return the columns as an answer names them, the first ones of many."""
    return db.listed(
        f"{source.table.title}.{name}" for source in sources for name in source.columns
    )


def _named_tables(
    database: db.Database, workspace: Workspace, names: list[str]
) -> tuple[list[FileColumns], list[str]]:
    found: list[FileColumns] = []
    warnings: list[str] = []
    for name in names:
        try:
            table = database.table(name)
        except ToolError as failure:
            if failure.code is ErrorCode.TIMEOUT:
                raise
            warnings.append(f"workspace.tables.{name}: {failure.message}")
            continue
        columns, missing = file_columns(table, workspace.tables[name])
        warnings += missing
        if columns is not None:
            found.append(columns)
    return found, warnings


def file_columns(table: db.Table, settings: TableSettings) -> tuple[FileColumns | None, list[str]]:
    """Return which columns of a table point to files, and warnings about those that are named.

    Columns that the workspace names are taken as they are; else text columns called after files.
    """
    usable = {column.name.casefold(): column for column in table.columns if column.comparable}
    warnings: list[str] = []
    if settings.files:
        columns: list[str] = []
        for name in settings.files:
            column = usable.get(name.casefold())
            if column is None:
                warnings.append(f"workspace.tables.{table.name}.files: no readable column {name!r}")
            else:
                columns.append(column.name)
    else:
        columns = [column.name for column in usable.values() if _called_after_files(column)]
    if not columns:
        return None, warnings
    others = [name for name in _ALTERNATIVE if name in usable]
    wanted = settings.alternative_text
    described = others[0] if wanted is None and others else (wanted or "").casefold()
    alternative = usable[described].name if described in usable else None
    label = db.label_column(table, settings.label)
    named = bool(settings.files)
    return FileColumns(table, tuple(columns), label, alternative, named), warnings


def _called_after_files(column: db.Column) -> bool:
    segments = _segments(column.name)
    return holds_text(column) and not segments.isdisjoint(_FILES) and segments.isdisjoint(_NO_FILES)
