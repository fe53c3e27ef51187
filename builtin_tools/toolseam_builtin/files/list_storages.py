"""`list_storages`: the file storages of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin import _database as db
from toolseam_builtin._asked import asked

if TYPE_CHECKING:
    from toolseam_builtin._storages import State

_COLUMNS = ("name", "protocol", "flags")


@asked
class Arguments:
    """What `list_storages` is asked: nothing."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return db.reading_spec(
        "list_storages",
        "files",
        Arguments,
        "List the file storages of the workspace with name, protocol and whether they can be"
        " opened. No server is asked, and where they are is not told.",
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:  # noqa: ARG001 - the hook's form
    """List the storages."""
    from toolseam_builtin import _storages as st  # no matter of a listing

    answer = compose(st.states(context.settings))
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(states: list[State]) -> db.Answer:
    """Say the storages as text, table and data, in the workspace's order."""
    page = db.Page()
    warnings: list[str] = []
    for number, state in enumerate(states):
        flags = [*(["default"] if number == 0 else []), *state.flags]
        if state.fault is not None:
            flags.append("cannot be opened")
        name, said = db.one_line(state.name), ", ".join(flags)
        row = [state.name, state.protocol, flags]
        if not page.take(
            [f"- {name} ({state.protocol}; {said})"], [name, state.protocol, said], row
        ):
            break
        if state.fault is not None:
            warnings.append(state.fault)
    count = len(states)
    lines = [f"{count:,} storage{'' if count == 1 else 's'}.", *page.lines]
    if len(page.lines) < count:
        lines.append(f"The first {len(page.lines):,} are shown; the answer is full.")
    lines += [f"Warning: {db.one_line(warning)}" for warning in warnings]
    data: dict[str, object] = {"total": count, "columns": list(_COLUMNS), "rows": page.rows}
    table = ToolArtifact.table("storages", _COLUMNS, page.cells, fit=True)
    return db.Answer("\n".join(lines), (table,), data, warnings)
