"""The PostgreSQL reader, on psycopg alone; imported only where psycopg is.

Not on SQLAlchemy: cells are wanted as the server writes them, whatever their type, and structure
from the catalogue in one transaction; what would be left of it is half a second of import.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import (
    Deadline,
    no_table,
    over_budget,
    too_late,
    unavailable,
)
from toolseam_builtin._database._model import (
    COUNT_SECONDS,
    READ_SECONDS,
    REFERRING_ROWS,
    Entry,
    Orphans,
)
from toolseam_builtin._database._postgres_schema import Catalogue, Relation
from toolseam_builtin._database._postgres_sql import (
    in_stored_order,
    kind_of,
    read_row,
    select,
    select_count,
    select_groups,
    select_orphans,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from psycopg.sql import Composed

    from toolseam_builtin._database._gate import TableGate
    from toolseam_builtin._database._model import Cell, ForeignKey, Query, Structure, Table

_BATCH = 50
_TOLERANCE = 0.02
_NEVER = (0.0, 0.0)
_TABLES_ONLY = "view, foreign-table"
_CONNECT_SECONDS = 5
_OPTIONS = " ".join(
    f"-c {setting}"
    for setting in (
        "search_path=pg_catalog",
        "datestyle=ISO",
        "intervalstyle=iso_8601",
        "timezone=UTC",
    )
)
POWERFUL = """
SELECT EXISTS (
  SELECT FROM pg_roles r WHERE pg_has_role(session_user, r.oid, 'MEMBER')
  AND (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls
    OR r.rolname IN ('pg_write_all_data', 'pg_execute_server_program', 'pg_read_server_files',
                     'pg_write_server_files'))
)"""
_PRIVILEGED = f"""{POWERFUL} OR EXISTS (
  SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (pg_has_role(session_user, c.relowner, 'MEMBER')
    OR has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    OR has_any_column_privilege(session_user, c.oid, 'INSERT, UPDATE'))
)
"""
_RESERVED = "SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')"
_RESTRICT = """
SELECT set_config(name, %s, true) FROM pg_settings WHERE name = 'restrict_nonsystem_relation_kind'
"""
_SCAN = """
SELECT set_config(name, CASE WHEN NOT %s THEN reset_val WHEN vartype = 'bool' THEN 'off' ELSE '0'
  END, true)
FROM pg_settings WHERE name IN ('enable_bitmapscan', 'enable_indexonlyscan', 'enable_indexscan',
  'max_parallel_workers_per_gather', 'synchronize_seqscans')
