"""The authorizer and the deadline that every statement of a SQLite reader passes."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import attrs

from toolseam_builtin._database._ddl import fold
from toolseam_builtin._database._faults import Deadline

_STRUCTURE_PRAGMAS = frozenset(
    {
        "data_version",
        "foreign_key_list",
        "index_list",
        "index_xinfo",
        "table_xinfo",
    }
)

# None of these can be made slow or large: no pattern but LIKE's bounded one, nothing that repeats,
# pads, replaces or searches. None is for JSON, which would take a value from under its key.
FUNCTIONS = frozenset({
    "abs", "avg", "coalesce", "count", "cume_dist", "date", "datetime", "dense_rank",
    "first_value", "glob", "ifnull", "iif", "julianday", "lag", "last_value", "lead", "length",
    "like", "lower", "max", "min", "nth_value", "ntile", "nullif", "percent_rank", "rank", "round",
    "row_number", "sign", "strftime", "substr", "substring", "sum", "time", "total", "typeof",
    "unixepoch", "upper",
})  # fmt: skip
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema"})


@attrs.frozen
class Sight:
    """What statements may see while rows are read.

    Args:
        columns: for each readable table and view, by folded name, its columns that may not be
            read, folded.
        tables: every table and view there is, folded, so that other names are known to be
            names inside a statement.
        through_views: like `columns`, for what may be read in a table but not through a view.
        machinery: the tables behind the virtual tables that may be read.
    """

    columns: Mapping[str, frozenset[str]]
    tables: frozenset[str]
    through_views: Mapping[str, frozenset[str]]
    machinery: frozenset[str] = frozenset()


@attrs.define
class Guard:
    """Answers SQLite for one connection; `sight` is `None` while structure is read.

    It judges the base table and column of each read, however many views lie between, and never
    raises: what it refused is remembered in `refused`.
    """

    deadline: Deadline
    sight: Sight | None = None
    refused: bool = False

    def authorize(
        self,
        action: int,
        first: str | None,
        second: str | None,
        schema: str | None,
        via: str | None,
    ) -> int:
        """Allow or deny one action of a statement that is being prepared."""
        if self.deadline.passed():
            return sqlite3.SQLITE_DENY
        if self._allows(action, first or "", second or "", schema, via):
            return sqlite3.SQLITE_OK
        self.refused = True
        return sqlite3.SQLITE_DENY

    def late(self) -> int:
        """Stop a running statement once the deadline has passed."""
        return int(self.deadline.passed())

    def _allows(
        self, action: int, first: str, second: str, schema: str | None, via: str | None
    ) -> bool:
        if action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}:
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return fold(second) in FUNCTIONS
        if action == sqlite3.SQLITE_READ:
            return self._reads(fold(first), fold(second), schema, via)
        if action == sqlite3.SQLITE_PRAGMA:
            name = fold(first)
            return name == "data_version" or (self.sight is None and name in _STRUCTURE_PRAGMAS)
        # Connecting a virtual table declares its columns by a statement that SQLite never runs.
        declares = action == sqlite3.SQLITE_UPDATE and first in _SCHEMA_TABLES
        return declares and self.sight is None

    def _reads(self, table: str, column: str, schema: str | None, via: str | None) -> bool:
        sight = self.sight
        if sight is None:
            return True
        if schema not in {None, "main"}:
            return False
        if table not in sight.tables:
            # A name that no table has, and no schema: a subquery or common table expression.
            return schema is None
        if table in sight.machinery:
            # A virtual table reads its own tables by statements of its own; a view does not.
            return via is None
        hidden = sight.columns.get(table)
        if hidden is None or column in hidden:
            return False
        return via is None or column not in sight.through_views.get(table, ())
