"""Counting records by the values of one column, as an answer shows those."""

from __future__ import annotations

import attrs

from toolseam_builtin import _database as db

SECONDS = 1.4
"""How long one call may count."""

_READ = 10_000
_CHARACTERS = 1_000


@attrs.define
class Group:
    """A value as an answer shows it, and how many records have it."""

    shown: db.Shown
    count: int


@attrs.frozen
class Groups:
    """The values of one column, the most frequent first; `beyond` says that there are more."""

    column: db.Column
    found: list[Group]
    beyond: bool

    @property
    def whole(self) -> int | None:
        """How many records the values have together, `None` if there are more of them."""
        return None if self.beyond else sum(group.count for group in self.found)


def read_groups(database: db.Database, query: db.Query, name: str, budget: db.Deadline) -> Groups:
    """Read the values of a column; those that look alike when masked are one.

    Args:
        database: where the records are.
        query: which of them count.
        name: the column.
        budget: how long it may take.

    Raises `ToolError` `timeout` if that does not suffice.
    """
    (column,) = db.columns_of(query.table, (name,))
    wanted = attrs.evolve(query, columns=(name,), limit=_READ + 1, characters=_CHARACTERS)
    rows = database.groups(wanted, budget.left())
    if rows is None:
        raise db.over_budget(query.table.title)
    found: dict[tuple[str, type], Group] = {}
    for cell, count in rows[:_READ]:
        shown = db.show(cell, column)
        group = found.setdefault((shown.text, type(shown.value)), Group(shown, 0))
        group.count += count
    ordered = sorted(found.values(), key=lambda group: -group.count)
    return Groups(column, ordered, len(rows) > _READ)
