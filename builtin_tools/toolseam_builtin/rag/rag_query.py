"""`rag_query`: evidence for a question, from the workspace's full-text index."""

from __future__ import annotations

import math
import time
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
from toolseam_builtin._page import Page, excerpt, larger, more_with, one_line

if TYPE_CHECKING:
    from toolseam_builtin._index._evidence import Evidence
    from toolseam_builtin.workspace import Workspace

_MOST = 20
_SECONDS = 1.5
_EXCERPT_CHARACTERS = 400
_COLUMNS = ("source", "title", "score", "excerpt")


@asked
class Arguments:
    """What `rag_query` is asked."""

    question: Annotated[
        str, Arg("A question in plain language, or words to find.", min_length=1, max_length=200)
    ]
    limit: Annotated[int, Arg("How many sources at most.", ge=1, le=_MOST)] = 8


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "rag_query",
        "rag",
        Arguments,
        "Find evidence for a question in the workspace's texts: folders and columns that its"
        " full-text index was built from. Texts with all of the question's words come first."
        " Read a source in full with rag_fetch_source.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Look the question up."""
    from toolseam_builtin._index._evidence import find_evidence  # no matter of a listing

    if not arguments.question.strip():
        raise ToolError("The question is blank.", ErrorCode.INVALID_ARGUMENTS)
    workspace: Workspace = context.settings
    end = min(time.monotonic() + _SECONDS, context.deadline or math.inf)
    evidence = find_evidence(workspace, arguments.question, arguments.limit, end)
    answer = compose(evidence, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(evidence: Evidence, arguments: Arguments) -> db.Answer:
    """Say the evidence, the best first, each excerpt quoted."""
    page = Page()
    for number, each in enumerate(evidence.hits, 1):
        title = one_line(each.title)
        text = excerpt(one_line(each.text), _EXCERPT_CHARACTERS, each.place)
        score = f"{each.score:.2f}"
        changed = ", changed since it was indexed" if each.changed else ""
        lines = [f"{number}. {each.source_id} · {title} (score {score}{changed})", f"> {text}"]
        row = [each.source_id, title, float(score), text]
        if not page.take(lines, [each.source_id, title, score, text], row):
            break
    shown = len(page.cells)
    lines = [_heading(evidence, arguments.question, shown), *page.lines, *evidence.notes]
    if evidence.total is None or evidence.total > shown:
        lines.append(more_with(larger(shown, arguments.limit, _MOST), "rarer words"))
    if shown:
        lines.append("Read a source in full with rag_fetch_source.")
    data: dict[str, object] = {
        "total": evidence.total,
        "words": list(evidence.words),
        "built": evidence.built,
        "columns": list(_COLUMNS),
        "rows": page.rows,
    }
    lines += [f"Warning: {one_line(warning)}" for warning in evidence.warnings]
    table = ToolArtifact.table("Evidence", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, list(evidence.warnings))


def _heading(evidence: Evidence, question: str, shown: int) -> str:
    asked = one_line(repr(question))
    if not evidence.words:
        return f"No evidence for {asked}: {evidence.silence}."
    total = "an uncounted number" if evidence.total is None else f"{evidence.total:,}"
    return f"Evidence for {asked}: {shown} of {total} sources with any of its words."
