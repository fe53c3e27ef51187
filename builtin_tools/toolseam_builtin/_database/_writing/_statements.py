"""The statements of a write, in the words of either engine: names quoted, values never in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._database._model import Column
from toolseam_builtin._database._sqlite_sql import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam_builtin._database._history import History
    from toolseam_builtin._database._model import Scalar, Table
    from toolseam_builtin._database._writing._model import Change, Equalities, Telling

    Statement = tuple[str, list[Scalar]]
    """A text and the values for its marks."""


@attrs.frozen
class Words:
    """What the engines call differently.

    Args:
        mark: stands for a value.
        insert: begins a new row; must not let a table's own clause replace another row.
        update: begins a change, likewise.
        same: compares two values of which either may be null; `other` is its opposite.
        name: quotes a name.
        text: an expression for a column's whole value as text, bytes as their number.
    """

    mark: str
    insert: str
    update: str
    same: str
    other: str
    name: Callable[[str], str]
    text: Callable[[Column, str], str]

    def table(self, table: Table) -> str:
        """Return a table's full name."""
        return f"{self.name(table.schema)}.{self.name(table.name)}"

    def named(self, record: Equalities, alias: str) -> Statement:
        """Return the condition that names one record."""
        parts: list[str] = []
        values: list[Scalar] = []
        for column, value in record:
            if value is None:
                parts.append(f"{alias}.{self.name(column)} IS NULL")
            else:
                parts.append(f"{alias}.{self.name(column)} = {self.mark}")
                values.append(value)
        return " AND ".join(parts), values

    def shown(self, table: Table, name: str, alias: str) -> str:
        """Return the expression for a column of a table as text."""
        column = table.column(name)
        return f"{alias}.{self.name(name)}" if column is None else self.text(column, alias)


def update(words: Words, change: Change) -> Statement:
    """Return the statement that writes one existing record."""
    table = words.table(change.table)
    values = [value for _, value in change.values]
    parts = [f"{words.name(name)} = {words.mark}" for name, _ in change.values]
    source, source_values = words.named(change.source, "s")
    for name in change.copied:
        inner = f"SELECT s.{words.name(name)} FROM {table} AS s WHERE {source}"  # noqa: S608
        parts.append(f"{words.name(name)} = ({inner})")
        values += source_values
    record, record_values = words.named(change.record or (), "t")
    text = f"{words.update} {table} AS t SET {', '.join(parts)} WHERE {record}"
    return text, [*values, *record_values]


def insert(words: Words, change: Change) -> Statement:
    """Return the statement that writes one new record."""
    table = words.table(change.table)
    names = ", ".join(words.name(name) for name in change.columns)
    marks = [words.mark for _ in change.values]
    values = [value for _, value in change.values]
    begin = f"{words.insert} {table} ({names})"
    if not change.source:
        return f"{begin} VALUES ({', '.join(marks)})", values
    source, source_values = words.named(change.source, "s")
    cells = ", ".join([*marks, *(f"s.{words.name(name)}" for name in change.copied)])
    return f"{begin} SELECT {cells} FROM {table} AS s WHERE {source}", [*values, *source_values]  # noqa: S608


def matching(words: Words, table: Table, record: Equalities, change: Change) -> Statement:
    """Return the statement that counts whether a record holds what a change wrote."""
    condition, values = words.named((*record, *change.values), "t")
    source, source_values = words.named(change.source, "s")
    for name in change.copied:
        there = words.shown(table, name, "s")
        inner = f"SELECT {there} FROM {words.table(table)} AS s WHERE {source}"  # noqa: S608
        condition += f" AND {words.shown(table, name, 't')} {words.same} ({inner})"
        values = [*values, *source_values]
    return f"SELECT count(*) FROM {words.table(table)} AS t WHERE {condition}", values  # noqa: S608


def whole(words: Words, table: Table, record: Equalities, columns: Sequence[str]) -> Statement:
    """Return the statement that reads cells of one record as text, in full."""
    condition, values = words.named(record, "t")
    cells = ", ".join(words.shown(table, name, "t") for name in columns)
    return f"SELECT {cells} FROM {words.table(table)} AS t WHERE {condition}", values  # noqa: S608


