"""`find_missing_files`: rows that point to a file that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin._storages import Missing

_COLUMNS = ("record", "column", "file", "label")


@asked
class Arguments:
    """What `find_missing_files` is asked."""

    storage: Annotated[
        str | None,
        Arg("Only files of this storage; a path without a storage may be in any.", max_length=200),
    ] = None
    limit: Annotated[int, Arg("How many rows at most.", ge=1, le=50)] = 20
    offset: Annotated[int, Arg("How many rows to pass over.", ge=0, le=1_000_000)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "find_missing_files",
        "files",
        Arguments,
        "Find rows of the database whose file columns point to a file that is in no storage. The"
        " columns are those that the workspace names, else those called after files.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Compare the rows with the storages, within a budget."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    clock = st.clock_of(context)
    with (
        st.open_storages(context.settings) as storages,
        db.open_database(context.settings, context.deadline) as database,
    ):
        stock = st.take_stock(storages, clock)
        page = (arguments.offset, arguments.limit)
        comparison = st.Comparison(storages, stock, clock, storages.named(arguments.storage), *page)
        missing = comparison.run(database, context.settings)
    answer = compose(missing, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(missing: Missing, arguments: Arguments) -> db.Answer:
    """Say the rows of one page as text, table and data, in one pass."""
    page = db.Page()
    for file in missing.files:
        record, column = file.record, db.one_line(file.column)
        label = f" ({file.label})" if file.label else ""
        cells = [record, column, file.file, file.label]
        if not page.take([f"- {record} {column}: {file.file}{label}"], cells, cells):
            break
    count = len(page.lines)
    following = arguments.offset + count
    more = count > 0 and following < missing.total
    notes = [db.more_with(f"offset={following}")] if more else []
    if missing.others:
        notes.append(f"Passed over, no paths of such files: {missing.others:,}.")
    if missing.unjudged:
        notes.append(
            "Not judged, since outside, denied or in a storage that cannot be read:"
            f" {missing.unjudged:,}."
        )
    warnings = list(missing.warnings)
    if missing.stopped:
        tables = db.listed(missing.stopped)
        warnings.append(f"the time limit ended the search; not read to their end: {tables}")
    if any(not source.named for source in missing.sources):
        warnings.append(
            "the columns were guessed by name; name them:"
            ' files = ["..."] in [workspace.tables.<table>]'
        )
    data: dict[str, object] = {
        "total": missing.total,
        "complete": not missing.stopped,
        "rows_read": missing.rows,
        "unjudged": missing.unjudged,
        "next_offset": following if more else None,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    lines = [_heading(missing, arguments, count), *page.lines, *notes]
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    table = ToolArtifact.table("missing files", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, warnings)


def _heading(missing: Missing, arguments: Arguments, count: int) -> str:
    from toolseam_builtin import _storages as st

    if not missing.sources:
        return (
            "No readable table has columns that point to files; name them:"
            ' files = ["..."] in [workspace.tables.<table>].'
        )
    where = "" if arguments.storage is None else f" of storage {db.one_line(arguments.storage)}"
    looked = f"{missing.rows:,} row{'' if missing.rows == 1 else 's'} of"
    looked = f"{looked} {st.columns_said(missing.sources)} read"
    if not missing.total:
        return f"No missing file{where}; {looked}."
    plural = "" if missing.total == 1 else "s"
    shown = db.shown_range(arguments.offset, count)
    least = "At least " if missing.stopped else ""
    return f"{least}{missing.total:,} reference{plural} to missing files{where}, {shown}; {looked}."
