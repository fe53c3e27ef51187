"""`get_record_content`: one record in full, and the records that refer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.content._record import Children, Group, Record
    from toolseam_builtin.workspace import Workspace

_RECORD_BYTES = 26_000
_COLUMNS = ("table", "key", "by", "content")


@asked
class Arguments:
    """What `get_record_content` is asked."""

    table: Annotated[str, Arg("The record's table.", min_length=1, max_length=200)]
    key: Annotated[str | int, Arg("The record's key, as read_records shows it.", max_length=200)]
    children: Annotated[bool, Arg("Whether records that refer to it are shown.")] = True


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_record_content",
        "content",
        Arguments,
        "Show one record with all its fields, long texts as excerpts without markup, and the"
        " records of other tables that refer to it, at most 100.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the record and its children."""
    from toolseam_builtin.content._record import read_children, read_record

    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        record = read_record(database, workspace, table, arguments.key)
        children = read_children(database, workspace, record) if arguments.children else None
    answer = compose(record, children)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(record: Record, children: Children | None) -> db.Answer:
    """Say the record and its children as text, artifacts and data, in one pass."""
    title = f"{db.one_line(record.table.title)}:{record.key}"
    page = db.Page(budget=_RECORD_BYTES)
    for field in record.fields:
        line = f"  {db.one_line(field.name)}: {field.text}"
        if not page.take([line], [field.name, field.text], [field.name, field.value]):
            break
    lines = [f"{title}{f' {record.label}' if record.label else ''}", *page.lines]
    left = [field.name for field in record.fields[len(page.cells) :]]
    if left:
        lines.append(f"Further columns, by read_records with `fields`: {db.listed(left)}.")
    lines += db.never_shown(record.table)
    data: dict[str, object] = {
        "table": record.table.title,
        "key": record.key,
        "fields": [list(row) for row in page.rows],
    }
    artifacts = [ToolArtifact.key_value(title, [(name, text) for name, text in page.cells])]
    warnings = list(record.warnings)
    if children is not None:
        below = db.Page(budget=db.PAGE_BYTES - _RECORD_BYTES)
        groups = [_say(below, lines, group) for group in children.groups]
        if not children.groups:
            lines.append("No table refers to it.")
        warnings += children.warnings
        data["children"] = groups
        shown = ToolArtifact.table(f"{title} children", _COLUMNS, below.cells, fit=True)
        artifacts.append(shown)
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    return db.Answer("\n".join(lines), tuple(artifacts), data, warnings)


def _say(page: db.Page, lines: list[str], group: Group) -> dict[str, object]:
    """Add the records of one group to the answer, and return them typed."""
    title, by = db.one_line(group.title), db.one_line(group.by)
    said: list[str] = []
    rows: list[list[str]] = []
    for child in group.found:
        line = f"- {title}:{child.key} {child.content}".rstrip()
        cells = [group.title, child.key, group.by, child.content]
        if not page.take([line], cells, cells):
            break
        said.append(line)
        rows.append([child.key, child.content])
    records = f"{db.number_of(group.total)} record{'' if group.total == 1 else 's'}"
    more = group.total != len(rows)
    lines += [f"{title} by {by}: {records}{f', {len(rows)} shown' if more else ''}.", *said]
    if more:
        where = db.where_words(group.where)
        lines.append(f"More by read_records of {title}{where}, offset={len(rows)}.")
    return {"table": group.title, "by": group.by, "total": group.total, "rows": rows}
