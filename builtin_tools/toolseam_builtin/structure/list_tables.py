"""`list_tables`: every table and view that may be read."""

from __future__ import annotations

from typing import Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

_COLUMNS = ("name", "kind", "rows", "comment")


@asked
class Arguments:
    """What `list_tables` is asked."""

    filter: Annotated[
        str | None, Arg("Only names that hold this, whatever the case.", max_length=200)
    ] = None
    schema: Annotated[str | None, Arg("Only this schema.", max_length=200)] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "list_tables",
        "structure",
        Arguments,
        "List the readable tables and views of the workspace's database with kind,"
        " estimated number of rows and comment.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """List the tables."""
    with db.open_database(context.settings, context.deadline) as database:
        entries = database.tables(arguments.schema)
        dialect = database.dialect
    answer = compose(dialect, entries, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(dialect: str, entries: list[db.Entry], arguments: Arguments) -> db.Answer:
    """Say the entries that match as text, table and data, in one pass."""
    wanted = (arguments.filter or "").casefold()
    matching = [entry for entry in entries if wanted in entry.title.casefold()]
    page = db.Page()
    warnings: list[str] = []
    for entry in matching:
        name, comment = db.one_line(entry.title), db.engine_text(entry.comment or "")
        rows = _rows(entry)
        counted = f"{rows} row{'' if rows == '1' else 's'}" if rows else ""
        notes = [part for part in (entry.kind, counted, comment) if part]
        row = [entry.title, entry.kind, entry.rows, entry.comment and comment]
        if not page.take([f"- {name}: {', '.join(notes)}"], [name, entry.kind, rows, comment], row):
            break
        if entry.fault is not None:
            warnings.append(entry.fault)
    lines = [_heading(dialect, len(entries), len(matching), arguments), *page.lines]
    count = len(page.cells)
    if count < len(matching):
        lines.append(f"The first {count:,} are shown. {db.more_with('a narrower filter')}")
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    data: dict[str, object] = {
        "dialect": dialect,
        "total": len(matching),
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("tables", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, warnings)


def _heading(dialect: str, total: int, matching: int, arguments: Arguments) -> str:
    parts = f"{total:,} readable table{'' if total == 1 else 's'} and views"
    place = f" in schema {db.one_line(arguments.schema)!r}" if arguments.schema else ""
    chosen = f", {matching:,} with {arguments.filter!r} in the name" if arguments.filter else ""
    return f"{dialect}: {parts}{place}{chosen}."


def _rows(entry: db.Entry) -> str:
    if entry.rows is None:
        return ""
    return f"more than {entry.rows:,}" if entry.at_least else f"{entry.rows:,}"
