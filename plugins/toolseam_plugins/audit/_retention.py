"""What a start finds of those before it: runs that nobody finished, and runs that are too old."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from toolseam_plugins.audit import _statements as sql

if TYPE_CHECKING:
    from toolseam_plugins.audit._database import Database

CHUNK = 500
DAY_S = 86_400


def mark_interrupted(database: Database) -> int:
    """Mark what processes that are gone have left unfinished; return how many runs.

    A run in which a write was on its way is held, since nobody knows what that did; any other has
    failed.
    """
    marked = 0
    for (writer,) in database.rows(sql.WRITERS):
        if database.is_alive(writer):
            continue
        with database.transaction():
            marked += database.change(sql.INTERRUPTED_WRITES, writer)
            database.change(sql.INTERRUPTED_STEPS, writer)
            marked += database.change(sql.INTERRUPTED, time.time(), writer)
    return marked


def purge(database: Database, days: float, *, chunks: int | None = None) -> int:
    """Delete what is older than `days`, in chunks of 500 runs; return how many runs.

    A run is as old as the last thing that happened in it; one that runs stays. Of a session that
    goes on its old steps go.

    Args:
        database: the store's.
        days: before now.
        chunks: at most so many; None is all.
    """
    before = time.time() - days * DAY_S
    purged = 0
    while chunks is None or chunks > 0:
        chunks = None if chunks is None else chunks - 1
        old = database.rows(sql.OLD, before, before, CHUNK)
        with database.transaction():
            for (run_id,) in old:
                for statement in sql.PURGE:
                    database.change(statement, run_id)
        purged += len(old)
        if len(old) < CHUNK:
            break
    for (run_id,) in database.rows(sql.OLD_SESSIONS, before, before, before):
        with database.transaction():
            database.change(sql.PURGE_STEPS, run_id, before)
    if purged:
        database.compact()
    return purged
