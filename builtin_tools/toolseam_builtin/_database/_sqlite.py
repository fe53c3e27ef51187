"""The SQLite reader, on the standard library alone."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._cells import FETCH_CHARACTERS
from toolseam_builtin._database._faults import Deadline, no_table, too_late, unavailable
from toolseam_builtin._database._model import Blob, Entry, Excerpt
from toolseam_builtin._database._sqlite_guard import Guard
from toolseam_builtin._database._sqlite_schema import Schema

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from toolseam_builtin._database._gate import TableGate
    from toolseam_builtin._database._model import Cell, Query, Scalar, Structure, Table

_CELL_BYTES = 8_000_000
_PATTERN_BYTES = 100
_OPERATIONS = 5_000
_ESTIMATE_ROWS = 10_000
_ESTIMATE_SECONDS = 1.0
_COUNT_SECONDS = 3.0


@attrs.frozen
class Opening:
    """How a file is opened: the URI's mode, further pragmas, the start of the transaction."""

    mode: str
    pragmas: tuple[str, ...]
    begin: str


_READING = Opening("ro", ("query_only = ON",), "BEGIN")


class SqliteDatabase:
    """One read-only connection to a SQLite file, behind the table gate.

    Opened by a URI with `mode=ro`, so that no journal is rolled back and nothing is written;
    `query_only`, untrusted schema, an authorizer and a deadline hold for every statement.
    """

    dialect = "SQLite"
    default_schema = "main"

    def __init__(
        self,
        path: Path,
        gate: TableGate,
        deadline: Deadline,
        *,
        guard: Guard | None = None,
        opening: Opening = _READING,
    ) -> None:
        self._deadline = deadline
        self._guard = Guard(deadline) if guard is None else guard
        self._title = path.name
        with self._translated():
            self._connection = _connect(path, self._guard, opening)
        try:
            with self._translated():
                self._schema = Schema(self._connection, gate)
        except BaseException:
            self._connection.close()
            raise

    def tables(self, schema: str | None = None, *, count: bool = True) -> list[Entry]:
        """Return the readable tables and views; those that the engine cannot read with a fault."""
        if schema is not None and schema.casefold() != self.default_schema:
            return []
        listed: list[Entry] = []
        until = time.monotonic() + _ESTIMATE_SECONDS
        for name in self._schema.permitted():
            kind = self._schema.kind(name)
            try:
                table = self.table(name)
            except ToolError as failure:
                if failure.code is ErrorCode.TIMEOUT:
                    raise
                if failure.code is ErrorCode.UNAVAILABLE:
                    listed.append(Entry(name, self.default_schema, name, kind, fault=str(failure)))
                continue
            rows = self._estimate(table, until) if count and kind == "table" else None
            capped = rows is not None and rows > _ESTIMATE_ROWS
            shown = _ESTIMATE_ROWS if capped else rows
            listed.append(Entry(name, self.default_schema, name, kind, shown, at_least=capped))
        return listed

    def table(self, name: str) -> Table:
        """Return one table by its name, exactly, else the only one that differs in case."""
        with self._translated(name):
            stored = self._schema.resolve(name)
            if stored is None:
                raise no_table(name, self._schema.hints())
            table = self._schema.table(stored)
            if table.kind != "table":
                self._judge(table)
            return table

    def structure(self, table: Table) -> Structure:
        """Return keys, indexes and conditions of a table."""
        with self._translated(table.name):
            return self._schema.structure(table)

    def rows(self, query: Query) -> list[tuple[Cell, ...]]:
        """Return rows, each cell as the file holds it, whatever its column declares."""
        cells = ", ".join(_cell(f"t.{quote(name)}") for name in query.columns) or "1"
        where, values = _where(query)
        order = ", ".join(f"t.{quote(name)}" for name in query.table.order())
        statement = f"SELECT {cells} FROM {quote(query.table.name)} AS t{where}"  # noqa: S608
        statement += (f" ORDER BY {order}" if order else "") + " LIMIT ? OFFSET ?"
        with self._reading(query.table):
            found = self._connection.execute(statement, (*values, query.limit, query.offset))
            return [_row(row) if query.columns else () for row in found]

    def count(self, query: Query) -> int | None:
        """Return how many rows match, `None` if counting takes more than a few seconds."""
        where, values = _where(query)
        statement = f"SELECT count(*) FROM {quote(query.table.name)} AS t{where}"  # noqa: S608
        return self._counted(query.table, statement, values, time.monotonic() + _COUNT_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _estimate(self, table: Table, until: float) -> int | None:
        inner = f"SELECT 1 FROM {quote(table.name)} LIMIT {_ESTIMATE_ROWS + 1}"  # noqa: S608
        statement = f"SELECT count(*) FROM ({inner})"  # noqa: S608
        return self._counted(table, statement, (), until)

    def _counted(
        self, table: Table, statement: str, values: tuple[Scalar, ...], until: float
    ) -> int | None:
        self._deadline.near = until
        try:
            with self._reading(table):
                return int(self._connection.execute(statement, values).fetchone()[0])
        except ToolError as failure:
            if failure.code is ErrorCode.TIMEOUT and self._deadline.left():
                return None
            raise
        finally:
            self._deadline.near = None

    def _judge(self, table: Table) -> None:
        """Prepare, without running it, a read of a view or virtual table in the gate's eyes."""
        names = ", ".join(f"t.{quote(column.name)}" for column in table.readable()) or "1"
        statement = f"EXPLAIN SELECT {names} FROM {quote(table.name)} AS t"  # noqa: S608
        with self._reading(table):
            self._connection.execute(statement).close()
            if table.kind == "virtual table":
                # What it reads behind itself shows only when it runs.
                read = f"SELECT {names} FROM {quote(table.name)} AS t LIMIT 1"  # noqa: S608
                self._connection.execute(read).fetchone()

    @contextmanager
    def _reading(self, table: Table) -> Generator[None]:
        with self._translated(table.name):
            self._guard.sight = self._schema.sight(table)
            try:
                yield
            finally:
                self._guard.sight = None

    @contextmanager
    def _translated(self, name: str | None = None) -> Generator[None]:
        """Turn what the driver says into a refusal of ours; none of its text goes on."""
        self._guard.refused = False
        failure: ToolError | None = None
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
            failure = self._refusal(error, name)
        if failure is not None:
            raise failure

    def _refusal(self, error: Exception, name: str | None) -> ToolError:
        if self._deadline.passed():
            return too_late()
        if self._guard.refused and name is not None:
            return no_table(name, self._schema.hints())
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        subject = self._title if name is None else name
        if code == sqlite3.SQLITE_TOOBIG:
            return unavailable(
                f"{subject} holds a cell of more than {_CELL_BYTES:,} bytes; name other fields."
            )
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            return unavailable(f"{self._title} is locked by another program.", "busy")
        if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
            return unavailable(f"{self._title} is damaged, or no SQLite database.")
        if name is None:
            return unavailable(
                f"{self._title} cannot be opened for reading; a journal that was left behind may"
                " need its own program to recover it."
            )
        return unavailable(f"SQLite cannot read {subject}: it is broken or needs what is not here.")


def quote(name: str) -> str:
    """Return a name as SQL writes it, whatever characters it holds."""
    return '"' + name.replace('"', '""') + '"'


def _connect(path: Path, guard: Guard, opening: Opening) -> sqlite3.Connection:
    connection = sqlite3.connect(
        # as_uri() escapes what a file name could use to switch the mode.
        path.as_uri() + f"?mode={opening.mode}",
        uri=True,
        timeout=1.0,
        isolation_level=None,
        # A cached statement would keep the answer that the authorizer gave for another question.
        cached_statements=0,
        check_same_thread=False,
    )
    try:
        connection.text_factory = _decoded
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _PATTERN_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for pragma in (*opening.pragmas, "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        # One snapshot: the number of rows and the rows belong together.
        connection.execute(opening.begin)
        connection.set_authorizer(guard.authorize)
        connection.set_progress_handler(guard.late, _OPERATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _where(query: Query) -> tuple[str, tuple[Scalar, ...]]:
    parts: list[str] = []
    values: list[Scalar] = []
    for name, value in query.where:
        if value is None:
            parts.append(f"t.{quote(name)} IS NULL")
        else:
            parts.append(f"t.{quote(name)} = ?")
            values.append(value)
    return (" WHERE " + " AND ".join(parts) if parts else ""), tuple(values)


def _cell(column: str) -> str:
    return (
        f"typeof({column}),"
        f" CASE typeof({column}) WHEN 'blob' THEN NULL"
        f" WHEN 'text' THEN substr({column}, 1, {FETCH_CHARACTERS}) ELSE {column} END,"
        f" CASE typeof({column}) WHEN 'blob' THEN length({column})"
        f" WHEN 'text' THEN length({column}) END"
    )


def _row(raw: tuple[Any, ...]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for kind, value, size in zip(raw[::3], raw[1::3], raw[2::3], strict=True):
        if kind == "blob":
            cells.append(Blob(size))
        elif kind == "text":
            # SQLite counts characters up to a NUL only.
            cells.append(Excerpt(value, max(size, len(value))))
        else:
            cells.append(value)
    return tuple(cells)
