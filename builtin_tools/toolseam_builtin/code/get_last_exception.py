"""`get_last_exception`: the newest traceback in the workspace's logs, with its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from toolseam import (
    Arg,
    DataClass,
    ErrorCode,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import one_line
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin._logs._opened import Reading
    from toolseam_builtin.code._exceptions import Told

_PLACES = 3


@asked
class Arguments:
    """What `get_last_exception` is asked."""

    index: Annotated[int, Arg("0 is the newest, 1 the one before it.", ge=0, le=1000)] = 0
    search: Annotated[
        str | None,
        Arg("Only exceptions whose log record holds this, whatever the case.", max_length=200),
    ] = None


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_last_exception",
        group="code",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "Show the newest exception in the workspace's logs: type, message and notes, what it"
            " was raised from, the members of a group, the frames, and the workspace's own source"
            " around up to three of them. Secrets are masked."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the logs back to the exception, and the sources that it names."""
    from toolseam_builtin._logs._opened import read_logs  # no matter of a listing
    from toolseam_builtin.code._exceptions import find_exceptions, tell
    from toolseam_builtin.code._frames import places

    if arguments.search is not None and not arguments.search.strip():
        raise ToolError("search is blank.", ErrorCode.INVALID_ARGUMENTS)
    workspace: Workspace = context.settings
    with read_logs(context) as reading:
        found = find_exceptions(reading.records, arguments.index, arguments.search)
        seen = places(found.raised, workspace, _PLACES) if found.raised else []
        told = tell(found, seen, workspace)
        answer = compose(told, found.total, reading, arguments)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(told: Told, total: int, reading: Reading, arguments: Arguments) -> Answer:
    """Say which exception it is of how many, what is known of it, and what could not be read."""
    index = arguments.index
    search = arguments.search
    holding = f" whose record holds {search!r}" if search is not None else ""
    heading = f"Exception {index} of {total:,} in {reading.where}{holding}, 0 being the newest."
    if not told.lines:
        heading = f"No exception{holding} in {reading.where}. fetch_logs shows their records."
        if total:
            counted = f"{total:,} exception{'' if total == 1 else 's'}"
            heading = f"{counted}{holding} in {reading.where}: index={index} is past the last."
    elif not told.data["places"]:
        told.lines.append("None of the frames is in the workspace's sources as they are now.")
    notes = reading.notes
    data: dict[str, object] = {
        "total": total,
        "index": index,
        "stopped": reading.budget.stopped,
        **told.data,
    }
    text = "\n".join([one_line(heading), *told.lines, *notes])
    return Answer(text, tuple(told.artifacts), data, notes)
