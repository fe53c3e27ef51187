"""`create_translation_draft`: a copy of a record in another language, as a draft."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, Effect, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._asked import asked
from toolseam_builtin.editing._room import previewed, writing_spec, written

if TYPE_CHECKING:
    from toolseam_builtin import _database as db
    from toolseam_builtin._database._writing._model import Plan
    from toolseam_builtin.workspace import Workspace


@asked
class Arguments:
    """What `create_translation_draft` is asked."""

    table: Annotated[str, Arg("A table, or schema.table.", min_length=1, max_length=200)]
    key: Annotated[str | int, Arg("The key of the original.", max_length=200)]
    language: Annotated[
        str, Arg("The language, as the table writes it: `de`.", min_length=1, max_length=35)
    ]
    overwrite: Annotated[
        bool, Arg("Copy over a translation that is there; it becomes a draft.")
    ] = False


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return writing_spec(
        "create_translation_draft",
        Effect.NON_IDEMPOTENT_WRITE,
        Arguments,
        "Copy a record as a draft in another language, to be translated. A translation that is"
        " there is a conflict unless `overwrite` is true.",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Say what the copy would hold, and what it would overwrite."""
    return ToolResult.text(previewed(context, partial(make_plan, arguments)))


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Copy the record in one transaction with its history."""
    answer = written(context, partial(make_plan, arguments))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(arguments: Arguments, database: db.Database, workspace: Workspace) -> Plan:
    """Find the original and what there is of a translation, and say what is copied."""
    from toolseam_builtin.editing import _records as records
    from toolseam_builtin.editing import _translations as translations

    found = records.target(database, workspace, arguments.table)
    roles = translations.roles_of(found)
    original = translations.original(roles, arguments.key, arguments.language)
    there = translations.existing(roles, original)
    if there is not None and not arguments.overwrite:
        raise translations.already(roles, original, there)
    return translations.copying(roles, original, there)
