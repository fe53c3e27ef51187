"""`update_record_metadata`: editable fields of one record, all of them or none."""

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
from toolseam_builtin._asked import asked
from toolseam_builtin.editing._room import previewed, writing_spec, written

if TYPE_CHECKING:
    from toolseam_builtin import _database as db
    from toolseam_builtin._database._writing._model import Plan
    from toolseam_builtin.workspace import Workspace


@asked
class Arguments:
    """What `update_record_metadata` is asked."""

    table: Annotated[str, Arg("A table, or schema.table.", min_length=1, max_length=200)]
    key: Annotated[str | int, Arg("The record's key, as read_records shows it.", max_length=200)]
    values: Annotated[
        dict[str, str | int | float | bool | None],
        Arg("New values, column: value.", min_length=1, max_length=15),
    ]


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return writing_spec(
        "update_record_metadata",
        Effect.IDEMPOTENT_WRITE,
        Arguments,
        "Change fields of one record. Only the columns that the workspace lists as editable;"
        " one value that does not fit refuses the whole call. The change goes to the history.",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Say what would change, old and new."""
    return ToolResult.text(previewed(context, partial(make_plan, arguments)))


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Change the fields in one transaction with their history."""
    answer = written(context, partial(make_plan, arguments))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(arguments: Arguments, database: db.Database, workspace: Workspace) -> Plan:
    """Judge every value before anything is written, and say old and new."""
    from toolseam_builtin.editing import _plans as plans
    from toolseam_builtin.editing import _records as records

    found = records.target(database, workspace, arguments.table)
    table = found.table
    values = records.assigned(found, arguments.values, records.editable(found))
    fixed = [name for name in values if name in (*table.key(), found.settings.parent)]
    if fixed:
        raise ToolError(
            f"{table.title}.{fixed[0]} places the record and is not changed here;"
            " move_record changes a parent.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    return plans.changing(found, records.read(found, arguments.key, values), values)
