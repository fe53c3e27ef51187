"""What is kept of durable runs beside the engine's own tables: where each stands, and the fence.

One connection, one thing at a time. What a run needs in order to go on is waited for, as the engine
does; what somebody asks for is given up after a while.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from toolseam import ToolseamError
from toolseam_plugins.audit._postgres import abandon

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

T = TypeVar("T")
LOGGER = logging.getLogger("toolseam.durable")
SCHEMA = "toolseam_durable"
_MAKING = 0x7473647572  # the lock under which the schema is made
# What was committed must be there after a crash, whatever the role or the database is set to.
_OPTIONS = (
    f"-c search_path={SCHEMA} -c statement_timeout=30s -c synchronous_commit=on"
    r" -c default_transaction_isolation=read\ committed"
)
_WAIT_S = 5
_PAUSE_S = 0.5
_TABLES = (
    f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
    """
    CREATE TABLE IF NOT EXISTS run (id text PRIMARY KEY, status text NOT NULL, reason text,
    part bigint NOT NULL, driver text NOT NULL DEFAULT '', began double precision NOT NULL,
    changed double precision NOT NULL, asked text NOT NULL, fence bytea NOT NULL, state bytea,
    held bytea, outcome bytea)
    """,
    "CREATE TABLE IF NOT EXISTS key (name text PRIMARY KEY, sealed bytea NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS decision (run_id text, position bigint, sealed bytea NOT NULL,
    PRIMARY KEY (run_id, position))
    """,
)

# For what workers look for all the time: few rows are ever in these.
_INDEXES = {
    "run_on_its_way": "(changed) WHERE status IN ('queued', 'running')",
    "run_for_people": "(changed) WHERE status IN ('waiting_for_approval', 'held')",
    "run_asked": "(changed) WHERE asked <> ''",
}

_BEGIN = """
INSERT INTO run (id, status, part, began, changed, asked, fence)
VALUES (%s, 'queued', 0, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
_END = """
UPDATE run SET status = %s, reason = %s, outcome = %s, changed = %s, state = NULL, held = NULL,
fence = '' WHERE id = %s AND status NOT IN ('completed', 'failed', 'cancelled')
"""
_ERASE = "DELETE FROM decision WHERE run_id = %s"


class DurableError(ToolseamError):
    """Durable runs cannot be used as it is; the text says why, without a driver's words."""


class Records:
    """The tables of durable runs.

    Args:
        url: of the PostgreSQL database.
        waits: tells whether who asks waits until it is there; what it raises ends a wait.

    Raises `DurableError` where it cannot be reached.
    """

    def __init__(self, url: str, waits: Callable[[], bool]) -> None:
        self._url = url
        self._waits = waits
        self._turn = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._parents: list[psycopg.Connection[Any]] = []
        in_child(self._begin_again)
        self.ask(_make)

    def wait(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Do it as soon as the database is there; in a transaction, so that it is done once.

        Who does not drive a run waits for nothing, and is answered as by `ask`.
        """
        warned = False
        while True:
            try:
                return self._do(work)
            except DurableError as fault:
                if not warned:
                    LOGGER.warning("%s", fault)
                warned = True
            if not self._waits():
                return self._do(work)
            time.sleep(_PAUSE_S)

    def ask(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Do it now, or raise `DurableError`; a connection that broke is opened again once."""
        try:
            return self._do(work)
        except DurableError:
            return self._do(work)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query; raises `DurableError`."""
        return self.ask(lambda connection: rows(connection, statement, *values))

    def change(self, statement: str, *values: object) -> int:
        """Change rows as `wait` does, and return how many."""
        return self.wait(lambda connection: change(connection, statement, *values))

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _begin_again(self) -> None:
        """Leave the connection to the parent, with whom somebody may have held the turn."""
        self._turn = threading.RLock()
        if self._connection is not None:
            abandon(self._connection)
            # Kept, since to throw it away would be to close it.
            self._parents.append(self._connection)
        self._connection = None

    def _do(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        import psycopg

        with self._turn:
            try:
                if self._connection is None:
                    self._connection = connected(self._url)
                with self._connection.transaction():
                    return work(self._connection)
            except psycopg.Error as error:
                kind = type(error).__name__
                if self._connection is not None:
                    with suppress(psycopg.Error):
                        self._connection.close()
                self._connection = None
        # Raised here, where the driver's error, which may hold content, does not ride along.
        raise DurableError(f"the database of durable runs did not answer ({kind})")


def rows(
    connection: psycopg.Connection[Any], statement: str, *values: object
) -> list[tuple[Any, ...]]:
    """Run a query in a work."""
    return connection.execute(statement.encode(), values).fetchall()


def change(connection: psycopg.Connection[Any], statement: str, *values: object) -> int:
    """Change rows in a work, and return how many."""
    return connection.execute(statement.encode(), values).rowcount


def begin(connection: psycopg.Connection[Any], run_id: str, asked: str, fence: bytes) -> None:
    """Have a row for a run, in a work."""
    now = time.time()
    change(connection, _BEGIN, run_id, now, now, asked, fence)


def end(
    connection: psycopg.Connection[Any],
    run_id: str,
    status: str,
    reason: str | None,
    *values: object,
    where: str = "",
    outcome: bytes | None = None,
) -> bool:
    """End a run that has not ended, and erase what it would need to go on, in a work.

    Args:
        connection: the work's.
        run_id: the run.
        status: what it becomes.
        reason: why.
        values: of the condition.
        where: a condition, beginning with ` AND`.
        outcome: its answer, sealed.
    """
    said = status, reason, outcome, time.time(), run_id
    if not change(connection, _END + where, *said, *values):
        return False
    change(connection, _ERASE, run_id)
    return True


def connected(url: str) -> psycopg.Connection[Any]:
    """Connect; raises `DurableError` without a word of the address, which may hold a password."""
    import psycopg

    try:
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=_WAIT_S,
            options=_OPTIONS,
            application_name="toolseam",
        )
    except (psycopg.Error, ValueError) as error:
        kind = type(error).__name__
    raise DurableError(f"the database of durable runs cannot be reached ({kind})")


def in_child(begin_again: Callable[[], None]) -> None:
    """Have a method called in each child of a fork, for as long as what it is of lives."""
    kept = weakref.WeakMethod(begin_again)

    def child() -> None:
        begin_anew = kept()
        if begin_anew is not None:
            begin_anew()

    os.register_at_fork(after_in_child=child)


def take(connection: psycopg.Connection[Any], key: int) -> bool:
    """Take a lock that lives as long as the connection, if nobody has it."""
    ((taken,),) = rows(connection, "SELECT pg_try_advisory_lock(%s)", key)
    return bool(taken)


def _make(connection: psycopg.Connection[Any]) -> None:
    connection.execute(b"SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
    for statement in _TABLES:
        connection.execute(statement.encode())
    for name, rule in _INDEXES.items():
        # One that is there locks the table all the same, should it be made again.
        if rows(connection, "SELECT to_regclass(%s)", f"{SCHEMA}.{name}") == [(None,)]:
            connection.execute(f"CREATE INDEX {name} ON run {rule}".encode())
