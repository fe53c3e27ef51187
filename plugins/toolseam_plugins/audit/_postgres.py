"""The store in a schema of a PostgreSQL database, for a team.

What the name of a writer is to a file's lock, an advisory lock of the session is here: the server
drops it with the connection, however that ends.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolseam_plugins.audit._database import NOTHING, AuditError, Doubled, Unreachable
from toolseam_plugins.audit._schema import INDEXES, TABLES, VERSION, migrations

if TYPE_CHECKING:
    from collections.abc import Generator

    import psycopg

SCHEMA = "toolseam_audit"
WAIT_S = 5
IDLE_S = 5.0
_TYPES = {"text": "text", "number": "bigint", "real": "double precision", "bytes": "bytea"}
_MAKING = 0x7473617564  # the lock under which the schema is made and changed
_OPTIONS = f"-c search_path={SCHEMA} -c statement_timeout=10s -c lock_timeout=5s"
_COMMENT = "toolseam audit, version "

_RELATIONS = """
SELECT c.relname, c.relkind::text, c.relrowsecurity FROM pg_catalog.pg_class c
WHERE c.relnamespace = %s::regnamespace
"""
_COLUMNS = """
SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r' AND a.attnum > 0
AND NOT a.attisdropped
"""
_INTRUDERS = """
SELECT 'trigger', t.tgname FROM pg_catalog.pg_trigger t
JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %s::regnamespace AND NOT t.tgisinternal
UNION ALL SELECT 'rule', r.rulename FROM pg_catalog.pg_rewrite r
JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = %s::regnamespace AND c.relkind = 'r'
ORDER BY 1, 2
"""


class PostgresDatabase:
    """One connection to the server; `writer` is the name that lives as long as it does."""

    def __init__(self, url: str, writer: str = "") -> None:
        self.place = shown(url)
        self.writer = writer
        self._connection = _connected(url, self.place)
        self._asked = time.monotonic()
        import psycopg

        try:
            self._open(make=bool(writer))
            if writer:
                self._one("SELECT pg_advisory_lock(%s)", lock_of(writer))
        except AuditError:
            self.close()
            raise
        except psycopg.Error as error:
            self.close()
            message = f"{self.place}: cannot be used ({type(error).__name__})"
            raise AuditError(message) from None

    def is_sound(self) -> bool:
        """Ask the server for nothing, where nobody has asked for a while: many end idle sessions.

        Only before a statement is it safe to begin again: one that was cut off may have been done.
        """
        now = time.monotonic()
        idle, self._asked = now - self._asked, now
        if idle < IDLE_S:
            return not self._connection.closed
        try:
            self.rows("SELECT 1")
        except Unreachable:
            return False
        return True

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query."""
        import psycopg

        try:
            cursor = self._connection.execute(_own(statement), values)
            return cursor.fetchall() if cursor.description else []
        except (psycopg.Error, ValueError) as error:
            raise self._fault(error) from None

    def change(self, statement: str, *values: object) -> int:
        """Change rows and return how many."""
        import psycopg

        try:
            return self._connection.execute(_own(statement), values).rowcount
        except psycopg.errors.UniqueViolation:
            raise Doubled from None
        except (psycopg.Error, ValueError) as error:
            raise self._fault(error) from None

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Do several things or none."""
        self.rows("BEGIN")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            with suppress(Unreachable):
                self.rows("ROLLBACK")
            raise

    @contextmanager
    def durable(self) -> Generator[None]:
        """Every commit is."""
        yield

    def is_alive(self, writer: str) -> bool:
        """Tell whether the session that holds the writer's lock is still there."""
        try:
            key = lock_of(writer)
        except ValueError:  # no name of ours
            return False
        (taken,) = self.rows("SELECT pg_try_advisory_lock(?)", key)[0]
        if taken:
            self.rows("SELECT pg_advisory_unlock(?)", key)
        return not taken

    def compact(self) -> None:
        """The server's own matter."""

    def rest(self) -> None:
        """It has none."""

    def abandon(self) -> None:
        """Let the server see the parent's end."""
        abandon(self._connection)

    def close(self) -> None:
        """Close the connection; the server then drops the writer's lock."""
        self._connection.close()

    def _fault(self, error: Exception) -> Unreachable:
        return Unreachable(type(error).__name__, broken=self._connection.closed)

    def _one(self, statement: str, *values: object) -> Any:  # noqa: ANN401 - a value of a row
        row = self._connection.execute(statement.encode(), values).fetchone()
        return None if row is None else row[0]

    def _open(self, *, make: bool) -> None:
        """Make the schema, or bring it to this version, and hold it to what we make."""
        with self._connection.transaction():
            self._one("SELECT pg_advisory_xact_lock(%s)", _MAKING)
            there = self._one("SELECT to_regnamespace(%s) IS NOT NULL", SCHEMA)
            if not there and not make:
                raise AuditError(NOTHING)
            if not there:
                self._connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            self._migrate(self._version() if there else 0)
            self._compare()

    def _version(self) -> int:
        said = self._one("SELECT obj_description(%s::regnamespace, 'pg_namespace')", SCHEMA)
        digits = str(said).removeprefix(_COMMENT)
        if not str(said).startswith(_COMMENT) or not digits.isdigit():
            raise AuditError(f"{self.place}: the schema {SCHEMA} is no audit store of toolseam")
        return int(digits)

    def _migrate(self, found: int) -> None:
        if found > VERSION:
            raise AuditError(f"{self.place}: a newer toolseam made it (version {found})")
        for step in migrations(_TYPES)[found:]:
            for statement in step:
                self._connection.execute(statement.encode())
        if found < VERSION:
            said = f"COMMENT ON SCHEMA {SCHEMA} IS '{_COMMENT}{VERSION}'"
            self._connection.execute(said.encode())

    def _compare(self) -> None:
        indexes = {f"{name}_pkey" for name in TABLES} | INDEXES.keys()
        ours = {(name, "r", False) for name in TABLES} | {(name, "i", False) for name in indexes}
        there = set(self._all(_RELATIONS, SCHEMA))
        for name, kind, secured in sorted(there ^ ours):
            state = "is missing" if (name, kind, secured) in ours else "is not ours"
            raise AuditError(f"{self.place}: the {_KINDS.get(kind, 'object')} {name!a} {state}")
        columns = {
            (table, column, _TYPES[kind])
            for table, rules in TABLES.items()
            for column, (kind, _) in rules.items()
        }
        for table, column, _ in sorted(set(self._all(_COLUMNS, SCHEMA)) ^ columns):
            raise AuditError(
                f"{self.place}: the column {f'{table}.{column}'!a} is not as we make it"
            )
        for kind, name in self._all(_INTRUDERS, SCHEMA, SCHEMA):
            raise AuditError(f"{self.place}: the {kind} {name!a} is not ours")

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement.encode(), values).fetchall()


