"""The statements of the SQLite reader, and what their rows mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_builtin._database._model import Blob, Excerpt
from toolseam_builtin._database._text_search import like_pattern

if TYPE_CHECKING:
    from toolseam_builtin._database._model import (
        Cell,
        ForeignKey,
        Query,
        Scalar,
        Table,
    )

PATTERN_BYTES = 100
"""The longest pattern that LIKE takes here, so that no view makes it slow."""


def quote(name: str) -> str:
    """Return a name as SQL writes it, whatever characters it holds."""
    return '"' + name.replace('"', '""') + '"'


def select(query: Query) -> tuple[str, tuple[Scalar, ...]]:
    """Return the statement that reads rows, and its values."""
    cells = ", ".join(_cell(f"t.{quote(name)}", query.characters) for name in query.columns) or "1"
    where, values = _where(query)
    backwards = " DESC" if query.newest is not None else ""
    names = [*([query.newest] if query.newest is not None else []), *query.table.order()]
    order = ", ".join(f"t.{quote(name)}{backwards}" for name in dict.fromkeys(names))
    statement = f"SELECT {cells} FROM {quote(query.table.name)} AS t{where}"  # noqa: S608
    statement += (f" ORDER BY {order}" if order else "") + " LIMIT ? OFFSET ?"
    return statement, (*values, query.limit, query.offset)


def select_count(query: Query) -> tuple[str, tuple[Scalar, ...]]:
    """Return the statement that counts rows, and its values."""
    where, values = _where(query)
    return f"SELECT count(*) FROM {quote(query.table.name)} AS t{where}", values  # noqa: S608


def select_groups(query: Query) -> tuple[str, tuple[Scalar, ...]]:
    """Return the statement that counts rows by the query's one column, and its values."""
    where, values = _where(query)
    column = f"t.{quote(query.columns[0])}"
    grouped = (
        f"SELECT {column} AS v, count(*) AS n FROM {quote(query.table.name)} AS t{where}"  # noqa: S608
        f" GROUP BY {column} ORDER BY n DESC, v LIMIT ?"
    )
    cell = _cell("v", query.characters)
    return f"SELECT {cell}, n FROM ({grouped})", (*values, query.limit)  # noqa: S608


def select_orphans(table: Table, key: ForeignKey, other: Table, limit: int) -> str:
    """Return the statement that counts rows that refer to something, and those that miss it."""
    here = [f"c.{quote(name)}" for name in key.columns]
    given = " AND ".join(f"{name} IS NOT NULL" for name in here)
    rows = f"SELECT {', '.join(here)} FROM {quote(table.name)} AS c WHERE {given} LIMIT {limit}"  # noqa: S608
    # The other side stands left: its collation and its type decide, as they do for the key itself.
    same = " AND ".join(
        f"p.{quote(there)} = t.{quote(name)}"
        for name, there in zip(key.columns, key.target, strict=True)
    )
    return (
        f"SELECT (SELECT count(*) FROM ({rows})), count(*) FROM ({rows}) AS t"  # noqa: S608
        f" LEFT JOIN {quote(other.name)} AS p ON {same} WHERE p.{quote(key.target[0])} IS NULL"
    )


def read_row(raw: tuple[Any, ...]) -> tuple[Cell, ...]:
    """Return the cells of one row that `select` or `select_groups` asked for."""
    cells: list[Cell] = []
    for kind, value, size in zip(raw[::3], raw[1::3], raw[2::3], strict=True):
        if kind == "blob":
            cells.append(Blob(size))
        elif kind == "text":
            # SQLite counts characters up to a NUL only.
            cells.append(Excerpt(value, max(size, len(value))))
        else:
            cells.append(value)
    return tuple(cells)


def _where(query: Query) -> tuple[str, tuple[Scalar, ...]]:
    parts: list[str] = []
    values: list[Scalar] = []
    for name, value in query.where:
        if value is None:
            parts.append(f"t.{quote(name)} IS NULL")
        else:
            parts.append(f"t.{quote(name)} = ?")
            values.append(value)
    if query.contains is not None:
        likes = [f"t.{quote(name)} LIKE ? ESCAPE '\\'" for name in query.contains.columns]
        parts.append(f"({' OR '.join(['0', *likes])})")
        values += [like_pattern(query.contains.text, PATTERN_BYTES)] * len(likes)
    if query.among is not None:
        marks = ", ".join("?" * len(query.among.values))
        same = [f"t.{quote(name)} IN ({marks})" for name in query.among.columns]
        parts.append(f"({' OR '.join(['0', *same])})")
        values += query.among.values * len(same)
    return (" WHERE " + " AND ".join(parts) if parts else ""), tuple(values)


def _cell(column: str, characters: int) -> str:
    return (
        f"typeof({column}),"
        f" CASE typeof({column}) WHEN 'blob' THEN NULL"
        f" WHEN 'text' THEN substr({column}, 1, {characters}) ELSE {column} END,"
        f" CASE typeof({column}) WHEN 'blob' THEN length({column})"
        f" WHEN 'text' THEN length({column}) END"
    )
