"""How the records of a table refer to others of the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_builtin._database._faults import unavailable

if TYPE_CHECKING:
    from toolseam_builtin._database._model import Database, Table
    from toolseam_builtin.workspace import TableSettings


def parent_columns(database: Database, table: Table, settings: TableSettings) -> tuple[str, str]:
    """Return the column that refers to the parent, and the column that it refers to.

    Args:
        database: where the table is.
        table: whose records have parents.
        settings: what the workspace says of it; without its word the one foreign key decides that
            leads back to the table.

    Raises `ToolError` `unavailable`, naming the setting, where there is none or more than one.
    """
    own = [
        (key.columns[0], key.target[0])
        for key in database.structure(table).foreign_keys
        if key.table == table.title and len(key.columns) == 1 and len(key.target) == 1
    ]
    if settings.parent is not None:
        named = table.column(settings.parent)
        name = settings.parent if named is None else named.name
        own = [pair for pair in own if pair[0] == name] or [
            (name, table.primary_key[0]) for _ in table.primary_key if len(table.primary_key) == 1
        ]
    readable = {column.name for column in table.readable()}
    found = [pair for pair in own if readable.issuperset(pair)]
    if len(found) != 1:
        problem = "no column that refers" if not found else "several columns that refer"
        raise unavailable(
            f"{table.title} has {problem} to its own records; name one:"
            f' parent = "..." in the table [workspace.tables.{table.name}].'
        )
    return found[0]
