"""What a workspace has planned: its crontabs read, judged, and dated as far as time allows."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import mask_secrets
from toolseam_builtin.system._clock import local_zone, named_zone
from toolseam_builtin.system._crontab import Crontab, Fault, Form, Task, Variable, form_of
from toolseam_builtin.system._crontabs import MOST, find_crontabs, is_object
from toolseam_builtin.system._schedule import Schedule, read_schedule

if TYPE_CHECKING:
    from datetime import tzinfo

    from toolseam_builtin.system._crontabs import Found
    from toolseam_builtin.workspace import Workspace

_LISTED = 20
_FIELDS = re.compile(r"\S+(?: \S+){4}")


@attrs.frozen
class Dated:
    """A task with what its schedule says, and the zone that it is for."""

    task: Task
    schedule: Schedule
    zone: str


@attrs.frozen
class Plan:
    """Everything that was found; `files` are the crontabs that were read.

    `scheduler` is the kind of scheduler that was asked, empty if none was.
    """

    files: Sequence[str]
    tasks: Sequence[Dated] = ()
    variables: Sequence[Variable] = ()
    faults: Sequence[Fault] = ()
    warnings: Sequence[str] = ()
    scheduler: str = ""


def make_plan(
    workspace: Workspace,
    file: str | None,
    form: Form | None,
    end: float,
    now: datetime | None = None,
    deadline: float | None = None,
) -> Plan:
    """Find and read the workspace's crontabs, or the one that is asked for; ask its scheduler.

    Args:
        workspace: where to look.
        file: a crontab's name as `Plan.files` has it.
        form: how crontabs are read; None lets each path decide.
        end: a moment of the monotonic clock at which no further work is begun.
        now: after which the next runs are looked for; the present if unsaid.
        deadline: until when a scheduler is waited for, which takes what its import takes.

    Raises `ToolError`: `not_found` where `file` is none of the crontabs, `unavailable` where the
    library for schedules is missing, or where there is nothing but a scheduler that cannot be
    asked.
    """
    now = now or datetime.now(UTC)
    found = find_crontabs(workspace, end)
    names = found.names if file is None else _the_one(found, file)
    lines = Crontab()
    warnings: list[str] = []
    read: list[str] = []
    for number, name in enumerate(names):
        shown = _shown(name)
        if time.monotonic() > end:
            warnings.append(f"{len(names) - number:,} crontabs were not read in time.")
            break
        text = _text(found, name, warnings)
        if text is not None:
            lines.read(shown, text, form or form_of(name))
            read.append(shown)
    if found.left:
        warnings.append(f"Only the first {MOST} crontabs are read; {found.left:,} are left.")
    dated, faults = _dated(lines, now, end, warnings)
    order = {name: number for number, name in enumerate(read)}
    faults = sorted([*lines.faults, *faults], key=lambda each: (order[each.file], each.line))
    kind = ""
    if file is None and is_object(workspace):
        try:
            kind, planned = _scheduled(workspace, deadline, now, warnings)
        except ToolError as failure:
            if not read:
                raise
            warnings.append(str(failure))
        else:
            dated += planned
    return Plan(read, dated, lines.variables, faults, warnings, kind)


def _scheduled(
    workspace: Workspace, deadline: float | None, now: datetime, warnings: list[str]
) -> tuple[str, list[Dated]]:
    """Ask the scheduler; a schedule of five fields is said in words."""
    from toolseam_builtin.system._scheduler import ask_scheduler  # starts a process

    target = workspace.scheduler or ""
    scheduler = ask_scheduler(workspace, deadline)
    if scheduler.total is None:
        warnings.append(f"{target} is a {scheduler.kind}, which does not list its tasks.")
    elif scheduler.total > len(scheduler.tasks):
        warnings.append(f"{target} has {scheduler.total:,} tasks; the first are listed.")
    local = local_zone()
    dated: list[Dated] = []
    for each in scheduler.tasks:
        cron = _FIELDS.fullmatch(each.schedule) is not None
        found = read_schedule(each.schedule, now.astimezone(local.zone)) if cron else Schedule("")
        if isinstance(found, str):
            warnings.append(f"{target} {each.name}: {found}")
            continue
        if each.next is not None:
            found = Schedule(found.words, each.next)
        task = Task(target, 0, each.schedule, each.command, name=each.name)
        dated.append(Dated(task, found, "" if each.next else local.name))
    return scheduler.kind, dated


def _the_one(found: Found, file: str) -> tuple[str, ...]:
    if file in found.names:
        return (file,)
    listed = ", ".join(map(_shown, found.names[:_LISTED])) or "there are none"
    raise ToolError(f"No crontab has this name; those found: {listed}.", ErrorCode.NOT_FOUND)


def _shown(name: str) -> str:
    return mask_secrets(name)[0]


def _text(found: Found, name: str, warnings: list[str]) -> str | None:
    """Read a crontab; one that may not be read is a warning."""
    shown = _shown(name)
    try:
        file = found.guard.read(name)
    except ToolError:
        warnings.append(f"{shown} may not be read here.")
        return None
    if not file.complete:
        warnings.append(f"{shown} is read in its first {len(file.data):,} bytes only.")
    folders, _, last = name.rpartition("/")
    if "." in last and folders.rpartition("/")[2] == "cron.d":
        warnings.append(f"{shown} has a point in its name: Debian's cron passes over such files.")
    return file.data.decode("utf-8-sig", "replace")


def _dated(
    lines: Crontab, now: datetime, end: float, warnings: list[str]
) -> tuple[list[Dated], list[Fault]]:
    """Judge each task's schedule and look for its next run, as long as there is time."""
    local = local_zone()
    zones: dict[str | None, tuple[tzinfo | None, str]] = {None: (local.zone, local.name)}
    dated: list[Dated] = []
    faults: list[Fault] = []
    for number, task in enumerate(lines.tasks):
        if time.monotonic() > end:
            warnings.append(f"{len(lines.tasks) - number:,} tasks were not judged in time.")
            break
        if task.zone not in zones:
            name = task.zone or ""
            zones[task.zone] = (named_zone(name), name)
            if zones[task.zone][0] is None:
                warnings.append(f"{task.file} is for a time zone that is not known here: {name}.")
        zone, name = zones[task.zone]
        schedule = read_schedule(task.schedule, None if zone is None else now.astimezone(zone))
        if isinstance(schedule, str):
            faults.append(Fault(task.file, task.line, schedule))
        else:
            dated.append(Dated(task, schedule, name))
    return dated, faults
