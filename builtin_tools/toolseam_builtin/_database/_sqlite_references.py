"""Columns of a SQLite file that hold what a sensitive column does, because they refer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from toolseam.guards import is_sensitive_name
from toolseam_builtin._database._ddl import fold

if TYPE_CHECKING:
    from collections.abc import Callable

    Pragma = Callable[[str, str], list[tuple[Any, ...]]]
    Place = tuple[str, str]
    """A table and a column of it, by their names."""


def _nothing() -> dict[str, dict[str, list[Place]]]:
    return {}


@attrs.frozen
class References:
    """Follows foreign keys over however many tables, into those too that the gate hides.

    Args:
        pragma: runs one structure pragma on a table.
    """

    pragma: Pragma
    _known: dict[str, dict[str, list[Place]]] = attrs.field(factory=_nothing, init=False)

    def sensitive(self, table: str) -> set[str]:
        """Return the columns of a table that refer, in the end, to one of a sensitive name."""
        return {column for column in self._of(table) if self._leads_to_secret(table, column)}

    def _leads_to_secret(self, table: str, column: str) -> bool:
        seen: set[Place] = set()
        pending = [(table, column)]
        while pending:
            name, place = pending.pop()
            if is_sensitive_name(place):
                return True
            if (fold(name), place) not in seen:
                seen.add((fold(name), place))
                pending += self._of(name).get(place, [])
        return False

    def _of(self, table: str) -> dict[str, list[Place]]:
        """Return what each referring column of a table refers to."""
        known = self._known.get(fold(table))
        if known is None:
            known = self._known[fold(table)] = {}
            for _, place, other, column, there, *_ in self.pragma("foreign_key_list", table):
                known.setdefault(column, []).append((other, self._stored(other, place, there)))
        return known

    def _stored(self, table: str, place: int, name: str | None) -> str:
        """Return a referenced column as it is stored: by its name, else by its place in the key."""
        rows = self.pragma("table_xinfo", table)
        if name is None:
            return next((row[1] for row in rows if row[5] == place + 1), "")
        return next((row[1] for row in rows if fold(row[1]) == fold(name)), name)