def told(
    words: Words, history: History, title: str, table: Table, record: Equalities, telling: Telling
) -> list[Statement]:
    """Return the statements that add the history rows of one record that was written.

    The new values are taken from the record as it is now, so that history says what was kept.
    """
    condition, key = words.named(record, "t")
    frame = {history.table_name: title, history.who: telling.who, history.when: telling.when}
    known: list[tuple[str, Scalar]] = [
        (name, value) for name, value in frame.items() if name is not None
    ]
    if history.field is None:
        taken = {name for name, _ in known}
        copies = [name for name in history.copies if name not in taken]
        names = [history.record, *(name for name, _ in known), *copies]
        cells = [
            f"t.{words.name(history.target)}",
            *(words.mark for _ in known),
            *(f"t.{words.name(name)}" for name in copies),
        ]
        number = numbered(history)
        if number is not None:
            names.append(number)
            cells.append(_next(words, history, number))
        return [_from(words, history, table, (names, cells), condition, [v for _, v in known], key)]
    found: list[Statement] = []
    for field, old in telling.old:
        now = words.shown(table, field, "t")
        row = [*known, (history.field, field)]
        if history.old is not None:
            row.append((history.old, old))
        names = [history.record, *(name for name, _ in row)]
        cells = [f"t.{words.name(history.target)}", *(words.mark for _ in row)]
        if history.new is not None:
            names.append(history.new)
            cells.append(now)
        changed = f"{condition} AND {now} {words.other} {words.mark}"
        values = [value for _, value in row]
        found.append(_from(words, history, table, (names, cells), changed, values, [*key, old]))
    return found


def numbered(history: History) -> str | None:
    """Return the column that counts the versions of one record, if its key has such a one."""
    others = [name for name in history.table.primary_key if name != history.record]
    if len(history.table.primary_key) != 2 or len(others) != 1:  # noqa: PLR2004 - record, number
        return None
    column = history.table.column(others[0])
    numeric = column is not None and "int" in column.type.casefold() and column.default is None
    return others[0] if numeric and others[0] not in history.copies else None


def _next(words: Words, history: History, number: str) -> str:
    table, record = words.table(history.table), words.name(history.record)
    target = words.name(history.target)
    highest = f"SELECT max(h.{words.name(number)}) FROM {table} AS h WHERE h.{record} = t.{target}"  # noqa: S608
    return f"coalesce(({highest}), 0) + 1"


def _from(
    words: Words,
    history: History,
    table: Table,
    row: tuple[list[str], list[str]],
    condition: str,
    values: list[Scalar],
    key: list[Scalar],
) -> Statement:
    names = ", ".join(words.name(name) for name in row[0])
    begin = f"{words.insert} {words.table(history.table)} ({names})"
    cells = ", ".join(row[1])
    return f"{begin} SELECT {cells} FROM {words.table(table)} AS t WHERE {condition}", [  # noqa: S608
        *values,
        *key,
    ]


def sqlite_words() -> Words:
    """Return SQLite's words; `OR ABORT` outweighs what the table says of conflicts."""
    return Words(
        mark="?",
        insert="INSERT OR ABORT INTO",
        update="UPDATE OR ABORT",
        same="IS",
        other="IS NOT",
        name=quote,
        text=_sqlite_text,
    )


def postgres_words() -> Words:
    """Return PostgreSQL's words, as psycopg takes them."""
    return Words(
        mark="%s",
        insert="INSERT INTO",
        update="UPDATE",
        same="IS NOT DISTINCT FROM",
        other="IS DISTINCT FROM",
        name=_percent,
        text=_postgres_text,
    )


def _sqlite_text(column: Column, alias: str) -> str:
    cell = f"{alias}.{quote(column.name)}"
    return (
        f"CASE typeof({cell}) WHEN 'blob' THEN '(' || length({cell}) || ' bytes)'"
        f" ELSE CAST({cell} AS TEXT) END"
    )


def _postgres_text(column: Column, alias: str) -> str:
    cell = f"{alias}.{_percent(column.name)}"
    whole = f"format('%%s', {cell})"
    said = f"format('(%%s bytes)', octet_length({cell}))" if column.type == "bytea" else whole
    return f"CASE WHEN {cell} IS NULL THEN NULL ELSE {said} END"


def _percent(name: str) -> str:
    # psycopg reads a percent sign as the start of a placeholder, in a name too.
    return quote(name).replace("%", "%%")
