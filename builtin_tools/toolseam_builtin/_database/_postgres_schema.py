"""The structure of a PostgreSQL database, from its catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from toolseam.guards import is_sensitive_name
from toolseam_builtin._database._cells import holds_named_value, names_field
from toolseam_builtin._database._ddl import fold, mentions_sensitive, named_in
from toolseam_builtin._database._model import (
    Check,
    Column,
    ForeignKey,
    Index,
    Kind,
    Structure,
    Table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam_builtin._database._gate import TableGate

    Fetch = Callable[..., list[tuple[Any, ...]]]

_KINDS: dict[str, Kind] = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
_TABLES = frozenset({"r", "p"})
_STORED = frozenset({"r", "m"})
_NO_ACTION = -1

_RELATIONS = """
SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text, c.reltuples::bigint,
       obj_description(c.oid, 'pg_class'), c.relispartition
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname <> %s, n.nspname, c.relname
"""
_DESCENDANTS = """
WITH RECURSIVE below(parent, child) AS (
  SELECT inhparent, inhrelid FROM pg_inherits
  UNION SELECT below.parent, i.inhrelid FROM pg_inherits i JOIN below ON i.inhparent = below.child)
SELECT below.parent::bigint, n.nspname::text, c.relname::text
FROM below JOIN pg_class c ON c.oid = below.child JOIN pg_namespace n ON n.oid = c.relnamespace
"""
_COLUMNS = """
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text <> '', a.attidentity::text <> '',
       col_description(a.attrelid, a.attnum), has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_NAMES = """ARRAY(SELECT a.attname::text FROM unnest({key}) WITH ORDINALITY AS k(number, place)
  LEFT JOIN pg_attribute a ON a.attrelid = {table} AND a.attnum = k.number AND k.number > 0
  ORDER BY k.place)"""
_CONSTRAINTS = f"""
SELECT o.contype::text, o.conname::text, {_NAMES.format(key="o.conkey", table="o.conrelid")},
       o.conrelid::bigint, o.confrelid::bigint,
       {_NAMES.format(key="o.confkey", table="o.confrelid")}, pg_get_expr(o.conbin, o.conrelid)
FROM pg_constraint o
WHERE (o.conrelid = %s OR o.confrelid = %s) AND o.contype IN ('p', 'u', 'f', 'c')
ORDER BY o.conname, o.conrelid
"""  # noqa: S608
_LEADS = """
WITH RECURSIVE refers(home, own, other, there) AS (
  SELECT o.conrelid, k.own, o.confrelid, k.there
  FROM pg_constraint o, unnest(o.conkey, o.confkey) AS k(own, there) WHERE o.contype = 'f'),
leads(own, other, there) AS (
  SELECT own, other, there FROM refers WHERE home = %s
  UNION SELECT l.own, r.other, r.there
  FROM leads l JOIN refers r ON r.home = l.other AND r.own = l.there)
SELECT a.attname::text, b.attname::text
FROM leads l JOIN pg_attribute a ON a.attrelid = %s AND a.attnum = l.own
JOIN pg_attribute b ON b.attrelid = l.other AND b.attnum = l.there
"""
_INDEXES = f"""
SELECT c.relname::text, {_NAMES.format(key="i.indkey::smallint[]", table="i.indrelid")},
       i.indisunique, i.indpred IS NOT NULL,
       EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype = 'u'),
       CASE WHEN i.indpred IS NULL AND i.indexprs IS NULL THEN concat_ws(' / ',
         c.relam::text, i.indkey::text, i.indclass::text, i.indcollation::text,
         i.indoption::text, i.indnkeyatts::text) END, i.indisprimary
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = %s ORDER BY c.relname
"""  # noqa: S608


@attrs.frozen
class Relation:
    """A table or view as the catalogue lists it."""

    oid: int
    schema: str
    name: str
    relkind: str
    rows: int | None
    comment: str | None
    title: str

    @property
    def kind(self) -> Kind:
        """What it is, in the words of the tools."""
        return _KINDS[self.relkind]


