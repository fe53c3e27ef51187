"""What is to be changed: the table, its columns, one record of it, and the values of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._asking import columns_of, find_record, listed, scalar
from toolseam_builtin._database._cells import label_column, show, speaks_of_secret
from toolseam_builtin._database._faults import no_column, unavailable
from toolseam_builtin._database._history import History, find_history
from toolseam_builtin._database._model import Cell, Database, Table
from toolseam_builtin._database._writing._model import Equalities
from toolseam_builtin._database._writing._values import fit
from toolseam_builtin.editing._shown import said_cell
from toolseam_builtin.workspace import TableSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolseam_builtin._database._model import Column, Scalar
    from toolseam_builtin.workspace import Workspace


@attrs.frozen
class Target:
    """A table that may be edited, with what the workspace says of it."""

    database: Database
    table: Table
    settings: TableSettings
    history: History


@attrs.frozen
class Record:
    """One record: what names it, as a condition and as answers show it, and its cells."""

    where: Equalities
    key: str
    label: str
    cells: Mapping[str, Cell]
    shown: Mapping[str, str]
    secret: bool


def target(database: Database, workspace: Workspace, name: str) -> Target:
    """Return a table that may be edited.

    Raises `ToolError`: `not_found` for no readable table, `invalid_arguments` for a view or the
    like, `unavailable`, with the reason `no_history`, where nothing would tell who changed what.
    """
    table = database.table(name)
    if table.kind != "table":
        raise ToolError(
            f"{table.title} is a {table.kind}; only tables are written.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    settings = workspace.table_settings(table.name)
    history = find_history(database, table, settings, named_only=True)
    who = None if history.who is None else history.table.column(history.who)
    if who is None or history.table.kind != "table" or not _takes_names(who):
        raise unavailable(
            f"{history.table.title} is no table that can be told who changed {table.title}: wanted"
            " is a column for a name, like changed_by.",
            "no_history",
        )
    return Target(database, table, settings, history)


def named_column(found: Target, role: str) -> Column:
    """Return the column that the workspace names for a role (`draft`, `language` …).

    Raises `ToolError` `unavailable`, with the reason `not_configured`, naming the key.
    """
    name = getattr(found.settings, role)
    return written_column(found, None if name is None else found.table.column(name), role)


def written_column(found: Target, column: Column | None, role: str) -> Column:
    """Return the column for a role, if it can be written.

    Raises `ToolError` `unavailable`, with the reason `not_configured`, naming the key.
    """
    if column is None or column.sensitive or column.generated:
        raise unavailable(
            f"{found.table.title} has no {role} column that can be written; name one:"
            f' {role} = "..." in the table [workspace.tables.{found.table.name}].',
            "not_configured",
        )
    return column


def optional_column(found: Target, role: str) -> Column | None:
    """Return the column for a role, `None` where the workspace names none."""
    return None if getattr(found.settings, role) is None else named_column(found, role)


def read(found: Target, key: str | int, names: Iterable[str] = ()) -> Record:
    """Return one record with the cells of these columns.

    Raises `ToolError` `not_found` if there is none.
    """
    table = found.table
    label = label_column(table, found.settings.label)
    wanted = (*table.key(), *names, *table.naming(), *filter(None, [label]))
    columns = columns_of(table, dict.fromkeys(wanted))
    where, row = find_record(found.database, table, key, [column.name for column in columns])
    cells = {column.name: cell for column, cell in zip(columns, row, strict=True)}
    secret = speaks_of_secret(table, columns, row)
    shown = {
        column.name: said_cell(cell, column, secret=secret and column.paired)
        for column, cell in zip(columns, row, strict=True)
    }
    keys = columns_of(table, table.key())
    named = ",".join(show(cells[column.name], column).text for column in keys)
    called = "" if label is None or label in table.key() else f" {shown[label]}"
    return Record(_whole_key(table, cells, where), named, called, cells, shown, secret)


def assigned(
    found: Target, values: Mapping[str, Scalar], allowed: Iterable[str]
) -> dict[str, Scalar]:
    """Return the values of a call under the table's own names, each as its column takes it.

    Args:
        found: the table.
        values: as the call gives them.
        allowed: the columns that may be written, as the workspace names them.

    Raises `ToolError`: `invalid_arguments` for an unknown or generated column, a wrong type or a
    value that is too long; `permission_denied` for a column that is sensitive or not listed.
    """
    table = found.table
    named = [table.column(name) for name in allowed]
    open_to = {c.name for c in named if c is not None and not (c.sensitive or c.generated)}
    ready: dict[str, Scalar] = {}
    for name, value in values.items():
        column = table.column(name)
        if column is None:
            raise no_column(name, table.title, [column.name for column in table.columns])
        if column.generated:
            fit(table, column, value, found.database.dialect)
        if column.sensitive or column.name not in open_to:
            raise closed(found, column, open_to)
        if column.name in ready:
            raise ToolError(
                f"{table.title}.{column.name} is given twice.", ErrorCode.INVALID_ARGUMENTS
            )
        ready[column.name] = fit(table, column, value, found.database.dialect)
    return ready


def editable(found: Target) -> tuple[str, ...]:
    """Return the columns that the workspace lists as editable.

    Raises `ToolError` `unavailable`, with the reason `not_configured`, where it lists none.
    """
    if found.settings.editable:
        return found.settings.editable
    raise unavailable(
        f"No column of {found.table.title} is editable; list them: editable = [...] in the table"
        f" [workspace.tables.{found.table.name}].",
        "not_configured",
    )


def refuse_gaps(found: Target, values: Mapping[str, Scalar]) -> None:
    """Refuse a new record without a value that its table wants and does not make itself.

    Raises `ToolError` `invalid_arguments`, naming the columns.
    """
    table = found.table
    numbered = len(table.primary_key) == 1 and table.position is not None
    own = {
        column.name
        for column in table.columns
        if numbered and column.name in table.primary_key and column.type.casefold() == "integer"
    }
    gaps = [
        column.name
        for column in table.columns
        if not (column.nullable and column.name not in table.primary_key)
        and column.default is None
        and not (column.generated or column.sensitive)
        and column.name not in {*own, *values}
    ]
    if gaps:
        raise ToolError(
            f"A record of {table.title} must have {listed(gaps)}.", ErrorCode.INVALID_ARGUMENTS
        )


def refuse_secret(found: Target, record: Record, columns: Iterable[Column]) -> None:
    """Refuse to write what names a secret, or the value of such a name, which would uncover it.

    Args:
        found: the table.
        record: read with these columns.
        columns: those that are written, or copied from it.

    Raises `ToolError` `permission_denied`, naming the first of them.
    """
    for column in columns:
        names_it = speaks_of_secret(found.table, (column,), (record.cells[column.name],))
        if names_it or (record.secret and column.paired):
            raise closed(found, column, ())


def closed(found: Target, column: Column, allowed: Iterable[str]) -> ToolError:
    """Return the refusal for a column that no call may write."""
    names = listed(sorted(allowed)) or "none"
    return ToolError(
        f"{found.table.title}.{column.name} may not be written; editable: {names}.",
        ErrorCode.PERMISSION_DENIED,
    )


def _whole_key(table: Table, cells: Mapping[str, Cell], where: Equalities) -> Equalities:
    """Return the condition with the key's own values, which a long key's excerpt has not."""
    whole = tuple((name, scalar(cells[name])) for name in table.key())
    return where if any(value is None for _, value in whole) else whole


def _takes_names(column: Column) -> bool:
    declared = column.type.casefold()
    return not any(word in declared for word in ("int", "uuid", "serial", "numeric", "bool"))
