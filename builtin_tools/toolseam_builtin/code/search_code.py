"""`search_code`: lines of the sources that hold a text or match an expression."""

from __future__ import annotations

import math
import time
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
from toolseam_builtin._page import Page, excerpt, larger, more_with, one_line
from toolseam_builtin.code import PASSED_OVER
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin.code._search import Found

_SECONDS = 1.5
_MARGIN = 0.3
_LINE_CHARACTERS = 200
_MOST = 100
_COLUMNS = ("file", "line", "text")


@asked
class Arguments:
    """What `search_code` is asked."""

    pattern: Annotated[
        str, Arg("The text to find, exactly and in this case.", min_length=1, max_length=200)
    ]
    regex: Annotated[bool, Arg("Take the pattern as a regular expression (RE2), line by line.")] = (
        False
    )
    path: Annotated[
        str, Arg("Only in this folder or file below the source folder.", max_length=1000)
    ] = "."
    max_results: Annotated[int, Arg("How many lines to show at most.", ge=1, le=_MOST)] = 30


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "search_code",
        group="code",
        data_class=DataClass.SOURCE_CODE,
        parameters=Arguments,
        description=(
            "Search the workspace's source and text files line by line, as read_source shows"
            " them. Counts all matching lines. Hidden files and folders named"
            f" {', '.join(sorted(PASSED_OVER))} are passed over."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Search, within a budget."""
    from toolseam_builtin.code._search import Budget, finder, search  # no matter of a listing

    if not arguments.pattern.strip():
        raise ToolError("The pattern is blank.", ErrorCode.INVALID_ARGUMENTS)
    workspace: Workspace = context.settings
    find = finder(arguments.pattern, regex=arguments.regex)
    end = min(time.monotonic() + _SECONDS, (context.deadline or math.inf) - _MARGIN)
    guard = guards.PathGuard(workspace.source_path)
    budget = Budget(end, context.cancelled)
    found = search(guard, arguments.path, find, budget, keep=arguments.max_results)
    answer = compose(found, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(found: Found, arguments: Arguments) -> Answer:
    """Say what was found, in order of file and line, until the limit or the page ends."""
    page = Page()
    for hit in found.hits:
        lead = len(hit.text) - len(hit.text.lstrip())
        text = excerpt(one_line(hit.text.strip()), _LINE_CHARACTERS, hit.place - lead)
        name = one_line(hit.file)
        if not page.take(
            [f"{name}:{hit.line}: {text}"], [name, str(hit.line), text], [hit.file, hit.line, text]
        ):
            break
    shown = len(page.lines)
    kind = "expression" if arguments.regex else "text"
    heading = (
        f"{found.total:,} matching line{'' if found.total == 1 else 's'} in"
        f" {found.matching_files:,} of {found.files:,} files searched, for the {kind}"
        f" {arguments.pattern!r}{'' if arguments.path == '.' else f' in {arguments.path}'};"
        f" {shown} shown."
    )
    notes: list[str] = []
    if shown < found.total:
        asked = arguments.max_results
        more = larger(shown, asked, _MOST, "max_results")
        notes.append(more_with(more, "a narrower path", "a longer pattern"))
    if found.stopped:
        notes.append(f"Stopped at {found.stopped}: the counts hold for what was searched so far.")
    if found.cut:
        notes.append(
            f"Large files, searched in their first {guards.READ_LIMIT:,} bytes: {found.cut:,}."
        )
    if found.passed_over:
        notes.append(f"Files passed over, not text or not to be read: {found.passed_over:,}.")
    data: dict[str, object] = {
        "total": found.total,
        "files": found.files,
        "matching_files": found.matching_files,
        "stopped": found.stopped,
        "passed_over": found.passed_over,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    table = ToolArtifact.table("Matching lines", _COLUMNS, page.cells, fit=True)
    return Answer("\n".join([one_line(heading), *page.lines, *notes]), (table,), data)
