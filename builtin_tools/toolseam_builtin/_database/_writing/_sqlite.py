"""The SQLite writer: one `BEGIN IMMEDIATE`, behind an authorizer that knows what was announced."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolseam import ToolError
from toolseam_builtin._database._faults import unavailable
from toolseam_builtin._database._looking import is_single, stands_alone
from toolseam_builtin._database._sqlite import Opening, SqliteDatabase
from toolseam_builtin._database._writing._faults import (
    busy,
    conflict,
    duplicate,
    exactly_one,
    reaches_further,
    sets_off,
    unfit,
)
from toolseam_builtin._database._writing._sqlite_guard import WritingGuard, announced
from toolseam_builtin._database._writing._statements import (
    insert,
    matching,
    sqlite_words,
    told,
    update,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from toolseam_builtin._database._faults import Deadline
    from toolseam_builtin._database._gate import TableGate
    from toolseam_builtin._database._history import History
    from toolseam_builtin._database._model import Table
    from toolseam_builtin._database._writing._model import Change, Equalities, Telling
    from toolseam_builtin._database._writing._statements import Statement

_OPENING = Opening("rw", ("foreign_keys = ON", "recursive_triggers = OFF"), "BEGIN IMMEDIATE")
_WAIT_SECONDS = 0.5
_LOOK_SECONDS = 0.02
_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"
_DATATYPE = 3091  # the module sqlite3 has no name for it
_CONDITIONS = {
    sqlite3.SQLITE_CONSTRAINT_CHECK: "a condition of the table is not met",
    sqlite3.SQLITE_CONSTRAINT_NOTNULL: "a column that must be filled is empty",
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "a record that is referred to does not exist",
    _DATATYPE: "a value has another type than its column",
}
_DUPLICATES = frozenset(
    {
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
        sqlite3.SQLITE_CONSTRAINT_ROWID,
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    }
)


class SqliteWriter(SqliteDatabase):
    """One writing transaction on a SQLite file.

    A file whose journal somebody else left behind is not opened: to roll it back is to do what
    that journal says, to other files too.
    """

    def __init__(self, path: Path, gate: TableGate, deadline: Deadline) -> None:
        _refuse_foreign_journal(path, deadline)
        self._writing = WritingGuard(deadline)
        self._words = sqlite_words()
        self._rows = 0
        self._last: int | None = None
        super().__init__(path, gate, deadline, guard=self._writing, opening=_OPENING)

    def announce(self, changes: Sequence[Change], history: History) -> None:
        """Say what will be written; refuse tables that have triggers."""
        for table in {change.table.name: change.table for change in changes}.values():
            self._refuse_triggers(table)
        self._refuse_triggers(history.table)
        self._writing.announced = announced(changes, history)

    def update(self, change: Change) -> None:
        """Write one existing record."""
        exactly_one(self._ran(change.table, update(self._words, change)), change.table)

    def insert(self, change: Change) -> Equalities:
        """Write one new record and return what names it."""
        table = change.table
        exactly_one(self._ran(table, insert(self._words, change)), table)
        given = dict(change.values)
        if table.position is not None:
            place: Equalities = ((table.position, self._last),)
            (cells,) = self._fetched(table, whole(self._words, table, place, table.key()))
            return tuple(zip(table.key(), map(str, cells), strict=True))
        taken = [name for name in table.primary_key if name not in given]
        copied = self.texts(table, change.source, taken) if taken else []
        given |= dict(zip(taken, copied, strict=True))
        return tuple((name, given[name]) for name in table.primary_key)

    def holds(self, change: Change, record: Equalities) -> bool:
        """Tell whether a record holds all that a change wrote into it."""
        statement = matching(self._words, change.table, record, change)
        return self._fetched(change.table, statement) == [(1,)]

    def texts(self, table: Table, record: Equalities, columns: Sequence[str]) -> list[str | None]:
        """Return cells of one record in full, as text; bytes as their number."""
        rows = self._fetched(table, whole(self._words, table, record, columns))
        exactly_one(len(rows), table)
        return [None if cell is None else str(cell) for cell in rows[0]]

    def tell(
        self, history: History, title: str, table: Table, record: Equalities, telling: Telling
    ) -> int:
        """Add the history rows of one record that was written, and return how many."""
        statements = told(self._words, history, title, table, record, telling)
        return sum(self._ran(history.table, statement) for statement in statements)

    def undo(self) -> bool:
        """Take everything back, and tell whether that worked."""
        try:
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return False
        return not self._connection.in_transaction

    def keep(self) -> None:
        """Commit, if no other row was changed than those that were announced."""
        if self._connection.total_changes != self._rows:
            raise conflict("Other rows than those of the preview changed; nothing was kept.")
        with self._translated():
            self._connection.execute("COMMIT")

    def _refuse_triggers(self, table: Table) -> None:
        found = self._fetched(
            table,
            (
                _TRIGGERS,
                [table.name],
            ),
        )
        if found:
            raise sets_off(table, "trigger", [str(name) for (name,) in found])

    def _ran(self, table: Table, statement: Statement) -> int:
        with self._writes(table):
            cursor = self._connection.execute(*statement)
            self._last = cursor.lastrowid
            self._rows += cursor.rowcount
            return cursor.rowcount

    def _fetched(self, table: Table, statement: Statement) -> list[tuple[object, ...]]:
        with self._writes(table):
            return self._connection.execute(*statement).fetchall()

    @contextmanager
    def _writes(self, table: Table) -> Generator[None]:
        failure: ToolError | None = None
        with self._translated(table.name):
            try:
                yield
            except sqlite3.IntegrityError as error:
                failure = self._constraint(error, table)
            except sqlite3.Error:
                if not self._guard.refused or self._deadline.passed():
                    raise
                failure = reaches_further(table)
        if failure is not None:
            raise failure

    def _constraint(self, error: sqlite3.IntegrityError, table: Table) -> ToolError:
        code = getattr(error, "sqlite_errorcode", 0)
        if code not in _DUPLICATES:
            return unfit(table, _CONDITIONS.get(code, "a condition of the table is not met"))
        # The driver's text goes nowhere; it only tells which of the known indexes it was.
        named = set(str(error).rpartition(": ")[2].split(", "))
        self._writing.announced = None
        indexes = [index.columns for index in self.structure(table).indexes if index.unique]
        for columns in (*indexes, table.primary_key):
            if columns and {f"{table.name}.{column}" for column in columns} == named:
                return duplicate(table, [str(column) for column in columns])
        return duplicate(table, ())

    def _refusal(self, error: Exception, name: str | None) -> ToolError:
        code = getattr(error, "sqlite_errorcode", 0)
        if code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return busy(self._title)
        if code & 0xFF in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN}:
            return unavailable(f"{self._title} may not be written by this account.")
        if code & 0xFF in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            return ToolError(f"The disk failed while {self._title} was written.")
        if isinstance(error, sqlite3.IntegrityError):
            return conflict(f"{self._title}: a record that is referred to does not exist.")
        return super()._refusal(error, name)


def _refuse_foreign_journal(path: Path, deadline: Deadline) -> None:
    """Wait a moment for a journal to go, which it does where another program is writing."""
    until = time.monotonic() + min(_WAIT_SECONDS, deadline.left())
    sides = f"{path}-wal", f"{path}-shm"
    while not (_idle(f"{path}-journal") and all(map(stands_alone, sides))):
        if time.monotonic() > until:
            raise conflict(
                f"{path.name} has a journal that is not ours: another program writes, or left it"
                " behind and must recover it. It is not opened for writing.",
                "foreign_journal",
            )
        time.sleep(_LOOK_SECONDS)


def _idle(journal: str) -> bool:
    """Tell whether SQLite would find nothing in a journal that it has to roll back."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(journal, flags)
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    try:
        return is_single(os.fstat(descriptor)) and os.read(descriptor, 1) in {b"", b"\0"}
    finally:
        os.close(descriptor)
