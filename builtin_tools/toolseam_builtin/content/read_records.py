"""`read_records`: rows of one table, filtered by equality, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import (
    Arg,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam.guards import mask_secrets
from toolseam_builtin import _database as db

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_FIRST_FIELDS = 8
_ECHO_CHARACTERS = 100
_LISTED = 30
_INTEGERS = range(-(2**63), 2**63)


@attrs.frozen
class Arguments:
    """What `read_records` is asked."""

    table: Annotated[str, Arg("A table or view, or schema.table.", min_length=1, max_length=200)]
    where: Annotated[
        dict[str, str | int | float | bool | None] | None,
        Arg("Equalities, column: value; null matches empty cells.", max_length=5),
    ] = None
    fields: Annotated[
        list[str] | None, Arg("Columns to show instead of the first ones.", max_length=30)
    ] = None
    limit: Annotated[int, Arg("How many records at most.", ge=1, le=50)] = 20
    offset: Annotated[int, Arg("How many records to pass over.", ge=0, le=10_000)] = 0


@attrs.frozen
class Plan:
    """One question to the database: what is fetched, and which of it is key and field."""

    query: db.Query
    fetched: tuple[db.Column, ...]
    key: tuple[str, ...]
    fields: tuple[str, ...]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "read_records",
        "content",
        Arguments,
        "Read records of one table or view of the workspace's database, in key order."
        " Filter by equality with `where`, choose columns with `fields`, page with `offset`.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read one page of records."""
    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        label = db.label_column(table, workspace.table_settings(table.name).label)
        plan = make_plan(table, arguments, label)
        rows = database.rows(plan.query)
        total = database.count(plan.query)
    answer = compose(plan, rows, total)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(table: db.Table, arguments: Arguments, label: str | None) -> Plan:
    """Judge filter and fields before any query, and say what is to be fetched."""
    where = tuple(_filter(table, name, value) for name, value in (arguments.where or {}).items())
    key = table.key()
    if arguments.fields is None:
        others = [column.name for column in table.readable() if column.name not in key]
        first = sorted(others, key=lambda name: name != label)[:_FIRST_FIELDS]
        fields = tuple(first)
    else:
        fields = tuple(dict.fromkeys(_field(table, name) for name in arguments.fields))
    names = tuple(dict.fromkeys((*key, *table.naming(), *fields)))
    query = db.Query(table, names, where, arguments.limit, arguments.offset)
    fetched = tuple(table.column(name) or db.Column(name, "integer") for name in names)
    return Plan(query, fetched, key, fields)


def compose(plan: Plan, rows: list[tuple[db.Cell, ...]], total: int | None) -> db.Answer:
    """Say the rows as text, table and data, in one pass over the same cells."""
    table, offset = plan.query.table, plan.query.offset
    columns = tuple(dict.fromkeys((*plan.key, *plan.fields)))
    page = db.Page()
    doubts: dict[str, int] = {}
    for number, row in enumerate(rows, offset + 1):
        found = zip(plan.fetched, db.show_row(table, plan.fetched, row), strict=True)
        shown = {column.name: cell for column, cell in found}
        key = ",".join(shown[name].text for name in plan.key)
        lines = [
            f"- {db.one_line(table.title)}:{key}"
            if key
            else f"- {db.one_line(table.title)} #{number}"
        ]
        lines += [f"  {db.one_line(name)}: {shown[name].text}" for name in plan.fields]
        cells = [shown[name] for name in columns]
        if not page.take(lines, [cell.text for cell in cells], [cell.value for cell in cells]):
            break
        for name, cell in zip(columns, cells, strict=True):
            if cell.doubt is not None:
                doubt = f"{table.title}.{name}: {cell.doubt}"
                doubts[doubt] = doubts.get(doubt, 0) + 1
    count = len(page.cells)
    more = (
        count < len(rows)
        or (total or 0) > offset + count
        or (total is None and count == plan.query.limit)
    )
    warnings = [f"{doubt} ({number} values)" for doubt, number in doubts.items()]
    lines = [_heading(plan, count, total), *page.lines, *_closing(plan, offset + count, more=more)]
    data: dict[str, object] = {
        "table": table.title,
        "total": total,
        "offset": offset,
        "next_offset": offset + count if more else None,
        "columns": list(columns),
        "rows": page.rows,
    }
    text = "\n".join([*lines, *(f"Warning: {db.one_line(warning)}" for warning in warnings)])
    shown_table = ToolArtifact.table(f"{table.title} records", columns, page.cells, fit=True)
    return db.Answer(text, (shown_table,), data, warnings)


def _heading(plan: Plan, count: int, total: int | None) -> str:
    table = db.one_line(plan.query.table.title)
    named = [f"{name} = {_echo(value)}" for name, value in plan.query.where]
    matching = f" where {db.one_line(' and '.join(named))}" if named else ""
    number = "an uncounted number of" if total is None else f"{total:,}"
    first = plan.query.offset + 1
    shown = f"shown {first:,} to {first + count - 1:,}" if count else "none shown"
    start = f" from offset {plan.query.offset:,}" if not count and total else ""
    return f"{table}: {number} record{'' if total == 1 else 's'}{matching}, {shown}{start}."


def _closing(plan: Plan, following: int, *, more: bool) -> list[str]:
    table = plan.query.table
    shown = {*plan.key, *plan.fields}
    left = [column.name for column in table.readable() if column.name not in shown]
    hidden = [column.name for column in table.columns if column.sensitive]
    lines = [f"More with offset={following}."] if more else []
    if left:
        lines.append(f"Further columns, by `fields`: {db.one_line(_listed(left))}.")
    if hidden:
        lines.append(f"Never shown: {db.one_line(_listed(hidden))}.")
    return lines


def _filter(table: db.Table, name: str, value: db.Scalar) -> tuple[str, db.Scalar]:
    column = table.column(name)
    if column is None:
        raise db.no_column(name, table.title, [column.name for column in table.columns])
    masked = isinstance(value, str) and (db.mask_json(value) != value or mask_secrets(value)[1] > 0)
    if masked or not column.comparable:
        raise ToolError(
            f"{table.title} cannot be filtered by {column.name}: it holds what is not shown.",
            ErrorCode.PERMISSION_DENIED,
        )
    if isinstance(value, int) and value not in _INTEGERS:
        raise ToolError(f"{column.name}: the number is too large.", ErrorCode.INVALID_ARGUMENTS)
    return column.name, value


def _field(table: db.Table, name: str) -> str:
    column = table.column(name)
    if column is None:
        raise db.no_column(name, table.title, [column.name for column in table.columns])
    if column.sensitive:
        raise ToolError(
            f"{table.title}.{column.name} is sensitive and never shown.",
            ErrorCode.PERMISSION_DENIED,
        )
    return column.name


def _listed(names: list[str]) -> str:
    listed = ", ".join(names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed} and {len(names) - _LISTED} more"


def _echo(value: db.Scalar) -> str:
    text = "null" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _ECHO_CHARACTERS else f"{text[:_ECHO_CHARACTERS]}…"