class Catalogue:
    """The relations that gate and role let pass, and what is known of them.

    Args:
        fetch: runs one statement of ours and returns its rows.
        gate: decides which relations exist for the outside. Views, materialized views and
            foreign tables show what the gate cannot judge, so they need the operator's word.
        schema: of relations that are named without one.
    """

    def __init__(self, fetch: Fetch, gate: TableGate, schema: str) -> None:
        self._fetch = fetch
        self._schema = schema
        denied = {oid for oid, s, name in fetch(_DESCENDANTS) if gate.denies(name, s)}
        self.relations: list[Relation] = []
        self._by_oid: dict[int, Relation] = {}
        for oid, home, name, kind, rows, comment, partition in fetch(_RELATIONS, schema):
            allowed = gate.permits(name, home) if kind in _TABLES else gate.names(name, home)
            if allowed and oid not in denied:
                title = name if home == schema else f"{home}.{name}"
                estimate = rows if rows > _NO_ACTION and kind in _TABLES | _STORED else None
                relation = Relation(oid, home, name, kind, estimate, comment, title)
                self._by_oid[oid] = relation
                # Its parent shows what a partition holds.
                if not partition:
                    self.relations.append(relation)

    def resolve(self, name: str) -> Relation | None:
        """Return a relation by its name, or by `schema.name`: the most exact reading decides."""
        every = list(self._by_oid.values())
        folded = name.casefold()
        readings = (
            [r for r in every if r.schema == self._schema and r.name == name],
            [r for r in every if f"{r.schema}.{r.name}" == name],
            [r for r in every if r.schema == self._schema and r.name.casefold() == folded],
            [r for r in every if f"{r.schema}.{r.name}".casefold() == folded],
            [r for r in every if r.name.casefold() == folded],
        )
        for found in readings:
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def titles(self) -> list[str]:
        """Return how answers name the readable relations."""
        return [relation.title for relation in self.relations]

    def table(self, relation: Relation) -> Table:
        """Return a relation with its columns and its key."""
        rows = self._fetch(_COLUMNS, relation.oid)
        keys = self._fetch(_CONSTRAINTS, relation.oid, relation.oid)
        own = [row[2] for row in keys if row[0] == "p" and row[3] == relation.oid]
        leads = self._fetch(_LEADS, relation.oid, relation.oid)
        return Table(
            name=relation.name,
            schema=relation.schema,
            title=relation.title,
            kind=relation.kind,
            columns=_columns(rows, {name for name, there in leads if is_sensitive_name(there)}),
            primary_key=tuple(own[0]) if own else (),
            position="ctid" if relation.relkind in _STORED else None,
            comment=relation.comment,
        )

    def structure(self, relation: Relation) -> Structure:
        """Return keys, indexes and conditions; relations that the gate hides stay unnamed."""
        foreign: list[ForeignKey] = []
        referenced: list[ForeignKey] = []
        checks: list[Check] = []
        for kind, name, columns, home, target, there, text in self._fetch(
            _CONSTRAINTS, relation.oid, relation.oid
        ):
            if kind == "f" and home == relation.oid:
                other = self._by_oid.get(target)
                title = None if other is None else other.title
                foreign.append(ForeignKey(tuple(columns), title, tuple(there) if title else ()))
            if kind == "f" and target == relation.oid and home in self._by_oid:
                title = self._by_oid[home].title
                referenced.append(ForeignKey(tuple(there), title, tuple(columns)))
            if kind == "c" and home == relation.oid:
                checks.append(Check(name, None if mentions_sensitive(text or "") else text))
        found = self._fetch(_INDEXES, relation.oid)
        return Structure(
            foreign_keys=tuple(foreign),
            referenced_by=tuple(referenced),
            indexes=tuple(
                Index(name, tuple(columns), unique, partial, constraint, form)
                for name, columns, unique, partial, constraint, form, primary in found
                if not primary
            ),
            checks=tuple(checks),
            primary_form=next((form for *_, form, primary in found if primary), None),
        )


def _columns(rows: list[tuple[Any, ...]], referring: set[str]) -> tuple[Column, ...]:
    """Make the columns; `referring` are those whose foreign keys lead to a sensitive one."""
    hidden = {row[0] for row in rows if is_sensitive_name(row[0]) or not row[7]} | referring
    folded = {fold(name) for name in hidden}
    # PostgreSQL lets no generated column name another one, so one turn is enough.
    hidden |= {
        row[0]
        for row in rows
        if row[4]
        and (mentions_sensitive(row[3] or "") or not folded.isdisjoint(named_in(row[3] or "")))
    }
    paired = any(names_field(row[0]) for row in rows)
    return tuple(
        Column(
            name=name,
            type=kind,
            nullable=nullable,
            default=None if generated or name in hidden else "identity" if identity else text,
            generated=generated,
            expression=text if generated and name not in hidden else None,
            sensitive=name in hidden,
            naming=names_field(name),
            paired=paired and holds_named_value(name),
            comment=comment,
        )
        for name, kind, nullable, text, generated, identity, comment, _ in rows
    )
