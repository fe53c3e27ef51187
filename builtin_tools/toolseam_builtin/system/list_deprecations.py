"""`list_deprecations`: the distinct deprecation warnings in the workspace's logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, DataClass, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, excerpt, larger, more_with, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam_builtin._logs._opened import Reading
    from toolseam_builtin._logs._warnings import Deprecation, Seen

_MOST = 40
_CHARACTERS = 400
_COLUMNS = ("times", "place", "category", "message", "last")


@asked
class Arguments:
    """What `list_deprecations` is asked."""

    limit: Annotated[int, Arg("How many warnings to show at most.", ge=1, le=_MOST)] = 15


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "list_deprecations",
        group="system",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "List the distinct deprecation warnings in the workspace's logs (DeprecationWarning,"
            " FutureWarning and those of libraries) with place and count, the most frequent first."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the logs back, and count."""
    from toolseam_builtin._logs._opened import read_logs  # no matter of a listing
    from toolseam_builtin._logs._warnings import deprecations

    workspace: Workspace = context.settings
    with read_logs(context) as reading:
        found = deprecations(reading.records)
        answer = compose(found, reading, workspace.place, arguments.limit)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(found: dict[Deprecation, Seen], reading: Reading, folder: Path, limit: int) -> Answer:
    """Say each warning once, the most frequent first, then the one seen last."""
    from toolseam_builtin._logs._shown import shown_path, shown_word

    page = Page()
    ordered = sorted(found.items(), key=lambda item: item[1].count, reverse=True)
    for warning, seen in ordered[:limit]:
        path = one_line(shown_path(warning.file, folder)) if warning.file else ""
        place = f"{path}:{warning.line}" if path else ""
        message = excerpt(one_line(warning.message), _CHARACTERS)
        last = shown_word(seen.newest.head.when)
        category = warning.category
        count = f"{seen.count:,} time{'' if seen.count == 1 else 's'}"
        line = f"- {f'{place}: ' if place else ''}{category}: {message} ({count}"
        line += f", last {last})" if last else ")"
        cells = [f"{seen.count:,}", place, category, message, last]
        row = [seen.count, path or None, warning.line, category, message, seen.newest.head.iso]
        if not page.take([line], cells, row):
            break
    total, shown = len(found), len(page.lines)
    order = ", the most frequent first" if shown > 1 else ""
    times = sum(seen.count for seen in found.values())
    heading = (
        f"{total:,} distinct deprecation warning{'' if total == 1 else 's'}, logged"
        f" {times:,} time{'' if times == 1 else 's'}, in {reading.where}; {shown} shown{order}."
    )
    notes = reading.notes
    if shown < total:
        notes = [more_with(larger(shown, limit, _MOST), "fetch_logs and its search"), *notes]
    data: dict[str, object] = {
        "total": total,
        "times": times,
        "stopped": reading.budget.stopped,
        "columns": ["times", "file", "line", "category", "message", "last"],
        "rows": page.rows,
    }
    table = ToolArtifact.table("Deprecation warnings", _COLUMNS, page.cells, fit=True)
    text = "\n".join([heading, *page.lines, *notes])
    return Answer(text, (table,), data, reading.notes)
