"""`get_file_references`: rows that point to one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin._storages import Pointers, Target

_PAGE = 100
_COLUMNS = ("record", "column", "value", "label", "via")
_UNTRACKED = (
    "Not tracked: what free text, markup or JSON mentions, and tables that are not readable."
)


@asked
class Arguments:
    """What `get_file_references` is asked."""

    file: Annotated[
        str, Arg("A path in a storage, or storage:path.", min_length=1, max_length=1000)
    ]
    offset: Annotated[int, Arg("How many rows to pass over.", ge=0, le=1_000_000)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "get_file_references",
        "files",
        Arguments,
        "Find the rows of the database that point to a file, by columns that the workspace names"
        " or that are called after files, and the rows that belong to those by a foreign key."
        " A file that is gone may be asked for. Free text is not tracked.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Search the rows, within a budget."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    clock = st.clock_of(context)
    with st.open_storages(context.settings) as storages:
        target = st.find_target(storages, arguments.file)
    with db.open_database(context.settings, context.deadline) as database:
        pointing = st.Pointing(target.texts, clock, arguments.offset, _PAGE)
        pointers = pointing.run(database, context.settings)
    answer = compose(target, pointers, arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(target: Target, pointers: Pointers, offset: int) -> db.Answer:
    """Say the rows of one page as text, table and data, in one pass."""
    page = db.Page()
    for row in pointers.rows:
        column, label = db.one_line(row.column), f" ({row.label})" if row.label else ""
        cells = [row.record, column, row.value, row.label, row.via]
        line = f"- {row.record}{label}{_linked(row.via)} {column} = {row.value}"
        if not page.take([line], cells, [*cells[:4], row.via or None]):
            break
    count = len(page.lines)
    more = count > 0 and offset + count < pointers.total
    notes = [db.more_with(f"offset={offset + count}")] if more else []
    if not pointers.followed:
        notes.append("What belongs to the rows was followed for the first 20 alone.")
    warnings = list(pointers.warnings)
    if pointers.stopped:
        tables = db.listed(pointers.stopped)
        warnings.append(f"a limit ended the search; not read to their end: {tables}")
    data: dict[str, object] = {
        "file": target.file,
        "there": target.there,
        "total": pointers.total,
        "complete": not pointers.stopped and pointers.followed,
        "next_offset": offset + count if more else None,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    lines = [_heading(target, pointers, offset, count), *page.lines, *notes, _UNTRACKED]
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    table = ToolArtifact.table("references to the file", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, warnings)


def _linked(via: str) -> str:
    return f", linked with {via} by" if via else ""


def _heading(target: Target, pointers: Pointers, offset: int, count: int) -> str:
    from toolseam_builtin import _storages as st

    file = f"{target.file}{'' if target.there else ' (which is gone)'}"
    if not pointers.sources:
        return (
            f"No readable table has columns that point to files, so none points to {file}; name"
            ' them: files = ["..."] in [workspace.tables.<table>].'
        )
    looked = f"looked at {st.columns_said(pointers.sources)}"
    if not pointers.total:
        return f"No row points to {file}; {looked}."
    direct = pointers.total - pointers.linked
    number = f"{direct:,} row{' points' if direct == 1 else 's point'}"
    them = "it" if direct == 1 else "them"
    linked = f", {pointers.linked:,} linked with {them}" if pointers.linked else ""
    return f"{number} to {file}{linked}, {db.shown_range(offset, count)}; {looked}."
