"""Comparing rows with storages: which of them point to a file that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._storages._columns import FileColumns, file_tables
from toolseam_builtin._storages._model import Clock
from toolseam_builtin._storages._open import Storages
from toolseam_builtin._storages._references import parse
from toolseam_builtin._storages._stock import Stock

if TYPE_CHECKING:
    from toolseam_builtin import _database as db
    from toolseam_builtin._storages._columns import FileRow
    from toolseam_builtin.workspace import Workspace

ALL_ROWS = 2**31 - 1
"""A limit for a query whose end is a matter of time."""

_EVERY = 64


@attrs.frozen
class MissingFile:
    """One cell that points to nothing, as an answer shows it."""

    record: str
    column: str
    file: str
    label: str


@attrs.define
class Missing:
    """What a comparison came to; `files` are those of one page, `total` counts them all.

    `rows` were looked at. `others` counts texts that are no path (addresses, lists), `unjudged`
    paths that may not be looked at or lie in a storage that cannot be read; `stopped` names the
    tables that were not read to their end.
    """

    sources: list[FileColumns]
    warnings: list[str]
    files: list[MissingFile] = attrs.field(factory=list[MissingFile])
    total: int = 0
    rows: int = 0
    others: int = 0
    unjudged: int = 0
    stopped: list[str] = attrs.field(factory=list[str])


@attrs.frozen
class Comparison:
    """What rows are compared with, and which page of the missing files is kept."""

    storages: Storages
    stock: Stock
    clock: Clock
    storage: str | None = None
    offset: int = 0
    limit: int = 20

    def run(self, database: db.Database, workspace: Workspace) -> Missing:
        """Compare every row of the file tables, as far as the time allows."""
        sources, warnings = file_tables(database, workspace)
        missing = Missing(sources, [*self.storages.unopened(), *warnings])
        for number, source in enumerate(sources):
            left = self.clock.left(len(sources) - number)
            if self.clock.over() or not self._table(database, source, missing, left):
                missing.stopped.append(source.table.title)
        return missing

    def _table(
        self, database: db.Database, source: FileColumns, missing: Missing, seconds: float
    ) -> bool:
        complete = True
        source = attrs.evolve(source, alternative_text=None)

        def there(text: str) -> bool:
            return self.stock.plainly(text) is not None

        def take(cells: tuple[db.Cell, ...]) -> bool:
            nonlocal complete
            missing.rows += 1
            known = source.all_paths(cells, there)
            if not known:
                self._row(source.row(cells), missing)
            complete = (known and missing.rows % _EVERY > 0) or not self.clock.over()
            return complete

        return database.scan(source.query(ALL_ROWS), take, seconds) and complete

    def _row(self, row: FileRow, missing: Missing) -> None:
        for column, text in row.paths():
            verdict = self.judge(text, named=row.source.named)
            missing.others += verdict == "other"
            missing.unjudged += verdict == "unjudged"
            if verdict != "gone":
                continue
            missing.total += 1
            if self.offset < missing.total <= self.offset + self.limit:
                shown = row.shown()
                file = shown.cells[column].text
                missing.files.append(MissingFile(shown.record, column, file, shown.label))

    def judge(
        self, text: str, *, named: bool = True
    ) -> Literal["there", "gone", "other", "unjudged"]:
        """Judge what a cell points to.

        Args:
            text: the cell.
            named: the workspace says that the column points to files; else what has no ending is
                taken for something else.
        """
        reference = parse(text, self.storages.names)
        if reference is None or (text[0] in "[{" and text[-1] in "]}"):
            return "other"
        if not named and "." not in reference.path.rpartition("/")[2]:
            return "other"
        if self.storage is not None and reference.storage not in {None, self.storage}:
            return "other"
        if self.stock.find(reference) is not None:
            return "there"
        doubtful = any(reference.storage in {None, name} for name in self.storages.faults)
        for storage in self.storages.opened:
            if reference.storage in {None, storage.name}:
                try:
                    storage.look(reference.asked)
                except ToolError as failure:
                    doubtful = doubtful or failure.code is not ErrorCode.NOT_FOUND
                else:
                    return "there"
        return "unjudged" if doubtful else "gone"
