"""`read_records`: rows of one table, filtered by equality, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.content._reading import Found, Plan
    from toolseam_builtin.workspace import Workspace

_FARTHEST = 10_000


@asked
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
    offset: Annotated[int, Arg("How many records to pass over.", ge=0, le=_FARTHEST)] = 0


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
    from toolseam_builtin.content._reading import make_plan, read_page  # no matter of a listing

    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        label = db.label_column(table, workspace.table_settings(table.name).label)
        plan = make_plan(table, arguments, label)
        found = read_page(database, plan)
    answer = compose(plan, found)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(plan: Plan, found: Found) -> db.Answer:
    """Say the rows as text, table and data, in one pass over the same cells."""
    table, offset = plan.query.table, plan.query.offset
    fetched = db.columns_of(table, plan.query.columns)
    columns = tuple(dict.fromkeys((*plan.key, *plan.fields)))
    page = db.Page()
    doubts: dict[str, int] = {}
    for number, row in enumerate(found.rows, offset + 1):
        shown = dict(zip(plan.query.columns, db.show_row(table, fetched, row), strict=True))
        key = ",".join(shown[name].text for name in plan.key)
        lines = [f"- {db.one_line(table.title)}{f':{key}' if key else f' #{number}'}"]
        lines += [f"  {db.one_line(name)}: {shown[name].text}" for name in plan.fields]
        cells = [shown[name] for name in columns]
        if not page.take(lines, [cell.text for cell in cells], [cell.value for cell in cells]):
            break
        for name, cell in zip(columns, cells, strict=True):
            if cell.doubt is not None:
                doubt = f"{table.title}.{name}: {cell.doubt}"
                doubts[doubt] = doubts.get(doubt, 0) + 1
    count = len(page.cells)
    more = count < len(found.rows) or (
        count == plan.query.limit if found.total is None else found.total > offset + count
    )
    warnings = [f"{doubt} ({number} values)" for doubt, number in doubts.items()]
    if not found.complete:
        warnings.append(db.stopped(table.title))
    following, said = None, ""
    if more:
        following, said = db.next_page(offset + count, _FARTHEST, "a narrower `where`")
    lines = [_heading(plan, count, found), *page.lines, *_closing(plan, said)]
    data: dict[str, object] = {
        "table": table.title,
        "total": found.total,
        "offset": offset,
        "next_offset": following,
        "columns": list(columns),
        "rows": page.rows,
    }
    text = "\n".join([*lines, *(f"Warning: {db.one_line(warning)}" for warning in warnings)])
    shown_table = ToolArtifact.table(f"{table.title} records", columns, page.cells, fit=True)
    return db.Answer(text, (shown_table,), data, warnings)


def _heading(plan: Plan, count: int, found: Found) -> str:
    title, total = db.one_line(plan.query.table.title), found.total
    records = f"{db.number_of(total)} record{'' if total == 1 else 's'}"
    shown = db.shown_range(plan.query.offset, count)
    return f"{title}: {records}{db.where_words(plan.query.where)}, {shown}."


def _closing(plan: Plan, more: str) -> list[str]:
    table = plan.query.table
    shown = {*plan.key, *plan.fields}
    left = [column.name for column in table.readable() if column.name not in shown]
    lines = [more] if more else []
    if left:
        lines.append(f"Further columns, by `fields`: {db.listed(left)}.")
    return [*lines, *db.never_shown(table)]
