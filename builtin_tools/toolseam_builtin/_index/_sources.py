"""What the index is made of: the texts of folders and of columns, masked as answers are."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard, mask_secrets
from toolseam_builtin import _database as db
from toolseam_builtin._index._texts import KINDS, Plain, ending, plain_file, plain_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin.workspace import Workspace

MOST = 200_000
"""How many sources one folder or column gives at most."""

FOLDER, COLUMN = "folder", "column"

_CELL_CHARACTERS = 200_000
_SESSION_ROWS = 20_000
_SESSION_CHARACTERS = 20_000_000
_SESSION_SECONDS = 7.0
_ID_CHARACTERS = 500


@attrs.frozen
class Source:
    """One text: the id it is asked for by, how it is found again, and what it says.

    `mark` changes when a file does; `cut` tells that only its beginning was read.
    """

    source_id: str
    key: str
    plain: Plain
    mark: str = ""
    cut: bool = False


@attrs.define
class Place:
    """One folder or column that a setting names; `left` counts what was passed over, by reason."""

    kind: str
    name: str
    left: Counter[str] = attrs.field(factory=Counter[str])

    def sources(self, workspace: Workspace) -> Iterator[Source]:
        """Give what stands there, masked, in a stable order.

        Raises `ToolError` for what cannot be read or may not be: `unavailable` for a folder,
        `not_found` for a table, `invalid_arguments` and `permission_denied` for a column.
        """
        return self._files(workspace) if self.kind == FOLDER else self._cells(workspace)

    def _files(self, workspace: Workspace) -> Iterator[Source]:
        guard = folder_guard(workspace, self.name)
        for name in guard.walk():
            if ending(name) not in KINDS:
                self.left["not of a kind that is read"] += 1
                continue
            source_id = file_id(self.name, name)
            try:
                file = guard.read(name)
            except ToolError:
                self.left["not to be read"] += 1
                continue
            if b"\0" in file.data or not _is_plain(source_id):
                self.left["no text, or a name that is not shown"] += 1
                continue
            plain = plain_file(name, file.data.decode("utf-8-sig", "replace"))
            yield Source(source_id, name, plain, file_mark(guard, name), not file.complete)

    def _cells(self, workspace: Workspace) -> Iterator[Source]:
        offset, more = 0, True
        while more:
            # A connection has a deadline; a long table takes several.
            with db.open_database(workspace) as database:
                session = _Session.of(database, workspace, self.name)
                query = db.Query(
                    session.table,
                    session.names,
                    limit=_SESSION_ROWS,
                    offset=offset,
                    characters=_CELL_CHARACTERS,
                )
                whole = database.scan(query, session.take, _SESSION_SECONDS)
            if not whole and not session.seen:
                raise ToolError(f"Reading {self.name} takes too long.", ErrorCode.TIMEOUT)
            self.left.update(session.left)
            yield from session.found
            offset += session.seen
            more = not whole or session.seen == _SESSION_ROWS or session.full


@attrs.define
class _Session:
    """One stretch of rows of an indexed column; `names` are the columns of a row."""

    table: db.Table
    column: str
    label: str
    names: tuple[str, ...]
    found: list[Source] = attrs.field(factory=list[Source])
    left: Counter[str] = attrs.field(factory=Counter[str])
    seen: int = 0
    _characters: int = 0

    @classmethod
    def of(cls, database: db.Database, workspace: Workspace, name: str) -> _Session:
        """Begin one over the column that a setting names; a record's label is its title."""
        table, column = indexed_column(database, name)
        label = db.label_column(table, workspace.table_settings(table.name).label) or column.name
        names = tuple(dict.fromkeys((*table.key(), *table.naming(), label, column.name)))
        return cls(table, column.name, label, names)

    @property
    def full(self) -> bool:
        return self._characters > _SESSION_CHARACTERS

    def take(self, row: tuple[db.Cell, ...]) -> bool:
        """Make a source of a row, and tell whether another one is wanted."""
        self.seen += 1
        cells = dict(zip(self.names, row, strict=True))
        cell = cells[self.column]
        if not isinstance(cell, db.Excerpt) or not cell.text.strip():
            self.left["without text"] += 1
            return True
        cut = cell.total > len(cell.text)
        if cut and db.begins_json(cell.text):
            self.left["JSON that is too long to be masked"] += 1
            return True
        told = db.show_row(self.table, db.columns_of(self.table, self.names), row)
        shown = {name: each.text for name, each in zip(self.names, told, strict=True)}
        key = ",".join(shown[name] for name in self.table.key())
        source_id = f"{self.table.title}.{self.column}:{key}"
        exact = all(_is_told(cells[name], shown[name]) for name in self.table.key())
        if not exact or not _is_plain(source_id):
            self.left["a key that is not shown"] += 1
            return True
        title = f"{self.table.title} {key}" if self.label == self.column else shown[self.label]
        plain = plain_value(title, db.mask_json(cell.text))
        self.found.append(Source(source_id, key, plain, cut=cut))
        self._characters += len(cell.text)
        return not self.full


def places_of(workspace: Workspace) -> list[Place]:
    """Return the folders and columns that the settings name, each once."""
    index = workspace.index
    folders = dict.fromkeys(name.rstrip("/") or "/" for name in index.folders)
    columns = dict.fromkeys(index.columns)
    return [*(Place(FOLDER, each) for each in folders), *(Place(COLUMN, each) for each in columns)]


def file_id(folder: str, name: str) -> str:
    """Return the id of a text in a folder."""
    return name if folder == "." else f"{folder}/{name}"


def folder_guard(workspace: Workspace, name: str) -> PathGuard:
    """Return what gives out the files of an indexed folder.

    Raises `ToolError` `unavailable` if it is none, is hidden, or leads out of an untrusted
    workspace.
    """
    path = workspace.inside(name, "index.folders")
    if path.is_relative_to(workspace.place):
        PathGuard(workspace.place).resolve(path.relative_to(workspace.place).as_posix())
    if not path.is_dir():
        raise ToolError(
            f"workspace.index.folders names {name!r}, which is no folder.", ErrorCode.UNAVAILABLE
        )
    return PathGuard(path)


def file_mark(guard: PathGuard, name: str) -> str:
    """Return what changes when a file does; empty if it is gone."""
    try:
        found = os.lstat(guard.root / name)
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def indexed_column(database: db.Database, name: str) -> tuple[db.Table, db.Column]:
    """Return the table and the column that `table.column` names, if the gate lets them be read.

    Raises `ToolError` as the gate does, and `invalid_arguments` for what cannot be indexed.
    """
    title, point, column_name = name.rpartition(".")
    if not point:
        raise ToolError(
            f"workspace.index.columns names {name!r}; it takes `table.column`.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    table = database.table(title)
    column = db.comparable_column(table, column_name)
    if not table.key():
        raise ToolError(
            f"{table.title} has no key by which a source could be named.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    return table, column


def _is_told(cell: db.Cell, shown: str) -> bool:
    """Tell whether a part of a key is shown as it is, and so finds its record again."""
    return not isinstance(cell, db.Excerpt) or cell.text == shown


def _is_plain(text: str) -> bool:
    """Tell whether an id may be shown and asked for as it is."""
    return len(text) <= _ID_CHARACTERS and text.isprintable() and not mask_secrets(text)[1]
