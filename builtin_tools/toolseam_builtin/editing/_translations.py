"""Translations of a record: how they are told apart, found, and made as copies."""

from __future__ import annotations

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._asking import columns_of, listed, scalar
from toolseam_builtin._database._cells import show
from toolseam_builtin._database._faults import unavailable
from toolseam_builtin._database._model import Column, Excerpt, Index, Query, Scalar
from toolseam_builtin._database._writing._faults import conflict
from toolseam_builtin._database._writing._model import Change, Equalities, Field, Plan
from toolseam_builtin._database._writing._values import fit, flag
from toolseam_builtin.editing._places import at_the_end, order_of
from toolseam_builtin.editing._records import (
    Record,
    Target,
    named_column,
    optional_column,
    read,
    refuse_secret,
)
from toolseam_builtin.editing._shown import differs, fingerprint, said

_FIELDS = 9
_MADE = ("nextval(", "identity")


@attrs.frozen
class Roles:
    """A table whose records have translations, and the columns by which that is told."""

    found: Target
    draft: Column
    language: Column
    link: Column | None
    target: str | None

    @property
    def own(self) -> set[str]:
        """The columns that a copy has for itself."""
        every = (self.draft, self.language, self.link)
        return {column.name for column in every if column is not None}

    @property
    def copied(self) -> list[Column]:
        """The columns that a copy takes over."""
        table = self.found.table
        keyed = (
            set(table.primary_key) if self.language.name not in table.primary_key else set[str]()
        )
        return [
            column
            for column in table.columns
            if column.name not in self.own | keyed
            and not (column.generated or column.sensitive)
            and not (column.default or "").casefold().startswith(_MADE)
        ]


@attrs.frozen
class Original:
    """The record that is translated, the new language, and what the copy's link will hold."""

    record: Record
    language: Scalar
    link: Scalar


def roles_of(found: Target) -> Roles:
    """Return the columns that tell translations apart.

    Raises `ToolError` `unavailable`, with the reason `not_configured`, naming the missing key.
    """
    draft, language = named_column(found, "draft"), named_column(found, "language")
    link = optional_column(found, "translation_of")
    target = None
    if link is not None:
        keys = found.database.structure(found.table).foreign_keys
        there = [key.target for key in keys if key.columns == (link.name,)]
        own = [*there, found.table.primary_key]
        target = next((names[0] for names in own if len(names) == 1), None)
        if target is None:
            raise unavailable(
                f"{found.table.title}.{link.name} refers to no single column of a record.",
                "not_configured",
            )
    return Roles(found, draft, language, link, target)


