"""The SQLite reader, on the standard library alone."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, TypeVar

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import (
    Deadline,
    no_table,
    over_budget,
    too_late,
    unavailable,
)
from toolseam_builtin._database._looking import stands_alone
from toolseam_builtin._database._model import (
    COUNT_SECONDS,
    READ_SECONDS,
    REFERRING_ROWS,
    Entry,
    Orphans,
)
from toolseam_builtin._database._sqlite_guard import Guard
from toolseam_builtin._database._sqlite_reserved import RESERVED
from toolseam_builtin._database._sqlite_schema import Schema
from toolseam_builtin._database._sqlite_sql import (
    PATTERN_BYTES,
    quote,
    read_row,
    select,
    select_count,
    select_groups,
    select_orphans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from toolseam_builtin._database._gate import TableGate
    from toolseam_builtin._database._model import (
        Cell,
        ForeignKey,
        Query,
        Scalar,
        Structure,
        Table,
    )

T = TypeVar("T")

_CELL_BYTES = 8_000_000
_OPERATIONS = 1_000
_ESTIMATE_ROWS = 10_000
_ESTIMATE_SECONDS = 0.8


@attrs.frozen
class Opening:
    """How a file is opened: the URI's mode, further pragmas, the start of the transaction."""

    mode: str
    pragmas: tuple[str, ...]
    begin: str


_READING = Opening("ro", ("query_only = ON",), "BEGIN")
_AT_REST = attrs.evolve(_READING, mode="ro&immutable=1")


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
            self._connection, self._at_rest = _reading(path, self._guard, opening)
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
            rows = (
                self._estimate(table, until - time.monotonic())
                if count and kind == "table"
                else None
            )
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
        found: list[tuple[Cell, ...]] = []

        def take(row: tuple[Cell, ...]) -> bool:
            found.append(row)
            return True

        if not self.scan(query, take, READ_SECONDS):
            raise over_budget(query.table.title)
        return found

    def scan(self, query: Query, take: Callable[[tuple[Cell, ...]], bool], seconds: float) -> bool:
        """Hand over rows until `take` returns `False`, or return `False` at the budget."""
        statement, values = select(query)

        def read() -> bool:
            with closing(self._connection.execute(statement, values)) as found:
                for row in found:
                    # What takes long may be the taking, of which the engine knows nothing.
                    if self._deadline.passed():
                        raise too_late()
                    if not take(read_row(row) if query.columns else ()):
                        break
            return True

        return self._budgeted(query.table, read, seconds) is not None

    def count(self, query: Query, seconds: float = COUNT_SECONDS) -> int | None:
        """Return how many rows match, `None` if counting takes longer."""
        statement, values = select_count(query)
        return self._counted(query.table, statement, values, seconds)

    def groups(self, query: Query, seconds: float) -> list[tuple[Cell, int]] | None:
        """Return values with their numbers of rows, `None` if counting takes longer."""
        statement, values = select_groups(query)

        def read() -> list[tuple[Cell, int]]:
            found = self._connection.execute(statement, values)
            return [(read_row(row[:-1])[0], row[-1]) for row in found]

        return self._budgeted(query.table, read, seconds)

    def orphans(self, table: Table, key: ForeignKey, seconds: float) -> Orphans | None:
        """Return how many rows refer by a key to none, `None` if counting takes longer."""
        other = self.table(key.table or "")
        statement = select_orphans(table, key, other, REFERRING_ROWS + 1)

        def read() -> Orphans:
            rows, count = self._connection.execute(statement).fetchone()
            return Orphans(count, rows, capped=rows > REFERRING_ROWS)

        return self._budgeted(table, read, seconds, other)

    def reserved_words(self) -> frozenset[str]:
        """Return the words that are no names unless they are quoted."""
        return RESERVED

    def close(self) -> None:
        """Close the connection; a file at rest that somebody wrote meanwhile was not read."""
        self._connection.close()
        if self._at_rest is not None and self._at_rest.changed():
            raise unavailable(f"{self._title} was changed while it was read; ask again.", "busy")

    def _estimate(self, table: Table, seconds: float) -> int | None:
        inner = f"SELECT 1 FROM {quote(table.name)} LIMIT {_ESTIMATE_ROWS + 1}"  # noqa: S608
        statement = f"SELECT count(*) FROM ({inner})"  # noqa: S608
        return self._counted(table, statement, (), seconds)

    def _counted(
        self, table: Table, statement: str, values: tuple[Scalar, ...], seconds: float
    ) -> int | None:
        def read() -> int:
            return int(self._connection.execute(statement, values).fetchone()[0])

        return self._budgeted(table, read, seconds)

    def _budgeted(
        self, table: Table, read: Callable[[], T], seconds: float, *others: Table
    ) -> T | None:
        """Return what reading gives, `None` if it takes longer than so many seconds."""
        try:
            with self._deadline.within(seconds), self._reading(table, *others):
                return read()
        except ToolError as failure:
            if failure.code is ErrorCode.TIMEOUT and self._deadline.left():
                return None
            raise

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
    def _reading(self, table: Table, *others: Table) -> Generator[None]:
        with self._translated(table.name):
            self._guard.sight = self._schema.sight(table, *others)
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


class AtRest:
    """A file in WAL mode that nobody has open, in a folder that cannot be written.

    Its readers would have to write side files there. All of it stands in the file itself, so that
    it can be read as what never changes, if it does not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = _written(path)

    @classmethod
    def of(cls, path: Path) -> AtRest | None:
        """Look at a file; None where more than the file belongs to the database."""
        try:
            found = cls(path)
            with path.open("rb") as file:
                in_wal_mode = file.read(20)[18:] == b"\2\2"
            wal = path.with_name(f"{path.name}-wal")
            alone = not wal.exists() or wal.stat().st_size == 0
        except OSError:
            return None
        return found if in_wal_mode and alone else None

    def changed(self) -> bool:
        """Tell whether somebody has written it since."""
        try:
            return _written(self._path) != self._written
        except OSError:
            return True


def _written(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _reading(
    path: Path, guard: Guard, opening: Opening
) -> tuple[sqlite3.Connection, AtRest | None]:
    try:
        return _connect(path, guard, opening), None
    except sqlite3.OperationalError as error:
        unopened = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN
        at_rest = AtRest.of(path) if unopened and opening is _READING else None
        if at_rest is None:
            raise
    return _connect(path, guard, _AT_REST), at_rest


def _connect(path: Path, guard: Guard, opening: Opening) -> sqlite3.Connection:
    # A reader of a WAL file writes to it too.
    if not (stands_alone(f"{path}-wal") and stands_alone(f"{path}-shm")):
        raise unavailable(f"{path.name} has side files that lead to other files.")
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
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for pragma in (*opening.pragmas, "trusted_schema = OFF", "cell_size_check = ON"):
            connection.execute(f"PRAGMA {pragma}")
        # One snapshot: the number of rows and the rows belong together.
        connection.execute(opening.begin)
        connection.execute("PRAGMA schema_version")
        connection.set_authorizer(guard.authorize)
        connection.set_progress_handler(guard.late, _OPERATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
