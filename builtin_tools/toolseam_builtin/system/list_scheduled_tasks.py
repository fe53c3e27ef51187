"""`list_scheduled_tasks`: what runs by the clock, in words, and when next."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated, Literal

import attrs

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
from toolseam_builtin._page import Page, excerpt, one_line
from toolseam_builtin.system.get_env import shown_value
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from toolseam_builtin.system._plan import Dated, Plan

_SECONDS = 1.5
_MOST = 100_000
_COMMAND_CHARACTERS = 500
_LISTED_FAULTS = 50
_VARIABLE_BYTES = 8_000
_TASK_BYTES = 32_000
_TASK_COLUMNS = ("place", "schedule", "words", "next", "zone", "user", "command")
_VARIABLE_COLUMNS = ("place", "name", "value")


@attrs.frozen
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
    answer = compose(make_plan(workspace, arguments.file, arguments.form, end), arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(plan: Plan, offset: int) -> Answer:
    """Say tasks, variables and lines that are not understood, each with its file and line."""
    page = Page(budget=_TASK_BYTES)
    for dated in plan.tasks[offset:]:
        if not page.take(*_row(dated)):
            break
    shown, total = len(page.cells), len(plan.tasks)
    read = ", ".join(map(one_line, plan.files[:_LISTED_FAULTS])) or "no crontab was found"
    more = total > offset + shown
    part = f", {shown:,} shown" if more or offset else ""
    part += f" from offset {offset:,}" if offset else ""
    lines = [f"{_count(total, 'scheduled task')} in {_count(len(plan.files), 'crontab')}{part}."]
    lines += [f"Looked at: {read}.", *page.lines]
    if more:
        lines.append(f"More with offset={offset + shown}.")
    variables, noted = _variables(plan)
    warnings = [*noted, *map(one_line, plan.warnings)]
    faults = [f"{one_line(each.file)}:{each.line}: {each.why}" for each in plan.faults]
    if faults:
        lines.append(f"{_count(len(faults), 'line')} that cron does not understand:")
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
        "columns": ["file", "line", *_TASK_COLUMNS[1:]],
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


def _row(dated: Dated) -> tuple[list[str], list[str], list[object]]:
    """Give one task as lines of text, as cells, and as values."""
    task = dated.task
    command = excerpt(one_line(shown_value("COMMAND", task.command)), _COMMAND_CHARACTERS)
    coming = dated.schedule.next
    following = "" if coming is None else coming.isoformat(" ", "minutes")
    zone = "" if coming is None else one_line(dated.zone)
    schedule, words = one_line(task.schedule), dated.schedule.words
    when = f"next {following} {zone}" if coming else "no next run"
    place = f"{one_line(task.file)}:{task.line}"
    by = f", as {task.user}" if task.user else ""
    lines = [f"- {place}: {words} ({schedule}), {when}{by}", f"  {command}"]
    cells = [place, schedule, words, following, zone, task.user or "", command]
    ahead = None if coming is None else coming.isoformat()
    values = [schedule, words, ahead, dated.zone, task.user, command]
    return lines, cells, [task.file, task.line, *values]


def _variables(plan: Plan) -> tuple[Page, list[str]]:
    """Give what crontabs set for their commands, masked as the environment is."""
    page = Page(budget=_VARIABLE_BYTES)
    for each in plan.variables:
        place, name = f"{one_line(each.file)}:{each.line}", one_line(each.name)
        value = excerpt(one_line(shown_value(each.name, each.value)), _COMMAND_CHARACTERS)
        line = f"- {place}: {name}={value}"
        if not page.take([line], [place, name, value], [each.file, each.line, name, value]):
            break
    left = len(plan.variables) - len(page.cells)
    return page, [f"{left:,} variables are not shown; ask for one file."] if left else []


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