def original(roles: Roles, key: str | int, language: str) -> Original:
    """Return the record that is to be translated.

    Raises `ToolError`: `not_found`; `invalid_arguments` if it is a translation itself, or written
    in that language; `permission_denied` if it names a secret.
    """
    found, title = roles.found, roles.found.table.title
    names = {*roles.own, *(column.name for column in roles.copied), *filter(None, [roles.target])}
    record = read(found, key, [c.name for c in found.table.columns if c.name in names])
    refuse_secret(found, record, roles.copied)
    given: Scalar = language
    if "int" in roles.language.type.casefold() and language.isdecimal() and language.isascii():
        given = int(language)
    word = fit(found.table, roles.language, given, found.database.dialect)
    if not differs(record.cells[roles.language.name], word):
        raise ToolError(
            f"{title}:{record.key} is in that language already.", ErrorCode.INVALID_ARGUMENTS
        )
    if roles.link is not None and record.cells[roles.link.name] is not None:
        above = record.shown[roles.link.name]
        raise ToolError(
            f"{title}:{record.key} is itself a translation; its original is {above}.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    return Original(record, word, scalar(record.cells[roles.target]) if roles.target else None)


def existing(roles: Roles, one: Original) -> Record | None:
    """Return the translation that is there, `None` if there is none or nothing would tell.

    Raises `ToolError`: `conflict` where there are several, `permission_denied` for one that names
    a secret.
    """
    table = roles.found.table
    where: Equalities
    if roles.link is not None:
        where = ((roles.link.name, one.link), (roles.language.name, one.language))
    elif roles.language.name in table.primary_key:
        cells = one.record.cells
        where = tuple(
            (name, one.language if name == roles.language.name else scalar(cells[name]))
            for name in table.primary_key
        )
    else:
        return None
    columns = columns_of(table, table.key())
    rows = roles.found.database.rows(Query(table, table.key(), where, limit=2))
    keys = [",".join(show(c, k).text for c, k in zip(row, columns, strict=True)) for row in rows]
    if len(keys) > 1:
        raise conflict(f"{table.title} has several such translations: {' and '.join(keys)} …")
    names = [*roles.own, *(column.name for column in roles.copied)]
    there = read(roles.found, keys[0], names) if keys else None
    if there is not None:
        refuse_secret(roles.found, there, roles.copied)
    return there


def already(roles: Roles, one: Original, there: Record) -> ToolError:
    """Return the refusal for a translation that is there and may not be overwritten."""
    title = roles.found.table.title
    return conflict(
        f"{title}:{one.record.key} has that translation already: {title}:{there.key}{there.label};"
        " `overwrite` copies over it.",
        "exists",
    )


def copying(roles: Roles, one: Original, there: Record | None) -> Plan:
    """Return the plan that copies the original into a new record, or over its translation."""
    found, table = roles.found, roles.found.table
    values: dict[str, Scalar] = {
        roles.draft.name: flag(roles.draft, on=True),
        roles.language.name: one.language,
    }
    if roles.link is not None:
        values[roles.link.name] = one.link
    kept = _unique(roles) if there is not None else set[str]()
    made = _made_unique(roles, one) if there is None else {}
    values |= made
    copied = [c for c in roles.copied if c.name not in {*kept, *made}]
    fields = [
        _field(column, said(values[column.name], column), there)
        for column in columns_of(table, values)
    ]
    fields += [_field(column, one.record.shown[column.name], there) for column in copied]
    notes = [f"copied from {table.title}:{one.record.key}{one.record.label}"]
    if there is not None:
        notes.append(f"The translation {table.title}:{there.key}{there.label} is overwritten.")
    elif roles.link is None and roles.language.name not in table.primary_key:
        notes.append("Nothing links it to its original: translation_of names no column.")
    if len(fields) > _FIELDS + len(values):
        rest = fields[_FIELDS + len(values) :]
        digits = fingerprint("\n".join(field.line for field in rest))
        notes.append(f"{len(rest)} fields more: {listed(f.name for f in rest)} ({digits})")
        fields = fields[: _FIELDS + len(values)]
    change = Change(
        table,
        None if there is None else there.where,
        tuple(values.items()),
        one.record.where,
        tuple(column.name for column in copied),
    )
    changes = (change,) if there is None or any(field.changed for field in fields) else ()
    verbs = ("Copy over", "Copied over") if there else ("Create as a draft", "Created as a draft")
    key, label = (None, "") if there is None else (there.key, there.label)
    return Plan(verbs, table, key, label, tuple(fields), changes, found.history, tuple(notes))


def _field(column: Column, new: str, there: Record | None) -> Field:
    old = "" if there is None else there.shown[column.name]
    return Field(column.name, old, new, old != new)


def _unique(roles: Roles) -> set[str]:
    """Return the columns by which records are told apart, which an existing one keeps."""
    indexes = _indexes(roles)
    return {name for index in indexes for name in index.columns if name is not None}


def _indexes(roles: Roles) -> list[Index]:
    copied = {column.name for column in roles.copied}
    every = roles.found.database.structure(roles.found.table).indexes
    return [index for index in every if index.unique and copied.issuperset(index.columns)]


def _made_unique(roles: Roles, one: Original) -> dict[str, Scalar]:
    """Return values for a new copy where the original's own would be there twice."""
    found, made = roles.found, dict[str, Scalar]()
    order = order_of(found, needs_parent=False)
    for index in _indexes(roles):
        columns = columns_of(found.table, filter(None, index.columns))
        if any(column.name in made for column in columns):
            continue
        if any(one.record.cells[column.name] is None for column in columns):
            continue
        position = order.position
        if position is not None and position.name in index.columns:
            parent = None if order.parent is None else one.record.cells[order.parent.name]
            place = at_the_end(order, scalar(parent))
            made |= {} if place is None else {position.name: place.value}
        else:
            made |= _other(found, columns, one)
    return made


def _other(found: Target, columns: tuple[Column, ...], one: Original) -> dict[str, Scalar]:
    for column in columns:
        cell = one.record.cells[column.name]
        if isinstance(cell, Excerpt) and cell.total == len(cell.text):
            value = f"{cell.text}-{one.language}"
            return {column.name: fit(found.table, column, value, found.database.dialect)}
    empty = next((column for column in columns if column.nullable), None)
    if empty is not None:
        return {empty.name: None}
    names = ", ".join(column.name for column in columns)
    raise conflict(f"A copy would have the same {names}, which must be unique.", "duplicate")
