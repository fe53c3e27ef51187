"""`create_record_draft`: a new record that visitors do not see yet."""

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
    from toolseam_builtin.editing._places import Order, Place
    from toolseam_builtin.workspace import Workspace


@asked
class Arguments:
    """What `create_record_draft` is asked."""

    table: Annotated[str, Arg("A table, or schema.table.", min_length=1, max_length=200)]
    values: Annotated[
        dict[str, str | int | float | bool | None],
        Arg("What the record holds, column: value.", min_length=1, max_length=12),
    ]
    after: Annotated[
        str | int | None,
        Arg("The key of the sibling that it stands behind; at the end by default.", max_length=200),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return writing_spec(
        "create_record_draft",
        Effect.NON_IDEMPOTENT_WRITE,
        Arguments,
        "Create a record as a draft. Only editable columns, the parent and the language can be"
        " given. What the database does not keep as a draft is taken back.",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Say what the record would hold."""
    return ToolResult.text(previewed(context, partial(make_plan, arguments)))


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Create the record in one transaction with its history."""
    answer = written(context, partial(make_plan, arguments))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(arguments: Arguments, database: db.Database, workspace: Workspace) -> Plan:
    """Judge every value before anything is written, and find the place of the record."""
    from toolseam_builtin._database._writing._values import flag
    from toolseam_builtin.editing import _places as places
    from toolseam_builtin.editing import _plans as plans
    from toolseam_builtin.editing import _records as records

    found = records.target(database, workspace, arguments.table)
    draft = records.named_column(found, "draft")
    order = places.order_of(found, needs_parent=False)
    roles = (found.settings.parent, found.settings.language)
    allowed = [*records.editable(found), *(name for name in roles if name is not None)]
    values = records.assigned(found, arguments.values, allowed)
    mark = flag(draft, on=True)
    if values.get(draft.name, mark) != mark:
        raise ToolError(
            f"{found.table.title}.{draft.name}: a draft is what this tool makes.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    values[draft.name] = mark
    place = _place(order, arguments.after, values)
    if place is not None and order.position is not None:
        values.setdefault(order.position.name, place.value)
    records.refuse_gaps(found, values)
    return plans.creating(
        found,
        values,
        verbs=("Create as a draft", "Created as a draft"),
        notes=(place.note,) if place is not None and place.note else (),
        others=() if place is None else place.shifts,
    )


def _place(order: Order, after: str | int | None, values: dict[str, db.Scalar]) -> Place | None:
    """Return where the record will stand, and put the parent into its values."""
    from toolseam_builtin._database._asking import scalar
    from toolseam_builtin.editing import _places as places
    from toolseam_builtin.editing import _records as records

    parent, found = order.parent, order.found
    given = parent is not None and parent.name in values
    value = values.get(parent.name) if parent is not None else None
    if isinstance(value, str | int) and order.target in found.table.key():
        records.read(found, value)
    if after is None:
        return places.at_the_end(order, value)
    if parent is not None and not given:
        anchor = records.read(found, after, [parent.name])
        value = values[parent.name] = scalar(anchor.cells[parent.name])
    return places.behind(order, after, value, None)