"""


def open_postgres(
    url: str, gate: TableGate, deadline: Deadline, *, privileged: bool = False
) -> PostgresDatabase:
    """Connect for reading.

    Args:
        url: as libpq takes it, beginning with `postgresql://`.
        gate: which tables may be read.
        deadline: for all that is done with the connection.
        privileged: accept a role that may do more than read.

    Raises `ToolError` `unavailable` without a server, or, with the reason `privileged_role`, for
    a role that may do more than read.
    """
    title, connection = connect(url, deadline)
    try:
        return PostgresDatabase(connection, title, gate, deadline, privileged=privileged)
    except BaseException:
        connection.close()
        raise


class PostgresDatabase:
    """One read-only transaction, behind the table gate."""

    dialect = "PostgreSQL"
    default_schema = "public"
    _ruled_out = _PRIVILEGED
    _role_wanted = "may do more than read; give workspace.database one that has SELECT only."

    def __init__(
        self,
        connection: psycopg.Connection[tuple[Any, ...]],
        title: str,
        gate: TableGate,
        deadline: Deadline,
        *,
        privileged: bool,
    ) -> None:
        self._connection = connection
        self._deadline = deadline
        self._title = title
        self._held = _NEVER
        self._restricted: str | None = None
        self._scanning: bool | None = False
        with self._translated():
            if not privileged and self._fetch(self._ruled_out)[0][0]:
                raise unavailable(
                    f"The role for {title} {self._role_wanted}",
                    "privileged_role",
                )
            self._fetch(_RESTRICT, _TABLES_ONLY)
            self._restricted = _TABLES_ONLY
            self._catalogue = Catalogue(self._fetch, gate, self.default_schema)

    def tables(self, schema: str | None = None, *, count: bool = True) -> list[Entry]:
        """Return the readable tables, and the views that the operator allows by name."""
        wanted = None if schema is None else schema.casefold()
        return [
            Entry(
                relation.name,
                relation.schema,
                relation.title,
                relation.kind,
                relation.rows if count else None,
                comment=relation.comment,
            )
            for relation in self._catalogue.relations
            if wanted in {None, relation.schema.casefold()}
        ]

    def table(self, name: str) -> Table:
        """Return one table by its name, or by `schema.name`."""
        with self._translated(name):
            return self._catalogue.table(self._relation(name))

    def structure(self, table: Table) -> Structure:
        """Return keys, indexes and conditions of a table."""
        with self._translated(table.title):
            return self._catalogue.structure(self._relation(table.title))

    def rows(self, query: Query) -> list[tuple[Cell, ...]]:
        """Return rows, each cell as the server writes it."""
        kinds = [kind_of(query.table.column(name)) for name in query.columns]
        statement, values = select(query, kinds)
        found: list[tuple[Any, ...]] = []

        def read() -> None:
            self._restrict(query.table)
            self._plan(scanning=in_stored_order(query))
            found.extend(self._fetch(statement, *values))

        if not self._within(query.table, READ_SECONDS, read):
            raise over_budget(query.table.title)
        return [read_row(row, kinds) for row in found]

    def scan(self, query: Query, take: Callable[[tuple[Cell, ...]], bool], seconds: float) -> bool:
        """Hand over rows until `take` returns `False`, or return `False` at the budget."""
        kinds = [kind_of(query.table.column(name)) for name in query.columns]
        statement, values = select(query, kinds)

        def read() -> None:
            self._restrict(query.table)
            self._plan(scanning=in_stored_order(query))
            self._hold()
            with self._connection.cursor("scan") as cursor:
                cursor.execute(statement, values)
                # Where rows are looked for, none waits for the next one to be found.
                size = min(query.limit, _BATCH) if query.contains is None else 1
                more = True
                while more:
                    self._hold()
                    rows = cursor.fetchmany(size)
                    more = len(rows) == size
                    more &= all(take(read_row(row, kinds)) for row in rows)
                    size = min(2 * size, _BATCH)

        return self._within(query.table, seconds, read)

    def count(self, query: Query, seconds: float = COUNT_SECONDS) -> int | None:
        """Return how many rows match, `None` if counting takes longer."""
        statement, values = select_count(query)
        rows = self._budgeted(query.table, seconds, statement, *values)
        return None if rows is None else int(rows[0][0])

    def groups(self, query: Query, seconds: float) -> list[tuple[Cell, int]] | None:
        """Return values with their numbers of rows, `None` if counting takes longer."""
        kind = kind_of(query.table.column(query.columns[0]))
        statement, values = select_groups(query, kind)
        rows = self._budgeted(query.table, seconds, statement, *values)
        return None if rows is None else [(read_row(row[:-1], [kind])[0], row[-1]) for row in rows]

    def orphans(self, table: Table, key: ForeignKey, seconds: float) -> Orphans | None:
        """Return how many rows refer by a key to none, `None` if counting takes longer."""
        with self._translated(table.title):
            other = self._relation(key.table or "")
        statement = select_orphans(table, key, (other.schema, other.name), REFERRING_ROWS + 1)
        found = self._budgeted(table, seconds, statement)
        if found is None:
            return None
        ((rows, count),) = found
        return Orphans(count, rows, capped=rows > REFERRING_ROWS)

    def reserved_words(self) -> frozenset[str]:
        """Return the words that are no names unless they are quoted."""
        with self._translated():
            return frozenset(word for (word,) in self._fetch(_RESERVED))

    def close(self) -> None:
        """End the transaction and close the connection."""
        self._connection.close()

    def _relation(self, name: str) -> Relation:
        relation = self._catalogue.resolve(name)
        if relation is None:
            raise no_table(name, self._catalogue.titles())
        return relation

    def _budgeted(
        self, table: Table, seconds: float, statement: Composed, *values: object
    ) -> list[tuple[Any, ...]] | None:
        """Return the rows of a statement, `None` if it takes longer than so many seconds."""
        found: list[tuple[Any, ...]] = []

        def read() -> None:
            self._restrict(table)
            self._plan(scanning=False)
            found.extend(self._fetch(statement, *values))

        return found if self._within(table, seconds, read) else None

    def _within(self, table: Table, seconds: float, read: Callable[[], None]) -> bool:
        """Tell whether reading came to its end within so many seconds."""
        try:
            # A savepoint: what is given up must not end the transaction.
            with (
                self._deadline.within(seconds),
                self._translated(table.title),
                self._connection.transaction(),
            ):
                read()
        except ToolError as failure:
            # What was set since the savepoint is no longer.
            self._held, self._restricted, self._scanning = _NEVER, None, None
            if failure.code is ErrorCode.TIMEOUT and self._deadline.left():
                return False
            raise
        return True

    def _plan(self, *, scanning: bool) -> None:
        """Let the next statements find rows in the order of their storage, or as is best."""
        if scanning is not self._scanning:
            self._fetch(_SCAN, scanning)
            self._scanning = scanning

    def _restrict(self, table: Table) -> None:
        """Let the next statements read what kind of table this is, and nothing else."""
        restricted = {"table": _TABLES_ONLY, "foreign table": "view"}.get(table.kind, "")
        if restricted != self._restricted:
            self._fetch(_RESTRICT, restricted)
            self._restricted = restricted

    def _fetch(self, statement: Composed | str, *values: object) -> list[tuple[Any, ...]]:
        self._hold()
        with self._connection.cursor() as cursor:
            cursor.execute(statement.encode() if isinstance(statement, str) else statement, values)
            return cursor.fetchall()

    def _hold(self) -> None:
        """Hold the next statement to the time that is left."""
        now = time.monotonic()
        left = self._deadline.left()
        if self._deadline.near is not None:
            left = min(left, self._deadline.near - now)
        if left <= 0:
            raise too_late()
        set_at, until = self._held
        # Telling the server takes as long as many a statement does.
        if now - set_at > _TOLERANCE or abs(now + left - until) > _TOLERANCE:
            limit = f"SET LOCAL statement_timeout = {max(1, int(left * 1000))}"
            self._connection.execute(limit.encode())
            self._held = (now, now + left)

    @contextmanager
    def _translated(self, name: str | None = None) -> Generator[None]:
        """Turn what the driver says into a refusal of ours; none of its text goes on."""
        failure: ToolError | None = None
        try:
            yield
        except psycopg.Error as error:
            # What psycopg itself refuses to send has no state; it is a value, as in class 22.
            own = "22000" if isinstance(error, psycopg.DataError) else ""
            failure = self._refusal(error.sqlstate or own, name)
        except UnicodeError:
            failure = unavailable(f"{self._title} has text that is not in its own encoding.")
        if failure is not None:
            raise failure

    def _refusal(self, state: str, name: str | None) -> ToolError:
        if state == "57014" or self._deadline.passed():
            return too_late()
        if name is not None and state in {"42501", "42P01", "3F000"}:
            return no_table(name, self._catalogue.titles())
        if name is not None and (state[:2] == "22" or state in {"42883", "42725", "42804"}):
            return ToolError(
                f"A filter of {name} does not fit its column.", ErrorCode.INVALID_ARGUMENTS
            )
        if name is None or state[:2] in {"08", "57", ""}:
            return unavailable(f"{self._title} cannot be read.")
        return unavailable(f"PostgreSQL cannot read {name}.")


def connect(
    url: str, deadline: Deadline, *, writing: bool = False
) -> tuple[str, psycopg.Connection[tuple[Any, ...]]]:
    """Return how answers name a server's database, and a connection whose transaction may begin.

    Args:
        url: as libpq takes it.
        deadline: bounds how long connecting may take.
        writing: the transaction may write, and is as if it were alone.

    Raises `ToolError` `unavailable` without a server.
    """
    title = "the PostgreSQL database"
    found: psycopg.Connection[tuple[Any, ...]] | None = None
    try:
        parts = conninfo_to_dict(url)
        title = f"PostgreSQL on {parts.get('host', 'the default host')}/{parts.get('dbname', '')}"
        found = psycopg.connect(
            url,
            options=f"{_OPTIONS} -c default_transaction_read_only={'off' if writing else 'on'}",
            connect_timeout=max(2, min(_CONNECT_SECONDS, int(deadline.left()))),
            tcp_user_timeout=max(1, int(deadline.left() * 1000)),
            application_name="toolseam",
            client_encoding="utf8",
        )
        levels = psycopg.IsolationLevel
        found.read_only = not writing
        found.isolation_level = levels.SERIALIZABLE if writing else levels.REPEATABLE_READ
    except (psycopg.Error, UnicodeError, ValueError):
        if found is not None:
            found.close()
        found = None
    if found is None:
        raise unavailable(f"{title} cannot be reached, or refuses the role.")
    return title, found
