"""`move_record`: another parent, another place among its children."""

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
    """What `move_record` is asked."""

    table: Annotated[str, Arg("A self-referencing table.", min_length=1, max_length=200)]
    key: Annotated[str | int, Arg("The record that moves.", max_length=200)]
    parent: Annotated[
        str | int | None, Arg("The key of its new parent; null makes it a root.", max_length=200)
    ]
    after: Annotated[
        str | int | None,
        Arg("The key of the sibling that it stands behind; at the end by default.", max_length=200),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return writing_spec(
        "move_record",
        Effect.IDEMPOTENT_WRITE,
        Arguments,
        "Move a record below another parent in the same table, or to another place among its"
        " siblings; what lies below it moves along.",
    )


@hookimpl
def preview(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Say the old place and the new one, and which siblings give way."""
    return ToolResult.text(previewed(context, partial(make_plan, arguments)))


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Move the record in one transaction with its history."""
    answer = written(context, partial(make_plan, arguments))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def make_plan(arguments: Arguments, database: db.Database, workspace: Workspace) -> Plan:
    """Find both records, refuse a cycle, and say who gives way."""
    from toolseam_builtin._database._asking import scalar
    from toolseam_builtin._database._writing._values import fit
    from toolseam_builtin.editing import _places as places
    from toolseam_builtin.editing import _plans as plans
    from toolseam_builtin.editing import _records as records
    from toolseam_builtin.editing._shown import differs

    found = records.target(database, workspace, arguments.table)
    order = places.order_of(found, needs_parent=True)
    parent, target = records.written_column(found, order.parent, "parent"), order.target or ""
    position = () if order.position is None else (order.position.name,)
    record = records.read(found, arguments.key, [parent.name, target, *position])
    value: db.Scalar = None
    notes: list[str] = []
    if arguments.parent is not None:
        above = records.read(found, arguments.parent, [target])
        places.refuse_cycle(found, (parent.name, target), record, above)
        value = scalar(above.cells[target])
        notes.append(f"parent: {found.table.title}:{above.key}{above.label}")
    value = fit(found.table, parent, value, database.dialect)
    moved = differs(record.cells[parent.name], value)
    own = None if moved else record
    if arguments.after is not None:
        place = places.behind(order, arguments.after, value, own)
    else:
        place = places.at_the_end(order, value) if moved else None
    values: dict[str, db.Scalar] = {parent.name: value}
    if place is not None and order.position is not None:
        values[order.position.name] = place.value
        notes += [place.note] if place.note else []
    return plans.changing(
        found,
        record,
        values,
        verbs=("Move", "Moved"),
        notes=tuple(notes),
        others=() if place is None else place.shifts,
    )
