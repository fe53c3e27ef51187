"""Accounts from a table of the workspace's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _database as db
from toolseam_builtin.accounts._accounts import SECONDS, Accounts, Finder
from toolseam_builtin.accounts._harmless import harmless

if TYPE_CHECKING:
    from toolseam_builtin.accounts._accounts import Row
    from toolseam_builtin.accounts._wanted import Wanted
    from toolseam_builtin.workspace import Workspace

_ALL = 2**31 - 1


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
        fetched = tuple(dict.fromkeys((*columns, *table.naming())))
        query = db.Query(table, fetched, (), wanted.limit, wanted.offset)
        if wanted.filter is None:
            rows, whole = [_row(query, row, len(columns)) for row in database.rows(query)], True
            total = database.count(query)
        else:
            rows, whole, total = _filtered(database, query, wanted, columns)
        source = f"{database.dialect} table {table.title}"
    return Accounts(
        source=source,
        title=table.title,
        key=len(key),
        columns=columns,
        rows=rows,
        total=total,
        whole=whole,
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


def _filtered(
    database: db.Database, query: db.Query, wanted: Wanted, columns: tuple[str, ...]
) -> tuple[list[Row], bool, int]:
    """Return the page of what matches, whether all were looked through, and how many match."""
    finder = Finder(wanted)
    texts = (each.name for each in db.columns_of(query.table, columns) if db.holds_text(each))
    contains = db.Contains(wanted.filter or "", tuple(texts))
    proposed = attrs.evolve(query, contains=contains, limit=_ALL, offset=0)
    whole = database.scan(
        proposed, lambda row: finder.take(_row(query, row, len(columns))), SECONDS
    )
    return finder.rows, whole, finder.matching


def _row(query: db.Query, cells: tuple[db.Cell, ...], shown: int) -> Row:
    columns = db.columns_of(query.table, query.columns)
    row = db.show_row(query.table, columns, cells)[:shown]
    return [(cell.text, cell.value) for cell in row]


def _note(what: str, columns: list[str]) -> list[str]:
    return [f"{what}: {db.listed(columns)}."] if columns else []
