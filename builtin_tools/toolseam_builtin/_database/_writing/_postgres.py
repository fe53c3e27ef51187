"""The PostgreSQL writer: one serializable transaction of a role that is no superuser."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import too_late, unavailable
from toolseam_builtin._database._postgres import POWERFUL, PostgresDatabase, connect
from toolseam_builtin._database._postgres_sql import literal
from toolseam_builtin._database._writing._faults import (
    busy,
    changed_meanwhile,
    conflict,
    duplicate,
    exactly_one,
    reaches_further,
    sets_off,
    unfit,
)
from toolseam_builtin._database._writing._statements import (
    insert,
    matching,
    postgres_words,
    told,
    update,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from toolseam_builtin._database._faults import Deadline
    from toolseam_builtin._database._gate import TableGate
    from toolseam_builtin._database._history import History
    from toolseam_builtin._database._model import Table
    from toolseam_builtin._database._writing._model import Change, Equalities, Telling
    from toolseam_builtin._database._writing._statements import Statement

_LOCK = "SET LOCAL lock_timeout = 500"
# The table itself and all of its partitions and heirs, where a row may come to lie.
_BELOW = """
WITH RECURSIVE below(oid) AS (
  SELECT %s::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN below ON i.inhparent = below.oid)
"""
_TRIGGERS = f"""{_BELOW}
SELECT t.tgname::text FROM pg_trigger t JOIN below ON t.tgrelid = below.oid
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
"""  # noqa: S608
_RULES = f"""{_BELOW}
SELECT r.rulename::text FROM pg_rewrite r JOIN below ON r.ev_class = below.oid
WHERE r.ev_type IN ('2', '3')
"""  # noqa: S608
_CASCADES = """
SELECT EXISTS (
  SELECT FROM pg_constraint o JOIN pg_attribute a
    ON a.attrelid = o.confrelid AND a.attnum = ANY (o.confkey)
  WHERE o.contype = 'f' AND o.confrelid = %s::oid AND o.confupdtype NOT IN ('a', 'r')
    AND a.attname::text = ANY (%s::text[]))
