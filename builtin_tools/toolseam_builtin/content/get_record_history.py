"""`get_record_history`: who changed what of a record and when, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.content._changes import Changes
    from toolseam_builtin.workspace import Workspace

_MOST = 20
_COLUMNS = ("when", "who", "field", "old", "new")


@asked
class Arguments:
    """What `get_record_history` is asked."""

    table: Annotated[str, Arg("The record's table.", min_length=1, max_length=200)]
    key: Annotated[str | int, Arg("The record's key, as read_records shows it.", max_length=200)]
    field: Annotated[
        str | None, Arg("Changes of this column only.", min_length=1, max_length=200)
    ] = None
    limit: Annotated[int, Arg("How many changes at most.", ge=1, le=_MOST)] = 10


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_record_history",
        "content",
        Arguments,
        "Tell who changed what of one record and when, newest first, old → new, from the"
        " workspace's history table.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the newest changes."""
    from toolseam_builtin.content._changes import Asked, read_changes

    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        table = database.table(arguments.table)
        history = db.find_history(database, table, workspace.table_settings(table.name))
        asked = Asked(table, arguments.key, arguments.field)
        changes = read_changes(database, history, asked, limit=arguments.limit)
    answer = compose(changes)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(changes: Changes) -> db.Answer:
    """Say the changes as text, table and data, in one pass over the same cells."""
    record = f"{db.one_line(changes.title)}:{db.one_line(changes.key)}"
    page = db.Page()
    for change in changes.found:
        cells = [change.when, change.who, change.field, change.old, change.new]
        moment = f"{change.when or 'at an unknown time'} by {change.who or '(unknown)'}"
        values = " ".join(filter(None, (change.old, "→", change.new)))
        line = f"- {moment}: {change.field}{'' if values == '→' else f': {values}'}"
        if not page.take([line], cells, cells):
            break
    count = len(page.cells)
    more = changes.more or count < len(changes.found)
    of = "" if changes.field is None else f" of {db.one_line(changes.field)}"
    number = "no change" if not count else f"{count} change{'' if count == 1 else 's'}"
    order = ", newest first" if count > 1 else ""
    source = f" (from {db.one_line(changes.source)})"
    lines = [f"{record}: {number}{of}{order}{source}.", *page.lines]
    if more:
        narrower = "one `field`" if changes.field is None else ""
        larger = db.larger(count, len(changes.found), _MOST)
        reading = f"read_records of {db.one_line(changes.source)}"
        lines.append(f"Older changes exist. {db.more_with(larger, narrower, reading)}")
    warnings = [] if changes.complete else [db.stopped(changes.source)]
    data: dict[str, object] = {
        "table": changes.title,
        "key": changes.key,
        "history": changes.source,
        "more": more,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    text = "\n".join([*lines, *(f"Warning: {db.one_line(warning)}" for warning in warnings)])
    label = f"{changes.title}:{changes.key} history"
    shown = ToolArtifact.table(label, _COLUMNS, page.cells, fit=True)
    return db.Answer(text, (shown,), data, warnings)
