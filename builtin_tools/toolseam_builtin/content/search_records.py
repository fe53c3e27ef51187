"""`search_records`: where a text stands in the records, in all tables or in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin.content._searching import Search
    from toolseam_builtin.workspace import Workspace

_MOST = 50
_COLUMNS = ("table", "key", "label", "field", "excerpt")


@asked
class Arguments:
    """What `search_records` is asked."""

    query: Annotated[
        str, Arg("A part of a text, at least 2 characters or a sign.", min_length=1, max_length=100)
    ]
    table: Annotated[
        str | None, Arg("One table or view; all tables by default.", min_length=1, max_length=200)
    ] = None
    limit: Annotated[int, Arg("How many records at most.", ge=1, le=_MOST)] = 20


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "search_records",
        "content",
        Arguments,
        "Find records of the workspace's database that hold a text, whatever its case: literally,"
        " without wildcards. Looks into the text columns of every table, or of `table`.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Search."""
    from toolseam_builtin.content._searching import search_tables

    text = arguments.query
    if not text.strip() or (len(text) == 1 and text.isascii() and text.isalnum()):
        raise ToolError(
            "query must be at least 2 characters, or a sign, and not blank.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    workspace: Workspace = context.settings
    with db.open_database(workspace, context.deadline) as database:
        found = search_tables(database, workspace, text, arguments.table, arguments.limit)
    answer = compose(found, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(found: Search, arguments: Arguments) -> db.Answer:
    """Say the hits as text, table and data, in one pass over the same cells."""
    page = db.Page()
    hits = [(table, hit) for table in found.tables for hit in table.hits]
    for table, hit in hits[: arguments.limit]:
        title = db.one_line(table.title)
        label = f" {hit.label}" if hit.label else ""
        also = f" (also in {db.listed(hit.also)})" if hit.also else ""
        lines = [f"- {title}:{hit.key}{label}", f"  {db.one_line(hit.field)}: {hit.excerpt}{also}"]
        cells = [table.title, hit.key, hit.label, hit.field, hit.excerpt]
        if not page.take(lines, cells, cells):
            break
    count = len(page.cells)
    more = count < len(hits)
    warnings = [fault for table in found.tables for fault in table.faults]
    late = [table.title for table in found.tables if not table.complete]
    if late:
        warnings.append(
            f"the search was stopped at the time limit; not searched to the end: {db.listed(late)}"
        )
    lines = [
        _heading(found, arguments, count),
        *page.lines,
        *_closing(found, arguments, count, more=more),
    ]
    data: dict[str, object] = {
        "query": arguments.query,
        "searched": [table.title for table in found.tables if table.complete],
        "stopped": late,
        "not_searched": list(found.left),
        "more": more or bool(found.left),
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    text = "\n".join([*lines, *(f"Warning: {db.one_line(warning)}" for warning in warnings)])
    shown = ToolArtifact.table("search hits", _COLUMNS, page.cells, fit=True)
    return db.Answer(text, (shown,), data, warnings)


def _heading(found: Search, arguments: Arguments, count: int) -> str:
    number = "no record" if not count else f"{count:,} record{'' if count == 1 else 's'}"
    tables = len(found.tables)
    place = f"{tables:,} table{'' if tables == 1 else 's'}"
    if arguments.table is not None:
        place = db.one_line([*(table.title for table in found.tables), *found.textless][0])
    return f"{db.one_line(db.echo(arguments.query))} in {place}: {number}."


def _closing(found: Search, arguments: Arguments, count: int, *, more: bool) -> list[str]:
    narrower = "one `table`" if arguments.table is None else ""
    ways = (db.larger(count, arguments.limit, _MOST), "a longer query", narrower)
    lines = [f"More records match. {db.more_with(*ways)}"] if more else []
    if found.left:
        lines.append(f"Not searched, since the answer is full: {db.listed(found.left)}.")
    if found.textless:
        lines.append(f"Without a text column: {db.listed(found.textless)}.")
    if found.views:
        lines.append(f"Searched only when named: {db.listed(found.views)}.")
    return lines
