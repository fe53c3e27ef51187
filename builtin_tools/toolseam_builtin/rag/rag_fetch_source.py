"""`rag_fetch_source`: the text of one source of the index, a page at a time."""

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
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from toolseam_builtin._index._evidence import Fetched
    from toolseam_builtin.workspace import Workspace

_SECONDS = 1.5
_PAGE_CHARACTERS = 8_000
_MOST_PAGES = 1_000


@asked
class Arguments:
    """What `rag_fetch_source` is asked."""

    source_id: Annotated[
        str, Arg("The id of a source, as rag_query gives it.", min_length=1, max_length=500)
    ]
    page: Annotated[int, Arg("Which page of the text, from 1.", ge=1, le=_MOST_PAGES)] = 1


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "rag_fetch_source",
        "rag",
        Arguments,
        "Read a source that rag_query found: its text as it was indexed, each line quoted with"
        f" '> ', {_PAGE_CHARACTERS:,} characters a page.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Fetch the text."""
    from toolseam_builtin._index._evidence import fetch_source  # no matter of a listing

    workspace: Workspace = context.settings
    end = min(time.monotonic() + _SECONDS, context.deadline or math.inf)
    answer = compose(fetch_source(workspace, arguments.source_id, end), arguments.page)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(fetched: Fetched, page: int) -> db.Answer:
    """Quote one page of the text."""
    pages = pages_of(fetched.text)
    if page > len(pages):
        raise ToolError(
            f"The source has {len(pages)} page{'' if len(pages) == 1 else 's'}.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    source = fetched.source
    shown = pages[page - 1]
    lines = [one_line(line) for line in shown.removesuffix("\n").split("\n")]
    title = one_line(source.title)
    heading = f"{source.source_id} · {title}, page {page} of {len(pages)}"
    text = [
        f"{heading} ({len(fetched.text):,} characters in all).",
        *(f"> {each}" for each in lines),
    ]
    if page < len(pages):
        text.append(f"More with page={page + 1}.")
    warnings: list[str] = []
    if source.cut:
        warnings.append("only the beginning of this source was indexed.")
    if fetched.changed:
        warnings.append("the file has changed since it was indexed.")
    text += [*fetched.notes, *(f"Warning: {warning}" for warning in warnings)]
    first = sum(each.count("\n") for each in pages[: page - 1]) + 1
    data: dict[str, object] = {
        "source_id": source.source_id,
        "title": title,
        "page": page,
        "pages": len(pages),
        "characters": len(fetched.text),
        "text": shown,
    }
    excerpt = ToolArtifact.code(f"{title}, page {page}", lines, first_line=first)
    return db.Answer("\n".join(text), (excerpt,), data, warnings)


def pages_of(text: str) -> list[str]:
    """Cut a text into pages of at most 8,000 characters, at a line end where there is one."""
    pages: list[str] = []
    at = 0
    while at < len(text):
        end = at + _PAGE_CHARACTERS
        if end < len(text):
            line_end = text.rfind("\n", at + _PAGE_CHARACTERS // 2, end)
            end = line_end + 1 if line_end >= 0 else end
        pages.append(text[at:end])
        at = end
    return pages or [""]
