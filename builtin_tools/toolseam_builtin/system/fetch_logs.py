"""`fetch_logs`: the newest records of the workspace's logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, excerpt, larger, more_with, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin._logs._matching import Matching
    from toolseam_builtin._logs._opened import Reading

_MOST = 50
_RECORD_CHARACTERS = 12_000
_LINE_CHARACTERS = 2_000
_COLUMNS = ("time", "level", "source", "file", "text")


@asked
class Arguments:
    """What `fetch_logs` is asked."""

    level: Annotated[
        Literal["debug", "info", "warning", "error", "critical"] | None,
        Arg("Only records of this level or a higher one."),
    ] = None
    source: Annotated[
        str | None,
        Arg("Only of this logger and those below it, or of this file.", max_length=300),
    ] = None
    since: Annotated[
        str | None,
        Arg("ISO 8601 date or time, or a span back from now: 30m, 2h, 1d12h.", max_length=40),
    ] = None
    search: Annotated[
        str | None, Arg("Only records that hold this text, whatever the case.", max_length=200)
    ] = None
    limit: Annotated[int, Arg("How many records to show at most.", ge=1, le=_MOST)] = 20


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "fetch_logs",
        group="system",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "Show the newest records of the workspace's logs, the newest first; rotated and gzip"
            " files are read too, tracebacks and other records of many lines stay whole. Secrets"
            " are masked. For one exception with its source, use get_last_exception."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the logs from their end."""
    from toolseam_builtin._logs._matching import matching  # no matter of a listing
    from toolseam_builtin._logs._opened import read_logs

    for name in ("source", "since", "search"):
        value = getattr(arguments, name)
        if value is not None and not value.strip():
            raise ToolError(f"{name} is blank.", ErrorCode.INVALID_ARGUMENTS)
    with read_logs(context, arguments.since) as reading:
        found = matching(
            reading.records,
            limit=arguments.limit,
            level=arguments.level,
            source=arguments.source,
            search=arguments.search,
        )
        answer = compose(found, reading, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(found: Matching, reading: Reading, arguments: Arguments) -> Answer:
    """Say the records, each with its file, its further lines indented."""
    from toolseam_builtin._logs._shown import cut_lines, shown_source, shown_word
    from toolseam_builtin._logs._times import local_zone

    page = Page()
    left_out = 0
    for record, text in found.records:
        lines, missing = cut_lines(text, _RECORD_CHARACTERS)
        first, *more = (excerpt(one_line(line), _LINE_CHARACTERS) for line in lines)
        head = record.head
        file, source = one_line(record.file), shown_source(record)
        said = [f"{file}: {first}", *(f"    {line}" for line in more)]
        shown = "\n".join([first, *more])
        cells = [shown_word(head.when), shown_word(head.named), source, file, shown]
        if not page.take(said, cells, [head.iso, head.level, source or None, file, shown]):
            break
        left_out += missing
    count = len(page.cells)
    asked = [
        f"{name} {value!r}"
        for name, value in (
            ("level at least", arguments.level),
            ("source", arguments.source),
            ("since", arguments.since),
            ("search", arguments.search),
        )
        if value is not None
    ]
    heading = (
        f"{found.total:,} record{'' if found.total == 1 else 's'} in {reading.where}"
        f"{' with ' if asked else ''}{', '.join(asked)}; {count} shown, the newest first."
    )
    notes: list[str] = []
    if count < found.total:
        more_by = larger(count, arguments.limit, _MOST)
        notes.append(more_with(more_by, "a narrower level, source, since or search"))
    if left_out:
        notes.append(f"{left_out:,} lines of long records are left out, where it says so.")
    if found.levelless:
        notes.append(f"{found.levelless:,} records have no level and are left out.")
    if arguments.since is not None:
        notes.append(
            f"Times without a zone count as this host's local time, {local_zone(reading.now)}."
        )
    notes += reading.notes
    data: dict[str, object] = {
        "total": found.total,
        "files": reading.found.files,
        "stopped": reading.budget.stopped,
        "without_level": found.levelless,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Log records", _COLUMNS, page.cells, fit=True)
    warnings = reading.notes
    return Answer("\n".join([one_line(heading), *page.lines, *notes]), (table,), data, warnings)
