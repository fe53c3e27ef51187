"""One record with all its fields, and the records that refer to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import MASK, mask_secrets
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_EXCERPT = 200
_CHILDREN = 100
_SECONDS = 1.4
_TURN_SECONDS = 0.3
_SUMMARY = 3
_BRIEF = 80
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
# What ends a word, in the eyes of who reads the page; other markup stands inside of words.
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|cite|code|del|em|font|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|u|var"
    r"|wbr)\b",
    re.IGNORECASE,
)
_BODIES = ("body", "bodytext", "content", "text", "message", "summary", "description", "value")


@attrs.frozen
class Field:
    """One field as an answer shows it."""

    name: str
    text: str
    value: object
    doubt: str | None = None


@attrs.frozen
class Record:
    """One record; `cells` are those that other tables may refer to, by column, unless masked."""

    table: db.Table
    key: str
    label: str
    fields: tuple[Field, ...]
    cells: dict[str, db.Scalar]
    warnings: tuple[str, ...]


@attrs.frozen
class Child:
    """One record that refers to another, in one line."""

    key: str
    content: str


@attrs.frozen
class Group:
    """The records of one table that refer by one foreign key; `total` is `None` if uncounted."""

    title: str
    by: str
    where: db.Where
    found: tuple[Child, ...]
    total: int | None


@attrs.frozen
class Plan:
    """What is read of the records that refer: `told` says who they are, by a label or by fields."""

    query: db.Query
    told: tuple[str, ...]
    labelled: bool


@attrs.frozen
class Children:
    """The groups by table; a warning names each that could not be read."""

    groups: tuple[Group, ...]
    warnings: tuple[str, ...]


def read_record(
    database: db.Database, workspace: Workspace, table: db.Table, key: str | int
) -> Record:
    """Read one record in full.

    Raises `ToolError` `not_found` if there is none of that key.
    """
    own = table.key()
    names = tuple(dict.fromkeys((*own, *(column.name for column in table.readable()))))
    _, cells = db.find_record(database, table, key, names)
    fields = fields_of(table, names, cells)
    label = db.label_column(table, workspace.table_settings(table.name).label)
    return Record(
        table=table,
        key=",".join(fields[name].text for name in own),
        label="" if label is None else _label(table, label, dict(zip(names, cells, strict=True))),
        fields=tuple(fields.values()),
        cells={
            name: db.scalar(cell)
            for name, cell in zip(names, cells, strict=True)
            if fields[name].value != MASK
        },
        warnings=tuple(
            f"{table.title}.{field.name}: {field.doubt}"
            for field in fields.values()
            if field.doubt is not None
        ),
    )


def _label(table: db.Table, label: str, cells: dict[str, db.Cell]) -> str:
    """Return the name of a record, cut to what fits a line."""
    names = tuple(dict.fromkeys((label, *table.naming())))
    return fields_of(table, names, tuple(cells[name] for name in names), _BRIEF)[label].text


def field_of(cell: db.Cell, column: db.Column, characters: int = _EXCERPT) -> Field:
    """Return a cell as a field: a text without its markup, and cut if it is long."""
    whole = db.show(cell, column, characters=db.FETCH_CHARACTERS)
    if not isinstance(cell, db.Excerpt) or not isinstance(whole.value, str):
        return Field(column.name, whole.text, whole.value, whole.doubt)
    stored = whole.value
    text = stored if db.begins_json(stored) else without_markup(stored)
    total = max(cell.total, len(text)) if cell.total > len(cell.text) else len(text)
    cut = db.excerpt(text, characters, total=total)
    note = " (markup left out)" if text != stored and _TAG.search(stored) else ""
    return Field(column.name, f"{db.one_line(cut)}{note}", cut, whole.doubt)


def without_markup(text: str) -> str:
    """Return a text as a reader of the page sees it, if it has tags; else as it is."""
    if _TAG.search(text) is None:
        return text
    from html import unescape

    plain = _TAG.sub(lambda tag: "" if _INLINE.match(tag.group()) else " ", text)
    # Taking out a tag may join what it kept apart.
    masked, _ = mask_secrets(unescape(plain))
    return " ".join(masked.split())


def read_children(database: db.Database, workspace: Workspace, record: Record) -> Children:
    """Read the records that refer to a record by a foreign key, at most 100, by table."""
    budget = db.Deadline.after(_SECONDS)
    groups: list[Group] = []
    warnings: list[str] = []
    left = _CHILDREN
    late: list[str] = []
    references = database.structure(record.table).referenced_by
    for reference in sorted(references, key=lambda one: (one.table or "", one.target)):
        if not budget.left():
            late.append(reference.table or "")
            continue
        try:
            plan = _plan(database, workspace, record, reference)
            if plan is None:
                continue
            group, complete = _group(database, plan, left, min(_TURN_SECONDS, budget.left()))
        except ToolError as failure:
            if failure.code is not ErrorCode.UNAVAILABLE:
                raise
            warnings.append(str(failure))
            continue
        left -= len(group.found)
        groups.append(group)
        if not complete:
            warnings.append(db.stopped(group.title))
    if late:
        warnings.append(f"not read, since the time limit was reached: {db.listed(late)}")
    return Children(tuple(groups), tuple(warnings))


def _plan(
    database: db.Database, workspace: Workspace, record: Record, reference: db.ForeignKey
) -> Plan | None:
    """Return what is asked for the records that refer by one foreign key, if any can."""
    if reference.table is None:
        return None
    table = database.table(reference.table)
    values = [record.cells.get(name) for name in reference.columns]
    columns = db.columns_of(table, reference.target)
    if None in values or not all(column.comparable for column in columns):
        return None
    where = tuple(zip(reference.target, values, strict=True))
    label = db.label_column(table, workspace.table_settings(table.name).label)
    others = [c.name for c in table.readable() if c.name not in {*table.key(), *reference.target}]
    bodies = [name for name in others if name.casefold() in _BODIES]
    told = others[:_SUMMARY] if label is None else [label, *bodies[:1]]
    names = dict.fromkeys((*table.key(), *told, *table.naming()))
    return Plan(db.Query(table, tuple(names), where), tuple(told), labelled=label is not None)


def _group(database: db.Database, plan: Plan, most: int, seconds: float) -> tuple[Group, bool]:
    """Read at most so many records, and count them all."""
    query, key = plan.query, plan.query.table.key()
    rows, complete = db.read_until(database, attrs.evolve(query, limit=most), seconds)
    found: list[Child] = []
    for row in rows:
        fields = fields_of(query.table, query.columns, row)
        told = fields if plan.labelled else fields_of(query.table, query.columns, row, _BRIEF)
        parts = [
            text if plan.labelled else f"{db.one_line(name)}: {text}"
            for name in plan.told
            if (text := told[name].text) and told[name].value is not None
        ]
        found.append(Child(",".join(fields[name].text for name in key), " · ".join(parts)))
    total: int | None = len(rows)
    if len(rows) == most or not complete:
        total = database.count(query, seconds)
    by = ", ".join(name for name, _ in query.where)
    return Group(query.table.title, by, query.where, tuple(found), total), complete


def fields_of(
    table: db.Table,
    names: tuple[str, ...],
    cells: tuple[db.Cell, ...],
    characters: int = _EXCERPT,
) -> dict[str, Field]:
    """Return the cells of a row as fields by name; what speaks of a secret is masked."""
    columns = db.columns_of(table, names)
    secret = db.speaks_of_secret(table, columns, cells)
    return {
        column.name: Field(column.name, MASK, MASK)
        if secret and column.paired and cell is not None
        else field_of(cell, column, characters)
        for column, cell in zip(columns, cells, strict=True)
    }
