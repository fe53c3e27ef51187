"""From a workspace to an open database."""

from __future__ import annotations

import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolseam_builtin._database._accounts import AccountsGate
from toolseam_builtin._database._faults import Deadline, unavailable
from toolseam_builtin._database._gate import TableGate
from toolseam_builtin._database._looking import is_sqlite, the_one_database

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from toolseam_builtin._database._model import Database
    from toolseam_builtin.workspace import Workspace

_SECONDS = 10.0
_MARGIN = 0.2
_SQLITE = "sqlite:///"
_POSTGRES = frozenset(
    {
        "postgres",
        "postgresql",
        "postgresql+psycopg",
        "postgresql+psycopg2",
    }
)


@contextmanager
def open_database(
    workspace: Workspace, deadline: float | None = None, *, accounts: str | None = None
) -> Generator[Database]:
    """Open the workspace's database for reading, and close it afterwards.

    Args:
        workspace: names the database, or has one SQLite file in its folder.
        deadline: a moment on the monotonic clock; the database gives up a little earlier, and
            after ten seconds in any case.
        accounts: the table of people or groups, which is then the only one that may be read.

    Raises `ToolError` `unavailable` for what is not configured, not trusted or not readable.
    """
    now = time.monotonic()
    until = now + _SECONDS if deadline is None else min(now + _SECONDS, deadline - _MARGIN)
    database = _opened(workspace, Deadline(until), accounts)
    try:
        yield database
    finally:
        database.close()


def _opened(workspace: Workspace, deadline: Deadline, accounts: str | None) -> Database:
    if is_server(workspace.database):
        url = server_url(workspace)
        from toolseam_builtin._database._postgres import open_postgres

        gate = gate_of(workspace, "public", accounts)
        return open_postgres(url, gate, deadline, privileged=workspace.allow_privileged_role)
    from toolseam_builtin._database._sqlite import SqliteDatabase

    return SqliteDatabase(sqlite_file(workspace), gate_of(workspace, "main", accounts), deadline)


def is_server(address: str | None) -> bool:
    """Tell whether an address is a server's, and no SQLite file's."""
    return address is not None and "://" in address and not address.startswith(_SQLITE)


def sqlite_file(workspace: Workspace) -> Path:
    """Return the SQLite file that a workspace names, or the one that is in its folder.

    Raises `ToolError` `unavailable` where there is none, or several.
    """
    name = (workspace.database or "").removeprefix(_SQLITE)
    if not name:
        return the_one_database(workspace.place)
    path = workspace.inside(name, "database")
    if not path.is_file() or not is_sqlite(path):
        raise unavailable("workspace.database names no SQLite file.")
    return path


def server_url(workspace: Workspace) -> str:
    """Return the address of a workspace's server, as libpq takes it.

    Raises `ToolError` `unavailable` for a workspace that is not trusted, for another engine than
    PostgreSQL, and without psycopg.
    """
    if not workspace.trusted:
        raise unavailable(
            "workspace.database is a server, and the workspace is not trusted;"
            " `toolseam trust .` allows it.",
            "untrusted_workspace",
        )
    scheme, _, rest = (workspace.database or "").partition("://")
    if scheme.casefold() not in _POSTGRES:
        raise unavailable("workspace.database must be SQLite or PostgreSQL.")
    if find_spec("psycopg") is None:
        raise unavailable("PostgreSQL needs psycopg: pip install 'toolseam[sql]'.", "missing_extra")
    return f"postgresql://{rest}"


def gate_of(workspace: Workspace, default_schema: str, accounts: str | None = None) -> TableGate:
    """Return the table gate that operator and workspace make together.

    Args:
        workspace: says what is allowed, what is denied, and which tables hold accounts.
        default_schema: of tables that are named without one.
        accounts: the table of accounts that alone is to be read.
    """
    allow, deny = tuple(workspace.tables_allow), tuple(workspace.tables_deny)
    if accounts is not None:
        return AccountsGate(table=accounts, allow=allow, deny=deny, default_schema=default_schema)
    named = (workspace.accounts.users, workspace.accounts.groups)
    return TableGate(
        allow=allow,
        deny=deny,
        accounts=tuple(name for name in named if name),
        default_schema=default_schema,
    )
