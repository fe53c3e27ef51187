"""The structure of a SQLite file: by pragma, with `CREATE` text only where no pragma tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from toolseam.guards import is_sensitive_name
from toolseam_builtin._database._cells import holds_named_value, names_field
from toolseam_builtin._database._ddl import (
    DDL_BYTES,
    Definition,
    calls,
    fold,
    is_strict,
    literals_sensitive,
    may_generate,
    mentions_sensitive,
    named_in,
    read_table,
)
from toolseam_builtin._database._expansion import LIMIT, expansion
from toolseam_builtin._database._faults import no_table, unavailable
from toolseam_builtin._database._model import (
    Check,
    Column,
    ForeignKey,
    Index,
    Kind,
    Structure,
    Table,
)
from toolseam_builtin._database._sqlite_guard import FUNCTIONS, Sight
from toolseam_builtin._database._sqlite_references import References
from toolseam_builtin._database._sqlite_sql import quote

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from toolseam_builtin._database._gate import TableGate

# The virtual tables whose own tables are known, with the endings of those. Others could show raw
# pages or another table's index; they are never read.
_MODULES = {
    "fts3": ("content", "segments", "segdir", "docsize", "stat"),
    "fts4": ("content", "segments", "segdir", "docsize", "stat"),
    "fts5": ("data", "idx", "content", "docsize", "config"),
    "rtree": ("node", "rowid", "parent"),
    "rtree_i32": ("node", "rowid", "parent"),
    "geopoly": ("node", "rowid", "parent"),
}
_USING = re.compile(r"create\s+virtual\s+table\s[^(]*?\busing\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_POSITIONS = ("rowid", "_rowid_", "oid")
_HIDDEN = 1
_ROWID = -1
_EXPRESSION = -2
_GENERATED = frozenset({2, 3})


class Schema:
    """Names, columns and structure of one open file, read when they are asked for.

    Args:
        connection: authorized for structure whenever a method is called.
        gate: decides which tables exist for the outside.
    """

    def __init__(self, connection: sqlite3.Connection, gate: TableGate) -> None:
        self._connection = connection
        self._gate = gate
        self._references = References(self._pragma)
        self._kinds: dict[str, Kind] = {}
        self._texts: dict[str, str | None] = {}
        self._lengths: dict[str, int] = {}
        self._columns: dict[str, tuple[Column, ...]] = {}
        self._primary: dict[str, tuple[str, ...]] = {}
        self._keys: dict[str, list[ForeignKey]] = {}
        for name, kind, start, text, length in connection.execute(
            "SELECT name, type, substr(sql, 1, 40), CASE WHEN length(sql) <= ? THEN sql END,"
            " length(sql) FROM sqlite_master WHERE type IN ('table', 'view')",
            (DDL_BYTES,),
        ):
            virtual = fold(str(start)).startswith("create virtual")
            self._kinds[name] = (
                "view" if kind == "view" else "virtual table" if virtual else "table"
            )
            self._texts[name] = text
            self._lengths[name] = length or 0
        self._machinery = {
            name: self._behind(name)
            for name, kind in self._kinds.items()
            if kind == "virtual table"
        }
        internal = {table for tables in self._machinery.values() for table in tables}
        self._permitted = sorted(
            name
            for name in self._kinds
            if name not in internal and not fold(name).startswith("sqlite_") and gate.permits(name)
        )

    def permitted(self) -> list[str]:
        """Return the names of the tables and views that the gate lets pass, sorted."""
        return self._permitted

    def hints(self) -> list[str]:
        """Return what a refusal may name: tables, since a view may itself be refused."""
        return [name for name in self._permitted if self._kinds[name] == "table"]

    def kind(self, name: str) -> Kind:
        """Return what a stored name is."""
        return self._kinds[name]

    def resolve(self, name: str) -> str | None:
        """Return the stored name: exactly, else the only permitted one that differs in case."""
        names = {name, name[5:] if name.casefold().startswith("main.") else name}
        exact = [stored for stored in self._permitted if stored in names]
        folded = {one.casefold() for one in names}
        found = exact or [stored for stored in self._permitted if stored.casefold() in folded]
        return found[0] if len(found) == 1 else None

    def table(self, name: str) -> Table:
        """Return a permitted table by its stored name, without asking what a view reads."""
        kind = self._kinds[name]
        if kind == "view":
            self._judge_view(name)
        if kind == "virtual table" and self._module(name) not in _MODULES:
            raise unavailable(f"{name} is a virtual table of a kind that is never read.")
        columns = self.columns(name)
        table = Table(name, "main", name, kind, columns, self._primary[name])
        return attrs.evolve(table, position=self._position(table))

    def columns(self, name: str) -> tuple[Column, ...]:
        """Return the columns of a stored table or view, hidden ones of virtual tables left out."""
        if name not in self._columns:
            self._columns[name] = self._read_columns(name)
        return self._columns[name]

    def sight(self, table: Table, *others: Table) -> Sight:
        """Return what statements on one table, or on it and other tables, may see."""
        tables = frozenset(map(fold, self._kinds))
        if table.kind == "table":
            known = {fold(each.name): _unreadable(each.columns) for each in (table, *others)}
            return Sight(known, tables, {})
        columns: dict[str, frozenset[str]] = {}
        paired: dict[str, frozenset[str]] = {}
        machinery: set[str] = set()
        for name in self._permitted:
            # What a view calls its columns is judged where they are read from.
            found = self.columns(name) if self._plain(name) or name == table.name else ()
            if found or self._kinds[name] == "view":
                columns[fold(name)] = _unreadable(found)
                paired[fold(name)] = frozenset(fold(c.name) for c in found if c.paired)
                machinery.update(map(fold, self._machinery.get(name, ())))
        return Sight(columns, tables, paired, frozenset(machinery))

    def structure(self, table: Table) -> Structure:
        """Return keys, indexes and conditions; tables that the gate hides stay unnamed."""
        definition = self._definition(table.name)
        text = self._texts[table.name]
        notes: tuple[str, ...] = ()
        if definition is None and table.kind == "table":
            length = self._lengths[table.name]
            notes = (f"The table's definition has {length:,} bytes; its conditions are not shown.",)
        checks = tuple(
            Check(name, None if mentions_sensitive(text) else text)
            for name, text in (definition.checks if definition else ())
        )
        referenced = [
            ForeignKey(key.target, name, key.columns)
            for name in self._permitted
            if self._kinds[name] == "table"
            for key in self._foreign_keys(name)
            if key.table == table.name
        ]
        return Structure(
            foreign_keys=tuple(self._foreign_keys(table.name)),
            referenced_by=tuple(referenced),
            indexes=tuple(self._indexes(table.name)),
            checks=checks,
            notes=notes,
            primary_form=self._primary_form(table),
            loose=table.kind == "table" and text is not None and not is_strict(text),
        )

    def _behind(self, virtual: str) -> frozenset[str]:
        endings = _MODULES.get(self._module(virtual))
        prefix = fold(f"{virtual}_")
        return frozenset(
            name
            for name in self._kinds
            if fold(name).startswith(prefix)
            and (endings is None or fold(name[len(prefix) :]) in endings)
        )

    def _module(self, virtual: str) -> str:
        match = _USING.match(self._texts[virtual] or "")
        return fold(match.group(1)) if match else ""

    def _judge_view(self, name: str) -> None:
        views = {fold(n): self._texts[n] or "" for n, k in self._kinds.items() if k == "view"}
        length = self._lengths[name]
        if self._texts[name] is None:
            raise unavailable(f"{name} is a view whose text has {length:,} bytes; it is not read.")
        if expansion(fold(name), views) > LIMIT:
            raise unavailable(f"{name} is a view that stands for more than {LIMIT} queries.")
        if any(literals_sensitive(views[part]) for part in _parts(fold(name), views)):
            raise no_table(name, self.hints())

    def _plain(self, name: str) -> bool:
        """Tell whether a name's columns can be asked for without preparing a view."""
        kind = self._kinds[name]
        return kind == "table" or (kind == "virtual table" and self._module(name) in _MODULES)

    def _position(self, table: Table) -> str | None:
        taken = {fold(column.name) for column in table.columns}
        free = next((name for name in _POSITIONS if name not in taken), None)
        if table.kind == "view" or (table.primary_key and not self._has_rowid(table.name)):
            return None
        if len(table.primary_key) == 1:
            key = table.column(table.primary_key[0])
            # An integer key is another name for the rowid: if it is sensitive, so is that.
            if key is not None and key.sensitive and fold(key.type) == "integer":
                return None
        return free

    def _has_rowid(self, name: str) -> bool:
        keys = [row[1] for row in self._pragma("index_list", name) if row[3] == "pk"]
        return not keys or any(part[1] == _ROWID for part in self._pragma("index_xinfo", keys[0]))

    def _read_columns(self, name: str) -> tuple[Column, ...]:
        rows = self._pragma("table_xinfo", name)
        definition = self._definition(name)
        hidden = self._hidden(name, rows, definition)
        paired = any(names_field(row[1]) for row in rows)
        keyed = sorted((row[5], row[1]) for row in rows if row[5])
        self._primary[name] = tuple(column for _, column in keyed)
        return tuple(
            Column(
                name=row[1],
                type=row[2] or "unknown",
                nullable=not row[3] and not row[5],
                default=None if row[1] in hidden else row[4],
                generated=row[6] in _GENERATED,
                expression=_expression(row, definition, hidden),
                sensitive=row[1] in hidden,
                naming=names_field(row[1]),
                paired=paired and holds_named_value(row[1]),
            )
            for row in rows
            if row[6] != _HIDDEN
        )

    def _hidden(
        self, table: str, rows: list[tuple[Any, ...]], definition: Definition | None
    ) -> set[str]:
        """Return the columns that are sensitive by name, refer to such a one, or are made of it.

        A generated column whose expression is unknown, or calls what a reader does not allow,
        counts as such.
        """
        hidden = {row[1] for row in rows if is_sensitive_name(row[1])}
        hidden |= self._references.sensitive(table)
        pending = {row[1] for row in rows if row[6] in _GENERATED} - hidden
        texts = {} if definition is None else definition.generated
        if len(texts) != sum(row[6] in _GENERATED for row in rows):
            # The text says something else than SQLite does; it decides nothing.
            texts = {}
        grown = True
        while grown:
            folded = {fold(name) for name in hidden}
            found = {
                name
                for name in pending
                if (text := texts.get(fold(name))) is None
                or mentions_sensitive(text)
                or not calls(text) <= FUNCTIONS
                or not folded.isdisjoint(named_in(text))
            }
            grown = bool(found)
            hidden |= found
            pending -= found
        return hidden

    def _definition(self, name: str) -> Definition | None:
        text = self._texts[name]
        if self._kinds[name] != "table" or text is None:
            return None
        if not may_generate(text) and "check" not in fold(text):
            return Definition({}, ())
        return read_table(text)

    def _foreign_keys(self, name: str) -> list[ForeignKey]:
        if name not in self._keys:
            self._keys[name] = self._read_foreign_keys(name)
        return self._keys[name]

    def _read_foreign_keys(self, name: str) -> list[ForeignKey]:
        grouped: dict[int, list[tuple[Any, ...]]] = {}
        for row in self._pragma("foreign_key_list", name):
            grouped.setdefault(row[0], []).append(row)
        keys: list[ForeignKey] = []
        for rows in (grouped[number] for number in sorted(grouped, reverse=True)):
            target = self.resolve(rows[0][2])
            target = target if target is not None and self._kinds[target] == "table" else None
            there = tuple(row[4] for row in rows if row[4] is not None)
            if target is not None and not there:
                self.columns(target)
                there = self._primary[target]
            columns = tuple(row[3] for row in rows)
            keys.append(ForeignKey(columns, target, there if target else ()))
        return keys

    def _indexes(self, name: str) -> Iterable[Index]:
        for row in sorted(self._pragma("index_list", name), key=lambda row: row[1]):
            parts = [part for part in self._pragma("index_xinfo", row[1]) if part[5]]
            if row[3] != "pk":
                yield Index(
                    name=row[1],
                    columns=tuple(part[2] for part in parts),
                    unique=bool(row[2]),
                    partial=bool(row[4]),
                    constraint=row[3] == "u",
                    form=None if row[4] else _form(parts),
                )

    def _primary_form(self, table: Table) -> str | None:
        for row in self._pragma("index_list", table.name):
            if row[3] == "pk":
                return _form([part for part in self._pragma("index_xinfo", row[1]) if part[5]])
        # An integer key is the rowid itself, and has no index.
        rows = self._pragma("table_xinfo", table.name) if table.primary_key else []
        return next((f"{row[0]} 0 BINARY" for row in rows if row[5]), None)

    def _pragma(self, pragma: str, name: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(f"PRAGMA {pragma}({quote(name)})").fetchall()


def _form(parts: list[tuple[Any, ...]]) -> str | None:
    """Return number, direction and collation of each part of an index, if none is an expression."""
    if any(part[1] == _EXPRESSION for part in parts):
        return None
    return ", ".join(f"{part[1]} {part[3]} {part[4]}" for part in parts)


def _unreadable(columns: tuple[Column, ...]) -> frozenset[str]:
    return frozenset(fold(column.name) for column in columns if column.sensitive)


def _expression(
    row: tuple[Any, ...], definition: Definition | None, hidden: set[str]
) -> str | None:
    if row[6] not in _GENERATED or definition is None or row[1] in hidden:
        return None
    return definition.generated.get(fold(row[1]))


def _parts(view: str, views: Mapping[str, str]) -> set[str]:
    """Return a view and those that its text names, and so on, folded."""
    found: set[str] = set()
    pending = [view]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += named_in(views[name]) & views.keys()
    return found
