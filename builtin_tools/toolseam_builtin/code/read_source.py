"""`read_source`: numbered lines of one source file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    guards,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, excerpt, one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin.code._source import Source

_LINE_CHARACTERS = 500


@asked
class Arguments:
    """What `read_source` is asked."""

    path: Annotated[
        str, Arg("A file below the source folder, such as shop/models.py.", max_length=1000)
    ]
    from_line: Annotated[int, Arg("The first line to show.", ge=1, le=10_000_000)] = 1
    lines: Annotated[int, Arg("How many lines at most.", ge=1, le=200)] = 60


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "read_source",
        group="code",
        data_class=DataClass.SOURCE_CODE,
        parameters=Arguments,
        description=(
            "Show numbered lines of a source or text file of the workspace, and how many it has."
            " What is assigned to a sensitive name is masked; hidden files, keys and credential"
            " files are not read."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the lines asked for."""
    from toolseam_builtin.code._source import read_lines  # no matter of a listing

    workspace: Workspace = context.settings
    source = read_lines(guards.PathGuard(workspace.source_path), arguments.path)
    if source is None:
        raise ToolError("The file is not text.", ErrorCode.INVALID_ARGUMENTS)
    answer = compose(source, arguments.from_line, arguments.lines)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(source: Source, first: int, limit: int) -> Answer:
    """Number the lines from `first` on, until the limit, the page or the file ends."""
    page = Page()
    width = len(str(first + limit - 1))
    for number, line in enumerate(source.lines[first - 1 : first - 1 + limit], first):
        shown = excerpt(line, _LINE_CHARACTERS)
        numbered = f"{number:>{width}} | {shown}"
        if not page.take([numbered], [str(number), shown], [number, shown]):
            break
    total = len(source.lines)
    last = first + len(page.lines) - 1
    name = one_line(source.name)
    said = f"{total:,} line{'' if total == 1 else 's'}"
    heading = f"{name}: lines {first:,} to {last:,} of {total:,}."
    if not page.lines:
        after = f"; from_line={first} is past the end" if total else ""
        heading = f"{name} has {said}{after}."
    notes = [f"More with from_line={last + 1}."] if page.lines and last < total else []
    if not source.complete:
        notes.append(
            f"The file has {source.size:,} bytes; only the lines of its first {guards.READ_LIMIT:,}"
            " are read and counted."
        )
    if not source.exact:
        notes.append("What could not be decoded shows as \ufffd.")
    data: dict[str, object] = {
        "path": source.name,
        "total_lines": total,
        "complete": source.complete,
        "next_line": last + 1 if page.lines and last < total else None,
        "columns": ["line", "text"],
        "rows": page.rows,
    }
    texts = [text for _, text in page.cells]
    code = ToolArtifact.code(source.name, texts, first_line=first, language=source.language)
    artifacts = (code,) if page.lines else ()
    return Answer("\n".join([heading, *page.lines, *notes]), artifacts, data)
