"""`set_file_alternative_text`: what a picture shows, for people who cannot see it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    Effect,
    ErrorCode,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked
from toolseam_builtin.editing._room import previewed, writing_spec, written

if TYPE_CHECKING:
    from toolseam_builtin._database._writing._model import Plan
    from toolseam_builtin._storages import FileColumns
    from toolseam_builtin.workspace import Workspace

_ROWS = 20
_NAMED = 5


@asked
class Arguments:
    """What `set_file_alternative_text` is asked."""

    file: Annotated[str, Arg("Path of a file, or storage:path.", min_length=1, max_length=1000)]
    text: Annotated[
        str, Arg("What the file shows; empty marks it as decoration.", max_length=20_000)
    ]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return writing_spec(
        "set_file_alternative_text",
        Effect.IDEMPOTENT_WRITE,
        Arguments,
        "Set the alternative text of a file in the record that describes it; the file itself is"
        " not touched, and no record is made.",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Say the old text and the new one."""
    return ToolResult.text(previewed(context, partial(make_plan, arguments)))


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Set the text in one transaction with its history."""
    answer = written(context, partial(make_plan, arguments))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(arguments: Arguments, database: db.Database, workspace: Workspace) -> Plan:
    """Find the one record that describes the file, and say its old text and the new one."""
    from toolseam_builtin.editing import _plans as plans
    from toolseam_builtin.editing import _records as records
    from toolseam_builtin.editing._shown import quoted

    title, key, path = _described(arguments.file, database, workspace)
    found = records.target(database, workspace, title)
    name = records.named_column(found, "alternative_text").name
    values = records.assigned(found, {name: arguments.text}, records.editable(found))
    record = records.read(found, key, values)
    return plans.changing(
        found, record, values, verbs=("Describe", "Described"), notes=(f"file: {quoted(path)}",)
    )


def _described(file: str, database: db.Database, workspace: Workspace) -> tuple[str, str, str]:
    """Return the table, the key and the path of the one record that points to a file."""
    from toolseam_builtin._storages import parse
    from toolseam_builtin._storages._places import places

    names = [place.name for place in places(workspace)]
    wanted = parse(file, names)
    if wanted is None:
        raise ToolError("`file` is no path inside a storage.", ErrorCode.INVALID_ARGUMENTS)
    found: list[tuple[str, str, str]] = []
    for source in _sources(database, workspace):
        storages = names if wanted.storage is None else [wanted.storage]
        for row in database.rows(source.query(_ROWS, among=_among(source, storages, wanted.path))):
            row_file = source.row(row)
            for _, text in row_file.paths():
                reference = parse(text, names)
                if reference and any(reference.means(name, wanted.path) for name in storages):
                    key = row_file.shown().record.partition(":")[2]
                    found.append((source.table.title, key, text))
    if not found:
        raise ToolError("No record describes that file.", ErrorCode.NOT_FOUND)
    if len(found) > 1:
        listed = ", ".join(f"{title}:{key}" for title, key, _ in found[:_NAMED])
        raise ToolError(
            f"{len(found)} records describe that file: {listed}. update_record_metadata changes"
            " one of them.",
            ErrorCode.CONFLICT,
        )
    return found[0]


def _sources(database: db.Database, workspace: Workspace) -> list[FileColumns]:
    from toolseam_builtin._storages import file_tables

    sources = [
        source
        for source in file_tables(database, workspace)[0]
        if workspace.table_settings(source.table.name).alternative_text is not None
    ]
    if not sources:
        raise db.unavailable(
            'No table describes files; name one: files = [...] and alternative_text = "..." in a'
            " table [workspace.tables.<name>].",
            "not_configured",
        )
    return sources


def _among(source: FileColumns, storages: list[str], path: str) -> db.Among:
    from toolseam_builtin._storages import spellings

    texts = dict.fromkeys(text for name in storages for text in spellings(name, path, storages))
    return db.Among(tuple(texts), source.columns)