_KINDS = {
    "r": "table",
    "i": "index",
    "v": "view",
    "m": "view",
    "f": "foreign table",
    "S": "sequence",
}


def shown(url: str) -> str:
    """Return what people may see of an address: no user, no password, no options."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "postgresql://"
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":
        # A password with a sign of its own in it, so that nobody knows where it ends.
        return "postgresql://"
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}"


def _connected(url: str, place: str) -> psycopg.Connection[Any]:
    try:
        import psycopg
    except ImportError:
        raise AuditError("PostgreSQL needs the extra `sql`: pip install 'toolseam[sql]'") from None
    try:
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=WAIT_S,
            options=_OPTIONS,
            application_name="toolseam",
        )
    except (psycopg.Error, ValueError) as error:
        kind = type(error).__name__
    # Raised here, where the driver's error, which may hold the password, does not ride along.
    raise AuditError(f"{place}: cannot be reached ({kind})")


@cache
def _own(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()


def abandon(connection: psycopg.Connection[Any]) -> None:
    """Let go of a parent's connection in the child of a fork: that it is his the driver knows."""
    if not connection.closed:
        os.close(connection.fileno())


def lock_of(name: str) -> int:
    """Return the number of the advisory lock of who has this name, 16 hexadecimal digits."""
    return int(name, 16) - 2**63
