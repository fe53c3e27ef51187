"""The statements of the PostgreSQL reader, and what their rows mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL, Composed, Identifier, Placeholder

from toolseam_builtin._database._cells import FETCH_CHARACTERS
from toolseam_builtin._database._model import Blob, Excerpt

if TYPE_CHECKING:
    from toolseam_builtin._database._model import Cell, Column, Query, Scalar, Table

_NUMBERS = ("smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean")


def select(query: Query, kinds: list[str]) -> tuple[Composed, list[object]]:
    """Return the statement that reads rows, and its values; each column has a `kind_of` its own."""
    pairs = zip(query.columns, kinds, strict=True)
    cells = [_cell(name, kind) for name, kind in pairs]
    condition, values = _where(query)
    statement = SQL("SELECT {} FROM {}{}{} LIMIT {} OFFSET {}").format(
        SQL(", ").join(cells),
        _named(query.table),
        condition,
        _order(query.table),
        Placeholder(),
        Placeholder(),
    )
    return statement, [*values, query.limit, query.offset]


def select_count(query: Query) -> tuple[Composed, list[str]]:
    """Return the statement that counts rows, and its values."""
    condition, values = _where(query)
    return SQL("SELECT count(*) FROM {}{}").format(_named(query.table), condition), values


def _identifier(*names: str) -> Identifier:
    # psycopg reads a percent sign as the start of a placeholder, in a name too.
    return Identifier(*(name.replace("%", "%%") for name in names))


def _named(table: Table) -> Composed:
    return SQL("{} AS t").format(_identifier(table.schema, table.name))


def kind_of(column: Column | None) -> str:
    """Return how a column's cells are fetched: `number`, `bytes` or `text`."""
    declared = "" if column is None else column.type
    if declared.startswith("bytea"):
        return "bytes" if declared == "bytea" else "text"
    plain = declared.split("(", 1)[0]
    return "number" if plain in _NUMBERS and not declared.endswith("]") else "text"


def _cell(name: str, kind: str) -> Composed:
    column = _identifier("t", name)
    if kind == "number":
        return SQL("{}, NULL").format(column)
    if kind == "bytes":
        return SQL("NULL, octet_length({})").format(column)
    return SQL("left({0}, {1}), char_length({0})").format(_text(name), FETCH_CHARACTERS)


def _text(name: str) -> Composed:
    # format() writes any type by its output function; a cast could run a function of the owner's.
    column = _identifier("t", name)
    return SQL("CASE WHEN {0} IS NULL THEN NULL ELSE format('%%s', {0}) END").format(column)


def _order(table: Table) -> Composed:
    names = table.order()
    if names in {table.primary_key, (table.position,)}:
        parts = [SQL("{}").format(_identifier("t", name)) for name in names]
    else:
        # Not every type has an order, but each has a text.
        parts = [SQL('{} COLLATE "C"').format(_text(name)) for name in names]
    return SQL(" ORDER BY {}").format(SQL(", ").join(parts)) if parts else SQL("{}").format(SQL(""))


def _where(query: Query) -> tuple[Composed, list[str]]:
    parts: list[Composed] = []
    values: list[str] = []
    for name, value in query.where:
        column = _identifier("t", name)
        if value is None:
            parts.append(SQL("{} IS NULL").format(column))
        else:
            parts.append(SQL("{} = %s").format(column))
            values.append(_literal(value))
    if not parts:
        return SQL("{}").format(SQL("")), values
    return SQL(" WHERE {}").format(SQL(" AND ").join(parts)), values


def _literal(value: Scalar) -> str:
    """Return a value as text, which the server reads as its column's type."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_row(raw: tuple[Any, ...], kinds: list[str]) -> tuple[Cell, ...]:
    """Return the cells of one row that `select` asked for."""
    cells: list[Cell] = []
    for kind, value, size in zip(kinds, raw[::2], raw[1::2], strict=True):
        if kind == "number":
            cells.append(value)
        elif size is None:
            cells.append(None)
        else:
            cells.append(Blob(size) if kind == "bytes" else Excerpt(value, size))
    return tuple(cells)
