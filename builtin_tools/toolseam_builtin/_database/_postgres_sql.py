"""The statements of the PostgreSQL reader, and what their rows mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL, Composable, Composed, Identifier, Placeholder

from toolseam_builtin._database._model import Blob, Excerpt
from toolseam_builtin._database._text_search import like_pattern

if TYPE_CHECKING:
    from toolseam_builtin._database._model import Cell, Column, ForeignKey, Query, Scalar, Table

_TEXTS = ("text", "character varying", "character")
_TIMES = ("date", "timestamp without time zone", "timestamp with time zone")
_NUMBERS = ("smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean")


def select(query: Query, kinds: list[str]) -> tuple[Composed, list[object]]:
    """Return the statement that reads rows, and its values; each column has a `kind_of` its own."""
    pairs = zip(query.columns, kinds, strict=True)
    cells = [_cell(_identifier("t", name), kind, query.characters) for name, kind in pairs]
    condition, values = _where(query)
    statement = SQL("SELECT {} FROM {}{}{} LIMIT {} OFFSET {}").format(
        SQL(", ").join(cells),
        _named(query.table),
        condition,
        _order(query),
        Placeholder(),
        Placeholder(),
    )
    return statement, [*values, query.limit, query.offset]


def select_count(query: Query) -> tuple[Composed, list[str]]:
    """Return the statement that counts rows, and its values."""
    condition, values = _where(query)
    return SQL("SELECT count(*) FROM {}{}").format(_named(query.table), condition), values


def select_groups(query: Query, kind: str) -> tuple[Composed, list[object]]:
    """Return the statement that counts rows by the query's one column, and its values."""
    (name,) = query.columns
    condition, values = _where(query)
    column = _identifier("t", name)
    # Not every type can be compared, but each has a text.
    value = column if kind != "text" or _word(query.table, name) in _TEXTS else _text(column)
    grouped = SQL("SELECT {} AS v, count(*) AS n FROM {}{} GROUP BY 1 ORDER BY n DESC, v LIMIT {}")
    statement = SQL("SELECT {}, n FROM ({}) AS g").format(
        _cell(Identifier("v"), kind, query.characters),
        grouped.format(value, _named(query.table), condition, Placeholder()),
    )
    return statement, [*values, query.limit]


def select_orphans(table: Table, key: ForeignKey, other: tuple[str, str], limit: int) -> Composed:
    """Return the statement that counts rows that refer to something, and those that miss it."""
    here = [_identifier("c", name) for name in key.columns]
    rows = SQL("SELECT {} FROM {} AS c WHERE {} LIMIT {}").format(
        SQL(", ").join(here),
        _identifier(table.schema, table.name),
        SQL(" AND ").join(SQL("{} IS NOT NULL").format(name) for name in here),
        limit,
    )
    same = SQL(" AND ").join(
        SQL("{} = {}").format(_identifier("p", there), _identifier("t", name))
        for name, there in zip(key.columns, key.target, strict=True)
    )
    return SQL(
        "WITH t AS MATERIALIZED ({}) SELECT (SELECT count(*) FROM t), count(*) FROM t"
        " WHERE NOT EXISTS (SELECT FROM {} AS p WHERE {})"
    ).format(rows, _identifier(*other), same)


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
    return "number" if _plain_type(declared) in _NUMBERS else "text"


def _plain_type(declared: str) -> str:
    """Return a type without its measures; the type of an array is none of the plain ones."""
    return re.sub(r"\(.*?\)", "", declared)


def _word(table: Table, name: str) -> str:
    column = table.column(name)
    return "" if column is None else _plain_type(column.type)


def _cell(column: Composable, kind: str, characters: int) -> Composed:
    if kind == "number":
        return SQL("{}, NULL").format(column)
    if kind == "bytes":
        return SQL("NULL, octet_length({})").format(column)
    return SQL("left({0}, {1}), char_length({0})").format(_text(column), characters)


def _text(column: Composable) -> Composed:
    # format() writes any type by its output function; a cast could run a function of the owner's.
    return SQL("CASE WHEN {0} IS NULL THEN NULL ELSE format('%%s', {0}) END").format(column)


def in_stored_order(query: Query) -> bool:
    """Tell whether rows are wanted in the order in which they are stored.

    Sorting by it would read the whole table for the first row; a scan gives it for nothing, if the
    server is told to make one.
    """
    return query.newest is None and query.table.order() == (query.table.position,)


def _order(query: Query) -> Composed:
    table = query.table
    names = () if in_stored_order(query) else table.order()
    keyed = names in {table.primary_key, (table.position,)}
    newest = [] if query.newest is None else [query.newest]
    plain = {*(names if keyed else ()), *(n for n in newest if _sortable(_word(table, n)))}
    backwards = SQL(" DESC NULLS LAST" if newest else "")
    parts: list[Composed] = []
    for name in dict.fromkeys((*newest, *names)):
        column = _identifier("t", name)
        # Not every type has an order, but each has a text.
        sorted_by = column if name in plain else SQL('{} COLLATE "C"').format(_text(column))
        parts.append(SQL("{}{}").format(sorted_by, backwards))
    return SQL(" ORDER BY {}").format(SQL(", ").join(parts)) if parts else SQL("{}").format(SQL(""))


def _sortable(word: str) -> bool:
    return word in _NUMBERS or word in _TIMES


def _where(query: Query) -> tuple[Composed, list[str]]:
    parts: list[Composed] = []
    values: list[str] = []
    for name, value in query.where:
        column = _identifier("t", name)
        if value is None:
            parts.append(SQL("{} IS NULL").format(column))
        else:
            parts.append(SQL("{} = %s").format(column))
            values.append(literal(value))
    if query.contains is not None:
        likes = [_like(query.table, name) for name in query.contains.columns]
        parts.append(SQL("({})").format(SQL(" OR ").join([SQL("false"), *likes])))
        values += [like_pattern(query.contains.text)] * len(likes)
    if query.among is not None:
        marks = SQL(", ").join([Placeholder()] * len(query.among.values))
        names = [_identifier("t", name) for name in query.among.columns]
        same = [SQL("{} IN ({})").format(name, marks) for name in names]
        parts.append(SQL("({})").format(SQL(" OR ").join([SQL("false"), *same])))
        values += query.among.values * len(same)
    if not parts:
        return SQL("{}").format(SQL("")), values
    return SQL(" WHERE {}").format(SQL(" AND ").join(parts)), values


def _like(table: Table, name: str) -> Composed:
    column = _identifier("t", name)
    if _word(table, name) in _TEXTS:
        return SQL("{} ILIKE %s").format(column)
    return SQL("{} ILIKE %s").format(_text(column))


def literal(value: Scalar) -> str:
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
