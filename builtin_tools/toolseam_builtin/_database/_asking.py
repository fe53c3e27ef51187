"""What is asked of a table, judged before any query: filters, fields and the key of a record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam.guards import mask_secrets
from toolseam_builtin._database._cells import mask_json
from toolseam_builtin._database._faults import no_column
from toolseam_builtin._database._model import READ_SECONDS, Column, Excerpt, Query
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolseam_builtin._database._model import Cell, Database, Scalar, Table

_ECHO_CHARACTERS = 100
_LISTED = 30
_INTEGERS = range(-(2**63), 2**63)
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")

Where = tuple[tuple[str, "Scalar"], ...]


def equalities(table: Table, where: Mapping[str, Scalar] | None) -> Where:
    """Return the filters of a call under the names that the table has for its columns.

    Raises `ToolError`: `invalid_arguments` for an unknown column or a number out of range,
    `permission_denied` for what would tell of something that is not shown.
    """
    return tuple(_equality(table, name, value) for name, value in (where or {}).items())


def readable_column(table: Table, name: str) -> Column:
    """Return a column that may be shown.

    Raises `ToolError`: `invalid_arguments` if there is none, `permission_denied` if it is
    sensitive.
    """
    column = table.column(name)
    if column is None:
        raise no_column(name, table.title, [column.name for column in table.columns])
    if column.sensitive:
        raise ToolError(
            f"{table.title}.{column.name} is sensitive and never shown.",
            ErrorCode.PERMISSION_DENIED,
        )
    return column


def comparable_column(table: Table, name: str) -> Column:
    """Return a column that rows may be filtered and grouped by.

    Raises `ToolError`: `invalid_arguments` if there is none, `permission_denied` if it holds what
    is not shown.
    """
    column = table.column(name)
    if column is None:
        raise no_column(name, table.title, [column.name for column in table.columns])
    if not column.comparable:
        raise _hidden(table, column)
    return column


def columns_of(table: Table, names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of these names; one that is none is the row's own number."""
    return tuple(table.column(name) or Column(name, "integer") for name in names)


def find_record(
    database: Database, table: Table, key: str | int, names: Iterable[str]
) -> tuple[Where, tuple[Cell, ...]]:
    """Return how one record is found, and its cells of these names.

    Args:
        database: where the table is.
        table: where the record is.
        key: as answers show it: the values of a key of several columns with commas between.
        names: the columns that are wanted.

    Raises `ToolError` `not_found` if there is no such record.
    """
    columns = tuple(names)
    for where in _readings(table, str(key)):
        try:
            rows = database.rows(Query(table, columns, where, limit=1))
        except ToolError as failure:
            if failure.code is not ErrorCode.INVALID_ARGUMENTS:
                raise
            # A key that does not fit its column is the key of no record.
            break
        if rows:
            return where, rows[0]
    raise no_record(table, key)


def read_until(
    database: Database, query: Query, seconds: float = READ_SECONDS
) -> tuple[list[tuple[Cell, ...]], bool]:
    """Return the rows that so many seconds suffice for, and whether they sufficed for all."""
    rows: list[tuple[Cell, ...]] = []

    def take(row: tuple[Cell, ...]) -> bool:
        rows.append(row)
        return True

    complete = database.scan(query, take, seconds)
    return rows, complete


def stopped(title: str) -> str:
    """Return the warning about an answer that is a beginning, for want of time."""
    return (
        f"reading {title} was stopped at the time limit, so there may be more;"
        " filter by a column that has an index"
    )


def number_of(total: int | None) -> str:
    """Return how a heading says how many there are."""
    return "an uncounted number of" if total is None else f"{total:,}"


def never_shown(table: Table) -> list[str]:
    """Return the line that names the sensitive columns, if there are any."""
    hidden = [column.name for column in table.columns if column.sensitive]
    return [f"Never shown: {listed(hidden)}."] if hidden else []


def no_record(table: Table, key: str | int) -> ToolError:
    """Return the refusal for a record that a table does not have."""
    return ToolError(f"{table.title} has no record {echo(key)}.", ErrorCode.NOT_FOUND)


def scalar(cell: Cell) -> Scalar:
    """Return a cell as a filter compares it, `None` for what none can compare."""
    if isinstance(cell, Excerpt):
        return cell.text if cell.total == len(cell.text) else None
    if cell is None or isinstance(cell, bool | int | float):
        return cell
    from decimal import Decimal

    return str(cell) if isinstance(cell, Decimal) else None


def where_words(where: Where) -> str:
    """Return filters as a heading says them, or nothing; a value may be a record's own."""
    named = " and ".join(f"{name} = {echo(_masked(value))}" for name, value in where)
    return f" where {one_line(named)}" if named else ""


def echo(value: Scalar) -> str:
    """Return a value as an answer repeats it."""
    text = "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _ECHO_CHARACTERS else f"{text[:_ECHO_CHARACTERS]}…"


def listed(names: Iterable[str]) -> str:
    """Return names as one line, a large number of them cut in sight."""
    every = list(names)
    shown = one_line(", ".join(every[:_LISTED]))
    return shown if len(every) <= _LISTED else f"{shown} and {len(every) - _LISTED} more"


def _equality(table: Table, name: str, value: Scalar) -> tuple[str, Scalar]:
    column = comparable_column(table, name)
    if _masked(value) != value:
        raise _hidden(table, column)
    if isinstance(value, int) and value not in _INTEGERS:
        raise ToolError(f"{column.name}: the number is too large.", ErrorCode.INVALID_ARGUMENTS)
    return column.name, value


def _masked(value: Scalar) -> Scalar:
    return mask_secrets(mask_json(value))[0] if isinstance(value, str) else value


def _hidden(table: Table, column: Column) -> ToolError:
    return ToolError(
        f"{table.title} cannot be filtered or grouped by {column.name}: it holds what is not"
        " shown.",
        ErrorCode.PERMISSION_DENIED,
    )


def _readings(table: Table, key: str) -> list[Where]:
    """Return what a key may mean: texts, and where a column has no type, numbers too."""
    names = table.key()
    parts = [key] if len(names) == 1 else key.split(",")
    if not names or len(parts) != len(names):
        columns = ",".join(names)
        wanted = f"its key is {columns}" if names else "it has no key that may be shown"
        raise ToolError(
            f"{table.title} has no record {echo(key)}: {wanted}.", ErrorCode.INVALID_ARGUMENTS
        )
    texts = tuple(
        (name, part) if name == table.position else _equality(table, name, part)
        for name, part in zip(names, parts, strict=True)
    )
    untyped = {column.name for column in table.columns if column.type == "unknown"}
    numbers = tuple(
        (name, int(part) if name in untyped and _INTEGER.fullmatch(part) else part)
        for name, part in zip(names, parts, strict=True)
    )
    return [texts] if numbers == texts else [texts, numbers]
