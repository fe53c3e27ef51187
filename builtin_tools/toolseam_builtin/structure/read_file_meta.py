"""`read_file_meta`: what is known of one file without showing what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    Effect,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer
from toolseam_builtin._asked import asked
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin._storages import FileFacts, ShownRow, Storages

_ROWS = 10


@asked
class Arguments:
    """What `read_file_meta` is asked."""

    file: Annotated[
        str, Arg("A path in a storage, or storage:path.", min_length=1, max_length=1000)
    ]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="read_file_meta",
        description=(
            "Show what is known of a file in a storage: name, MIME type, size, time of change,"
            " SHA-256, the size of an image, title and alternative text. Not what it holds."
        ),
        parameters=Arguments,
        effect=Effect.READ_ONLY,
        data_class=DataClass.INTERNAL_CONFIGURATION,
        group="structure",
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the file's head and checksum, and the rows that describe it."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    with st.open_storages(context.settings) as storages:
        facts = st.read_facts(storages, arguments.file, st.clock_of(context, st.SECONDS / 2))
        rows, warnings = describing_rows(storages, facts, context)
    answer = compose(facts, rows, warnings)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def describing_rows(
    storages: Storages, facts: FileFacts, context: ToolContext
) -> tuple[list[ShownRow], list[str]]:
    """Return the rows whose file columns point to the file, at most ten, and warnings."""
    from toolseam_builtin import _database as db
    from toolseam_builtin import _storages as st

    texts = st.spellings(facts.storage, facts.look.name, storages.names)
    clock = st.clock_of(context, st.SECONDS / 2)
    try:
        with db.open_database(context.settings, context.deadline) as database:
            return st.describing_rows(database, context.settings, texts, clock, _ROWS)
    except ToolError as failure:
        if failure.code is not ErrorCode.UNAVAILABLE:
            raise
        return [], [f"title and alternative text are not known: {failure.message}"]


def compose(facts: FileFacts, rows: list[ShownRow], warnings: list[str]) -> Answer:
    """Say the facts as lines, as keys with values, and typed."""
    from toolseam_builtin import _storages as st
    from toolseam_builtin._page import one_line

    image, look = facts.image, facts.look
    kind = st.mime_type(look.name)
    if image is not None and image.type != kind:
        warnings = [*warnings, f"the name says {kind}, the content begins like {image.type}"]
    items = [
        ("file", facts.shown),
        ("type", kind),
        ("size", f"{look.size:,} byte{'' if look.size == 1 else 's'}"),
    ]
    if look.modified is not None:
        items.append(("modified", st.moment(look.modified)))
    unread = f"not computed, only {facts.read:,} bytes were read within the limits"
    items.append(("SHA-256", facts.checksum or unread))
    if image is not None and image.width is not None and image.height is not None:
        items.append(("image size", f"{image.width:g} by {image.height:g} pixels"))
    for row in rows:
        alternative = row.alternative_text
        items.append(("record", row.record))
        if row.label:
            items.append(("title", row.label))
        empty = "none" if alternative is None else "empty, so decorative"
        items.append(("alternative text", alternative or empty))
    data: dict[str, object] = {
        "file": facts.shown,
        "storage": facts.storage,
        "name": st.shown_name(look.name),
        "type": kind,
        "content_type": None if image is None else image.type,
        "bytes": look.size,
        "modified": None if look.modified is None else st.moment(look.modified),
        "sha256": facts.checksum,
        "width": None if image is None else image.width,
        "height": None if image is None else image.height,
        "records": [
            {
                "record": row.record,
                "title": row.label or None,
                "alternative_text": row.alternative_text,
            }
            for row in rows
        ],
    }
    lines = [f"{key}: {value}" for key, value in items]
    lines += [f"Warning: {one_line(warning)}" for warning in warnings]
    shown = ToolArtifact.key_value(facts.shown, items)
    return Answer("\n".join(lines), (shown,), data, warnings)
