"""`list_scheduled_tasks`: what runs by the clock, in words, and when next."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated, Literal

from toolseam import (
    Arg,
    DataClass,
    ToolArtifact,
    ToolContext,
    ToolResult,
    ToolSpec,
    hookimpl,
)
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import Page, more_with, one_line, shown_range
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin.system._plan import Plan

_SECONDS = 1.5
_MOST = 100_000
_LISTED_FAULTS = 50
_TASK_BYTES = 32_000
_TASK_COLUMNS = ("place", "schedule", "words", "next", "zone", "user", "command")
_VARIABLE_COLUMNS = ("place", "name", "value")


@asked
class Arguments:
    """What `list_scheduled_tasks` is asked."""

    file: Annotated[
        str | None, Arg("Only this crontab, as an answer names it.", min_length=1, max_length=1000)
    ] = None
    form: Annotated[
        Literal["user", "system"] | None,
        Arg(
            "How to read crontabs: system ones name a user before the command. By default the"
            " path decides: system in cron.d and for etc/crontab."
        ),
    ] = None
    offset: Annotated[int, Arg("How many tasks to pass over.", ge=0, le=_MOST)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "list_scheduled_tasks",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "List what runs by the clock: the tasks of the workspace's crontabs and of its"
            " scheduler, each with its schedule in words, the next run, user and masked command,"
            " and the lines that cron does not understand."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:
    """Read the crontabs and look ahead."""
    from toolseam_builtin.system._plan import make_plan  # no matter of a listing

    workspace: Workspace = context.settings
    end = min(time.monotonic() + _SECONDS, context.deadline or math.inf)
    plan = make_plan(workspace, arguments.file, arguments.form, end, deadline=context.deadline)
    answer = compose(plan, arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(plan: Plan, offset: int) -> Answer:
    """Say tasks, variables and lines that are not understood, each with its file and line."""
    from toolseam_builtin.system._plan_rows import count_of, task_row, variable_rows

    page = Page(budget=_TASK_BYTES)
    for dated in plan.tasks[offset:]:
        if not page.take(*task_row(dated)):
            break
    shown, total = len(page.cells), len(plan.tasks)
    read = ", ".join(map(one_line, plan.files[:_LISTED_FAULTS])) or "no crontab was found"
    more = total > offset + shown
    part = f", {shown_range(offset, shown)}" if more or offset else ""
    scheduler = f" and a scheduler ({one_line(plan.scheduler)})" if plan.scheduler else ""
    crontabs = f"{count_of(len(plan.files), 'crontab')}{scheduler}"
    lines = [f"{count_of(total, 'scheduled task')} in {crontabs}{part}."]
    lines += [f"Looked at: {read}.", *page.lines]
    if more:
        lines.append(more_with(f"offset={offset + shown}"))
    variables, noted = variable_rows(plan)
    warnings = [*noted, *map(one_line, plan.warnings)]
    faults = [f"{one_line(each.file)}:{each.line}: {each.why}" for each in plan.faults]
    if faults:
        lines.append(f"{count_of(len(faults), 'line')} that cron does not understand:")
        lines += [f"- {fault}" for fault in faults[:_LISTED_FAULTS]]
    if len(faults) > _LISTED_FAULTS:
        lines.append(f"… and {len(faults) - _LISTED_FAULTS:,} more; ask for one file.")
    if variables.lines:
        lines += ["Set for the commands:", *variables.lines]
    lines += [f"Warning: {warning}" for warning in warnings]
    data: dict[str, object] = {
        "total": total,
        "offset": offset,
        "next_offset": offset + shown if more else None,
        "files": list(plan.files),
        "columns": ["file", "line", "name", *_TASK_COLUMNS[1:]],
        "rows": page.rows,
        "not_understood": [
            [each.file, each.line, each.why] for each in plan.faults[:_LISTED_FAULTS]
        ],
        "variables": variables.rows,
    }
    tables = [ToolArtifact.table("Scheduled tasks", _TASK_COLUMNS, page.cells, fit=True)]
    if variables.cells:
        named = "Variables of crontabs"
        tables.append(ToolArtifact.table(named, _VARIABLE_COLUMNS, variables.cells, fit=True))
    return Answer("\n".join(lines), tuple(tables), data, [*faults[:_LISTED_FAULTS], *warnings])
