"""The authorizer of a SQLite writer: columns and tables that were announced, and no other."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._database._ddl import fold
from toolseam_builtin._database._sqlite_guard import FUNCTIONS, Guard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam_builtin._database._history import History
    from toolseam_builtin._database._writing._model import Change

# What conditions, defaults and indexes of a table may call when a row of it is written.
_FUNCTIONS = FUNCTIONS | {
    "hex", "instr", "json_array_length", "json_extract", "json_type", "json_valid", "ltrim",
    "random", "randomblob", "rtrim", "trim", "unicode",
}  # fmt: skip
_ENDS = frozenset({"COMMIT", "ROLLBACK"})


@attrs.frozen
class Announced:
    """What may be written, by folded names: columns of existing rows, and tables with new ones."""

    updates: Mapping[str, frozenset[str]]
    inserts: frozenset[str]


@attrs.define
class WritingGuard(Guard):
    """Answers SQLite for one writing connection; `announced` is `None` until a write begins.

    Statements are all of our own text, so that what they read needs no judging; what they write
    does, since foreign keys and triggers add to it.
    """

    announced: Announced | None = None

    def _allows(
        self, action: int, first: str, second: str, schema: str | None, via: str | None
    ) -> bool:
        if action == sqlite3.SQLITE_TRANSACTION:
            return first in _ENDS
        announced = self.announced
        if announced is None:
            return super()._allows(action, first, second, schema, via)
        if via is not None or schema not in {None, "main"}:
            return False
        if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}:
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return fold(second) in _FUNCTIONS
        if action == sqlite3.SQLITE_INSERT:
            return fold(first) in announced.inserts
        columns = announced.updates.get(fold(first), frozenset())
        return action == sqlite3.SQLITE_UPDATE and fold(second) in columns


def announced(changes: Sequence[Change], history: History) -> Announced:
    """Return what a plan's changes and their history rows write."""
    updates: dict[str, frozenset[str]] = {}
    inserts = {fold(history.table.name)}
    for change in changes:
        table = fold(change.table.name)
        if change.record is None:
            inserts.add(table)
        else:
            columns = frozenset(map(fold, change.columns))
            updates[table] = updates.get(table, frozenset()) | columns
    return Announced(updates, frozenset(inserts))
