"""Whether what the index holds may still be shown: settings, gate and files as they are now."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard
from toolseam_builtin import _database as db
from toolseam_builtin._index._sources import (
    FOLDER,
    file_mark,
    folder_guard,
    indexed_column,
    places_of,
)
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from types import TracebackType

    from toolseam_builtin._index._reader import Stored


@attrs.define
class Access:
    """Judges sources one by one; a context manager, for it may hold the database open.

    Args:
        workspace: whose settings and gate count.
        deadline: a moment of the monotonic clock.
        faults: why whole places cannot be shown now, for the answer.
    """

    workspace: Workspace
    deadline: float
    faults: list[str] = attrs.field(factory=list[str])
    _folders: dict[int, PathGuard] = attrs.field(factory=dict[int, PathGuard])
    _tables: dict[int, db.Table] = attrs.field(factory=dict[int, "db.Table"])
    _opened: list[db.Database] = attrs.field(factory=list["db.Database"])
    _open: ExitStack = attrs.field(factory=ExitStack)

    def places(self, stored: list[dict[str, Any]]) -> list[int]:
        """Return the numbers of the places that may be shown now."""
        configured = {(place.kind, place.name) for place in places_of(self.workspace)}
        wanted = [each for each in stored if (each["kind"], each["name"]) in configured]
        return [each["id"] for each in wanted if self._permits(each)]

    def allows(self, source: Stored) -> bool:
        """Tell whether a source of a place that `places` gave is still there and may be read."""
        guard = self._folders.get(source.place)
        if guard is not None:
            try:
                return guard.resolve(source.key).is_file()
            except ToolError:
                return False
        table = self._tables[source.place]
        try:
            db.find_record(self._opened[0], table, source.key, table.key())
        except ToolError as failure:
            if failure.code in {ErrorCode.NOT_FOUND, ErrorCode.INVALID_ARGUMENTS}:
                return False
            raise
        return True

    def changed(self, source: Stored) -> bool:
        """Tell whether a file is another one than when it was indexed."""
        guard = self._folders.get(source.place)
        return guard is not None and file_mark(guard, source.key) != source.mark

    def _permits(self, place: dict[str, Any]) -> bool:
        try:
            if place["kind"] == FOLDER:
                self._folders[place["id"]] = folder_guard(self.workspace, place["name"])
            else:
                self._tables[place["id"]] = self._table(place["name"])
        except ToolError as failure:
            if failure.code is ErrorCode.UNAVAILABLE:
                self.faults.append(f"{place['name']} cannot be looked up now: {failure}")
            return False
        return True

    def _table(self, name: str) -> db.Table:
        if not self._opened:
            opening = db.open_database(self.workspace, self.deadline)
            self._opened.append(self._open.enter_context(opening))
        return indexed_column(self._opened[0], name)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()
