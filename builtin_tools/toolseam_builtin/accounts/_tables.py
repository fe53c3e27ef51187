"""Accounts from a table of the workspace's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam.guards import mask_secrets
from toolseam_builtin import _database as db
from toolseam_builtin.accounts._accounts import Accounts, search
from toolseam_builtin.accounts._harmless import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin.accounts._accounts import Row, Wanted
    from toolseam_builtin.workspace import Workspace

_CHUNK = 2_000
_LISTED = 30


def from_table(
    workspace: Workspace,
    setting: str,
    wanted: Wanted,
    known: str | None,
    deadline: float | None,
) -> Accounts:
    """Read a page of accounts from the table that a setting names.

    Args:
        workspace: whose database it is.
        setting: `users` or `groups`.
        wanted: the page and the filter.
        known: the names of columns that are harmless; `None` takes all that are not sensitive.
        deadline: a moment on the monotonic clock.

    Raises `ToolError` `unavailable` if the setting names no table that may be read.
    """
    name: str = getattr(workspace.accounts, setting)
    with db.open_database(workspace, deadline, accounts=name) as database:
        table = _table(database, name, setting)
        names = [column.name for column in table.readable()]
        shown = names if known is None else harmless(names, known)
        key = table.key()
        columns = (*key, *(column for column in shown if column not in key))
        left = [column for column in names if column not in columns]
        hidden = [column.name for column in table.columns if column.sensitive]
        if wanted.filter is None:
            query = db.Query(table, _fetched(table, columns), (), wanted.limit, wanted.offset)
            rows, searched = _rows(database, query, columns), None
            total = database.count(query)
        else:
            rows, total, searched = search(_chunks(database, table, columns), wanted, deadline)
        source = f"{database.dialect} table {table.title}"
    return Accounts(
        source=source,
        title=table.title,
        key=len(key),
        columns=columns,
        rows=rows,
        total=total,
        searched=searched,
        notes=(
            *_note("Left out, since their names are not known to be harmless", left),
            *_note("Never shown", hidden),
        ),
    )


def _table(database: db.Database, name: str, setting: str) -> db.Table:
    try:
        return database.table(name)
    except ToolError as failure:
        if failure.code is not ErrorCode.NOT_FOUND:
            raise
    raise db.unavailable(f"workspace.accounts.{setting} names no table that may be read.")


def _fetched(table: db.Table, columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*columns, *table.naming())))


def _chunks(
    database: db.Database, table: db.Table, columns: tuple[str, ...]
) -> Iterator[list[Row]]:
    offset = 0
    while True:
        query = db.Query(table, _fetched(table, columns), (), _CHUNK, offset)
        rows = _rows(database, query, columns)
        yield rows
        if len(rows) < _CHUNK:
            return
        offset += _CHUNK


def _rows(database: db.Database, query: db.Query, columns: tuple[str, ...]) -> list[Row]:
    table = query.table
    fetched = tuple(table.column(name) or db.Column(name, "integer") for name in query.columns)
    shown = (db.show_row(table, fetched, row) for row in database.rows(query))
    return [[_cell(cell.text, cell.value) for cell in row[: len(columns)]] for row in shown]


def _cell(text: str, value: object) -> tuple[str, object]:
    masked, found = mask_secrets(text)
    return (masked, masked) if found else (text, value)


def _note(what: str, columns: list[str]) -> list[str]:
    if not columns:
        return []
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    return [f"{what}: {db.one_line(', '.join(columns[:_LISTED]))}{more}."]
