"""`search_files`: files by name, title and alternative text."""

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
    from toolseam_builtin._storages import Found, Hit, Search

_MOST = 50
_COLUMNS = ("file", "type", "size", "record", "title", "alternative text")


@asked
class Arguments:
    """What `search_files` is asked."""

    query: Annotated[
        str,
        Arg(
            "A part of a file's name, title or alternative text, whatever the case; with a slash,"
            " of its path.",
            min_length=1,
            max_length=100,
        ),
    ]
    storage: Annotated[str | None, Arg("Only this storage.", max_length=200)] = None
    limit: Annotated[int, Arg("How many files at most.", ge=1, le=_MOST)] = 20


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "search_files",
        "files",
        Arguments,
        "Search the file storages by file name, and by the title and the alternative text that"
        " the database has for files. What a file holds is not searched.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Search, within a budget."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    if not arguments.query.strip():
        raise ToolError("The query is blank.", ErrorCode.INVALID_ARGUMENTS)
    clock = st.clock_of(context)
    with st.open_storages(context.settings) as storages:
        storage = storages.named(arguments.storage)
        found = st.Found(warnings=storages.unopened() if storage is None else [])
        stock = st.take_stock(storages, clock)
        search = st.Search(storages, stock, clock, arguments.query, storage)
        search.names(found)
        hits = find_described(search, found, arguments.limit, context)
    found.stopped += [f"{name} ({reason})" for name, reason in stock.unseen.items()]
    files = sum(map(len, stock.files.values()))
    answer = compose(found, hits, files, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def find_described(search: Search, found: Found, limit: int, context: ToolContext) -> list[Hit]:
    """Add what the database describes; without one, the names alone are the answer."""
    try:
        with db.open_database(context.settings, context.deadline) as database:
            search.rows(database, context.settings, found)
            return search.hits(database, found, limit)
    except ToolError as failure:
        if failure.code is not ErrorCode.UNAVAILABLE:
            raise
        found.warnings.append(f"titles and alternative texts were not searched: {failure.message}")
        return search.hits(None, found, limit)


def compose(found: Found, hits: list[Hit], files: int, arguments: Arguments) -> db.Answer:
    """Say the files as text, table and data, in one pass."""
    page = db.Page()
    for hit in hits:
        cells, row = _cells(hit)
        file, kind, size, record, title, alternative = cells
        said = [f"- {file} ({', '.join(part for part in (kind, size) if part)})"]
        if record:
            said.append(f"  {record}{f' {title}' if title else ''}")
        if alternative:
            said.append(f"  alternative text: {alternative}")
        if not page.take(said, cells, row):
            break
    total, count = len(found.places), len(page.cells)
    least = "at least " if found.stopped else ""
    looked = f"{files:,} file{'' if files == 1 else 's'} looked at"
    if found.sources:
        from toolseam_builtin import _storages as st

        looked += f", titles and texts beside {st.columns_said(found.sources)}"
    number = "No file" if not total else f"{least}{total:,} file{'' if total == 1 else 's'}"
    shown = f", {count:,} shown" if total else ""
    heading = f"{number[:1].upper()}{number[1:]} for {arguments.query!r}{shown}; {looked}."
    narrower = "one `storage`" if arguments.storage is None else ""
    ways = (db.larger(count, arguments.limit, _MOST), "a longer query", narrower)
    notes = [db.more_with(*ways)] if count < total else []
    warnings = list(found.warnings)
    if found.stopped:
        warnings.append(f"not looked at to the end: {db.listed(found.stopped)}")
    data: dict[str, object] = {
        "total": total,
        "complete": not found.stopped,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    lines = [db.one_line(heading), *page.lines, *notes]
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    table = ToolArtifact.table("files found", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, warnings)


def _cells(hit: Hit) -> tuple[list[str], list[object]]:
    from toolseam_builtin import _storages as st

    name = st.shown_name(hit.place.name)
    file = f"{db.one_line(hit.place.storage)}:{name}" if hit.place.storage else name
    kind = st.mime_type(hit.place.name)
    if hit.look is not None:
        size = st.size_text(hit.look.size)
    else:
        said = {None: "not looked at", ErrorCode.NOT_FOUND: "gone"}
        size = said.get(hit.refusal, "not to be read")
    record = "" if hit.row is None else hit.row.record
    title = "" if hit.row is None else hit.row.label
    alternative = None if hit.row is None else hit.row.alternative_text
    row = [file, kind, None if hit.look is None else hit.look.size, record or None]
    return [file, kind, size, record, title, alternative or ""], [*row, title or None, alternative]
