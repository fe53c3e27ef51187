"""What can be said against the structure of one table, without a look at its rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_KEY = "no primary key"
NO_INDEX = "foreign key without index"
ORPHANS = "orphan rows"
LOOSE_TYPE = "type not enforced"
TWICE = "duplicate index"
RESERVED = "reserved name"

# These only tell SQLite how it would like to store a value; who declares one promises no more.
_STORAGE = re.compile(
    r"unknown|any|blob|text|clob|numeric|real|float|double(\s+precision)?|(\w+\s+)?\w*int\w*",
    re.IGNORECASE,
)


@attrs.frozen
class Finding:
    """One thing that somebody should look at; `rows` is how many rows it concerns, if counted."""

    table: str
    kind: str
    text: str
    rows: int | None = None


def findings(table: db.Table, structure: db.Structure, reserved: frozenset[str]) -> list[Finding]:
    """Return what is to be said of a table, always in the same order.

    Args:
        table: a table; of anything else only the names are judged.
        structure: of that table.
        reserved: the words that the engine takes for no names.
    """
    found: list[Finding] = []
    if table.kind == "table":
        if not table.primary_key:
            found.append(Finding(table.title, NO_KEY, "no column says which row is which"))
        found += (Finding(table.title, NO_INDEX, text) for text in _unindexed(table, structure))
        found += (Finding(table.title, LOOSE_TYPE, text) for text in _loose(table, structure))
        found += (Finding(table.title, TWICE, text) for text in _doubled(structure))
    found += (Finding(table.title, RESERVED, text) for text in _reserved(table, reserved))
    return found


def reference(key: db.ForeignKey) -> str:
    """Return a foreign key as an answer names it."""
    there = f"{key.table}({', '.join(key.target)})" if key.table else "a table that is not readable"
    return db.one_line(f"{', '.join(key.columns)} → {there}")


def countable(table: db.Table, other: db.Table, key: db.ForeignKey) -> bool:
    """Tell whether rows may be compared by a key: no column of it is one that is never read."""
    here = [table.column(name) for name in key.columns]
    there = [other.column(name) for name in key.target]
    whole = len(here) == len(there) > 0
    return whole and all(column and column.comparable for column in (*here, *there))


def _unindexed(table: db.Table, structure: db.Structure) -> Iterator[str]:
    indexes = [
        [(name or "").casefold() for name in index.columns]
        for index in structure.indexes
        if not index.partial
    ]
    indexes.append([name.casefold() for name in table.primary_key])
    for key in sorted(structure.foreign_keys, key=lambda key: key.columns):
        columns = sorted(name.casefold() for name in key.columns)
        if not any(sorted(index[: len(columns)]) == columns for index in indexes):
            yield reference(key)


def _loose(table: db.Table, structure: db.Structure) -> Iterator[str]:
    if not structure.loose:
        return
    columns = [c for c in table.columns if not _STORAGE.fullmatch(c.type.strip())]
    if columns:
        listed = db.listed(f"{column.name} {column.type}" for column in columns)
        yield db.engine_text(f"the table is not STRICT, any value fits into: {listed}")


def _doubled(structure: db.Structure) -> Iterator[str]:
    first: dict[str, str] = {}
    if structure.primary_form is not None:
        first[structure.primary_form] = "the primary key"
    # What also keeps values unique is the one to keep.
    for index in sorted(structure.indexes, key=lambda index: (not index.unique, index.name)):
        if index.form is None:
            continue
        if index.form in first:
            columns = ", ".join(name or "" for name in index.columns)
            yield db.one_line(f"{index.name} ({columns}) repeats {first[index.form]}")
        first.setdefault(index.form, index.name)


def _reserved(table: db.Table, reserved: frozenset[str]) -> Iterator[str]:
    if table.name.casefold() in reserved:
        yield db.one_line(f"the table's name {table.name} must be quoted")
    columns = [column.name for column in table.columns if column.name.casefold() in reserved]
    if columns:
        yield f"columns whose names must be quoted: {db.listed(columns)}"
