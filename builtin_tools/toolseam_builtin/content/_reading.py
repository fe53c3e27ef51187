"""What `read_records` asks of the database, and what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.content.read_records import Arguments

_FIRST_FIELDS = 8


@attrs.frozen
class Plan:
    """One question to the database: what is fetched, and which of it is key and field."""

    query: db.Query
    key: tuple[str, ...]
    fields: tuple[str, ...]


@attrs.frozen
class Found:
    """The rows of a page, how many there are in all, and whether the time sufficed for both."""

    rows: list[tuple[db.Cell, ...]]
    total: int | None
    complete: bool


def make_plan(table: db.Table, arguments: Arguments, label: str | None) -> Plan:
    """Judge filter and fields before any query, and say what is to be fetched."""
    where = db.equalities(table, arguments.where)
    key = table.key()
    if arguments.fields is None:
        others = [column.name for column in table.readable() if column.name not in key]
        fields = tuple(sorted(others, key=lambda name: name != label)[:_FIRST_FIELDS])
    else:
        asked = (db.readable_column(table, name).name for name in arguments.fields)
        fields = tuple(dict.fromkeys(asked))
    names = tuple(dict.fromkeys((*key, *table.naming(), *fields)))
    return Plan(db.Query(table, names, where, arguments.limit, arguments.offset), key, fields)


def read_page(database: db.Database, plan: Plan) -> Found:
    """Read the rows of a page as far as the time goes, and count those that match if it does."""
    rows, complete = db.read_until(database, plan.query)
    return Found(rows, database.count(plan.query) if complete else None, complete)