"""
_CONDITIONS = {
    "23502": "a column that must be filled is empty",
    "23503": "a record that is referred to does not exist",
    "23514": "a condition of the table is not met",
    "23P01": "it excludes another record",
}


def open_writer(
    url: str, gate: TableGate, deadline: Deadline, *, privileged: bool = False
) -> PostgresWriter:
    """Connect for writing.

    Args:
        url: as libpq takes it, beginning with `postgresql://`.
        gate: which tables may be read and written.
        deadline: for all that is done with the connection.
        privileged: accept a role that may do anything.

    Raises `ToolError` `unavailable` without a server, or, with the reason `privileged_role`, for
    a superuser and the like.
    """
    title, connection = connect(url, deadline, writing=True)
    try:
        return PostgresWriter(connection, title, gate, deadline, privileged=privileged)
    except BaseException:
        connection.close()
        raise


class PostgresWriter(PostgresDatabase):
    """One writing transaction, as if it were alone with the database."""

    _ruled_out = POWERFUL
    _role_wanted = "may do anything; give write_database one that may only write the tables."

    _words = postgres_words()
    _unique: Mapping[str, tuple[str | None, ...]]

    def announce(self, changes: Sequence[Change], history: History) -> None:
        """Say what will be written; refuse tables with triggers, rules or cascades."""
        tables = {change.table.title: change.table for change in changes}
        tables[history.table.title] = history.table
        unique: dict[str, tuple[str | None, ...]] = {}
        for table in tables.values():
            with self._writes(table):
                oid = self._relation(table.title).oid
                for kind, statement in (("trigger", _TRIGGERS), ("rule", _RULES)):
                    found = [str(name) for (name,) in self._fetch(statement, oid)]
                    if found:
                        raise sets_off(table, kind, found)
                columns = {
                    name
                    for change in changes
                    if change.table.title == table.title and change.record is not None
                    for name in change.columns
                }
                if columns and self._fetch(_CASCADES, oid, sorted(columns))[0][0]:
                    raise reaches_further(table)
            unique |= {index.name: index.columns for index in self.structure(table).indexes}
        self._unique = unique
        with self._translated(), self._sent(_LOCK):
            pass

    def update(self, change: Change) -> None:
        """Write one existing record."""
        exactly_one(self._ran(change.table, update(self._words, change)), change.table)

    def insert(self, change: Change) -> Equalities:
        """Write one new record and return what names it."""
        table = change.table
        text, values = insert(self._words, change)
        names = table.key()
        said = ", ".join(f"format('%%s', {self._words.name(name)})" for name in names)
        rows = self._fetched(table, (f"{text} RETURNING {said}", values))
        exactly_one(len(rows), table)
        return tuple(zip(names, rows[0], strict=True))

    def holds(self, change: Change, record: Equalities) -> bool:
        """Tell whether a record holds all that a change wrote into it."""
        statement = matching(self._words, change.table, record, change)
        return self._fetched(change.table, statement) == [(1,)]

    def texts(self, table: Table, record: Equalities, columns: Sequence[str]) -> list[str | None]:
        """Return cells of one record in full, as text; bytes as their number."""
        rows = self._fetched(table, whole(self._words, table, record, columns))
        exactly_one(len(rows), table)
        return list(rows[0])

    def tell(
        self, history: History, title: str, table: Table, record: Equalities, telling: Telling
    ) -> int:
        """Add the history rows of one record that was written, and return how many."""
        statements = told(self._words, history, title, table, record, telling)
        return sum(self._ran(history.table, statement) for statement in statements)

    def undo(self) -> bool:
        """Take everything back, and tell whether that worked."""
        try:
            self._connection.rollback()
        except psycopg.Error:
            return False
        return True

    def keep(self) -> None:
        """Commit; where the answer to that is lost, nobody knows whether it was kept."""
        failure: ToolError | None = None
        try:
            self._connection.commit()
        except psycopg.Error as error:
            lost = error.sqlstate is None or error.sqlstate[:2] in {"08", "57"}
            failure = (
                ToolError(f"The connection to {self._title} broke while the change was kept.")
                if lost
                else conflict("The database did not keep the change: it fits nothing else there.")
            )
        if failure is not None:
            raise failure

    def _ran(self, table: Table, statement: Statement) -> int:
        text, values = statement
        with self._writes(table), self._sent(text, *map(_sendable, values)) as cursor:
            return cursor.rowcount

    def _fetched(self, table: Table, statement: Statement) -> list[tuple[Any, ...]]:
        text, values = statement
        with self._writes(table):
            return self._fetch(text, *map(_sendable, values))

    @contextmanager
    def _sent(self, statement: str, *values: object) -> Generator[psycopg.Cursor[tuple[Any, ...]]]:
        self._hold()
        with self._connection.cursor() as cursor:
            cursor.execute(statement.encode(), values)
            yield cursor

    @contextmanager
    def _writes(self, table: Table) -> Generator[None]:
        failure: ToolError | None = None
        try:
            yield
        except psycopg.Error as error:
            failure = self._fault(error, table)
        if failure is not None:
            raise failure

    def _fault(self, error: psycopg.Error, table: Table) -> ToolError:
        state = error.sqlstate or ""
        if state == "55P03":
            return busy(self._title)
        if state == "57014" or self._deadline.passed():
            return too_late()
        if state == "23505":
            columns = self._unique.get(error.diag.constraint_name or "", table.primary_key)
            return duplicate(table, [name for name in columns if name is not None])
        if state in _CONDITIONS:
            return unfit(table, _CONDITIONS[state])
        if state in {"40001", "40P01"}:
            return changed_meanwhile(table.title)
        if state == "42501":
            return unavailable(f"The role for {self._title} may not write {table.title}.")
        if state[:2] in {"22", "42", "23"} or isinstance(error, psycopg.DataError):
            return ToolError(
                f"A value does not fit its column of {table.title}.", ErrorCode.INVALID_ARGUMENTS
            )
        return unavailable(f"{self._title} cannot be written.")


def _sendable(value: object) -> object:
    return literal(value) if isinstance(value, int | float) else value
