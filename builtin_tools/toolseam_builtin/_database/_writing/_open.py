"""From a workspace to an open database that may be written, and the carrying out of a plan."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._database._faults import Deadline, unavailable
from toolseam_builtin._database._open import gate_of, is_server, server_url, sqlite_file
from toolseam_builtin._database._writing._faults import not_as_previewed, not_wanted
from toolseam_builtin._database._writing._model import Telling

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from toolseam_builtin._database._writing._model import Equalities, Plan, Writer
    from toolseam_builtin.workspace import Workspace

_SECONDS = 1.6
_MARGIN = 0.2
_SETTING = 'write_database = "postgresql://..." in the table [plugins.toolseam]'


@contextmanager
def open_writer(workspace: Workspace, deadline: float | None = None) -> Generator[Writer]:
    """Open the workspace's database for one write, and close it afterwards.

    Args:
        workspace: names the database.
        deadline: a moment on the monotonic clock; the database gives up a little earlier, and
            after less than two seconds in any case.

    Raises `ToolError`: `unavailable` for what is not configured, not trusted, locked or not
    writable, `conflict` for a SQLite file with a journal that is not ours.
    """
    now = time.monotonic()
    until = now + _SECONDS if deadline is None else min(now + _SECONDS, deadline - _MARGIN)
    writer = _opened(writable(workspace), Deadline(until))
    try:
        yield writer
    finally:
        writer.close()


def writable(workspace: Workspace) -> Workspace:
    """Return the workspace with the database that is written.

    Raises `ToolError` `unavailable`, with the reason `no_write_database`, for a server whose
    operator named no address for writing.
    """
    if not is_server(workspace.database):
        if workspace.write_database is None:
            return workspace
        raise unavailable(
            "write_database is for a workspace whose database is a PostgreSQL server; a SQLite"
            " file is written where it is."
        )
    if workspace.write_database is not None:
        # The operator himself named it.
        return attrs.evolve(workspace, database=workspace.write_database, trusted=True)
    if workspace.allow_privileged_role:
        return workspace
    raise unavailable(
        "workspace.database is for reading; name an address whose role may write:"
        f" {_SETTING} of the operator's file.",
        "no_write_database",
    )


def _opened(workspace: Workspace, deadline: Deadline) -> Writer:
    if is_server(workspace.database):
        url = server_url(workspace)
        from toolseam_builtin._database._writing import _postgres

        return _postgres.open_writer(
            url, gate_of(workspace, "public"), deadline, privileged=workspace.allow_privileged_role
        )
    from toolseam_builtin._database._writing._sqlite import SqliteWriter

    return SqliteWriter(sqlite_file(workspace), gate_of(workspace, "main"), deadline)


def carry_out(
    writer: Writer, plan: Plan, who: str, wanted: Callable[[], bool]
) -> tuple[Equalities, int]:
    """Write a plan, look at what was written, tell history, and keep it; or keep nothing.

    Args:
        writer: the open transaction.
        plan: made in this very transaction.
        who: the acting user.
        wanted: whether somebody still waits for it, asked last of all.

    Returns what names the first record, and how many rows history got.

    Raises `ToolError` as the writer does, and `conflict` for a record that the database keeps
    otherwise than it was written.
    """
    writer.announce(plan.changes, plan.history)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    records: list[Equalities] = []
    rows = 0
    for change in plan.changes:
        table = change.table
        before: list[str | None] = [None] * len(change.columns)
        if change.record is None:
            record = writer.insert(change)
        else:
            record = change.record
            before = writer.texts(table, record, change.columns)
            writer.update(change)
        if not writer.holds(change, record):
            raise not_as_previewed(table, undone=writer.undo())
        telling = Telling(tuple(zip(change.columns, before, strict=True)), who, when)
        rows += writer.tell(plan.history, table.title, table, record, telling)
        records.append(record)
    if not wanted():
        raise not_wanted()
    writer.keep()
    return records[0], rows
