"""`count_records`: how many records match, in all or by the values of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    ToolArtifact,
    ToolContext,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.content._counting import Groups
    from toolseam_builtin.workspace import Workspace

_GROUPS = 50


@asked
class Arguments:
    """What `count_records` is asked."""

    table: Annotated[str, Arg("A table or view, or schema.table.", min_length=1, max_length=200)]
    where: Annotated[
        dict[str, str | int | float | bool | None] | None,
        Arg("Equalities, column: value; null matches empty cells.", max_length=5),
    ] = None
    group_by: Annotated[
        str | None, Arg("A column whose values are counted apart.", min_length=1, max_length=200)
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "count_records",
        "content",
        Arguments,
        "Count the records of one table or view, all of them or those that fulfil the equalities"
        " in `where`; with `group_by`, by the values of one column, the most frequent first.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Count."""
    from toolseam_builtin.content._counting import SECONDS, read_groups  # no matter of a listing

    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        where = db.equalities(table, arguments.where)
        query = db.Query(table, (), where)
        budget = db.Deadline.after(SECONDS)
        groups = None
        if arguments.group_by is not None:
            column = db.comparable_column(table, arguments.group_by)
            groups = read_groups(database, query, column.name, budget)
        whole = None if groups is None else groups.whole
        total = database.count(query, budget.left()) if whole is None else whole
    if total is None:
        raise db.over_budget(table.title)
    answer = compose(query, total, groups)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(query: db.Query, total: int, groups: Groups | None) -> db.Answer:
    """Say the numbers as text, table and data, in one pass."""
    title = db.one_line(query.table.title)
    records = f"{total:,} record{'' if total == 1 else 's'}"
    heading = f"{title}: {records}{db.where_words(query.where)}"
    data: dict[str, object] = {"table": query.table.title, "total": total}
    if groups is None:
        return db.Answer(f"{heading}.", (), data)
    name = groups.column.name
    page = db.Page()
    for group in groups.found[:_GROUPS]:
        text = group.shown.text or "(empty)"
        cells_of = (text, f"{group.count:,}")
        if not page.take(
            [f"- {text}: {group.count:,}"], cells_of, [group.shown.value, group.count]
        ):
            break
    count, values = len(page.cells), len(groups.found)
    rest = total - sum(group.count for group in groups.found[:count])
    most = "more than " if groups.beyond else ""
    different = f"{most}{values:,} value{'' if values == 1 else 's'} of {db.one_line(name)}"
    lines = [f"{heading}, {different}, {count:,} shown.", *page.lines]
    if values > count or groups.beyond:
        further = f"{most}{values - count:,} further values"
        lines.append(f"- {further}: {rest:,} (narrow them with `where`)")
    data |= {
        "column": name,
        "columns": [name, "records"],
        "rows": page.rows,
        "values": values,
        "at_least": groups.beyond,
        "rest": rest,
    }
    table = ToolArtifact.table(f"{title} by {name}", (name, "records"), page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data)
