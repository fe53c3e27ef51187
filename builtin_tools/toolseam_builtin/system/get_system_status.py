"""`get_system_status`: how the machine, this process and the workspace's database are."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

from toolseam import DataClass, ToolContext, ToolError, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin.system._pairs import Fact, told
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from toolseam_builtin.system._machine import Readings

_SECONDS = 1.5
_MISSING = (
    "memory, swap, uptime and this process are not told: they need psutil,"
    " pip install 'toolseam[system]'."
)


@asked
class Arguments:
    """What `get_system_status` is asked: nothing."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_system_status",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "Show how the machine is now: clock and time zone, uptime, load, memory, disk, the"
            " host's own process, and whether the workspace's database can be reached. Warns of"
            " what is nearly used up."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:  # noqa: ARG001 - the hook's form
    """Take one reading after the other."""
    import tempfile
    from datetime import UTC, datetime
    from pathlib import Path

    from toolseam_builtin.system._machine import Readings

    workspace: Workspace = context.settings
    readings = Readings()
    facts = [
        *clock(datetime.now(UTC)),
        *machine(readings),
        *readings.disk("disk of the workspace", workspace.place),
        *readings.disk("disk for temporary files", Path(tempfile.gettempdir())),
        *database(readings.warnings, workspace, context.deadline),
    ]
    answer = compose(facts, readings.warnings)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(facts: list[Fact], warnings: list[str]) -> Answer:
    """Say the facts, and what is alarming in them."""
    count = len(warnings)
    alarm = "nothing alarming" if not count else f"{count} warning{'' if count == 1 else 's'} below"
    return told("System status", facts, heading=f"System status: {alarm}.", warnings=warnings)


def clock(now: datetime) -> Iterator[Fact]:
    """Say the time and the zone of this process."""
    from toolseam_builtin.system._clock import local_zone

    local = local_zone()
    yield Fact("time", now.isoformat(" ", "seconds"), now.isoformat())
    there = now.astimezone(local.zone)
    yield Fact("local time", there.isoformat(" ", "seconds"), there.isoformat())
    yield Fact("time zone", local.name if local.named else f"{local.name}, without a name of rules")


def machine(readings: Readings) -> Iterator[Fact]:
    """Say what the machine and this process are doing; less without psutil, and said so."""
    import platform

    system = os.uname()
    yield Fact("system", f"{system.sysname} {system.release}, {system.machine}")
    yield Fact("Python", f"{platform.python_implementation()} {platform.python_version()}")
    yield from readings.load()
    try:
        import psutil
    except ImportError:
        readings.warnings.append(_MISSING)
        return
    from toolseam_builtin.system._machine import uptime

    yield from uptime(psutil)
    yield from readings.memory(psutil)
    yield from readings.process(psutil)


def database(
    warnings: list[str], workspace: Workspace, deadline: float | None = None
) -> Iterator[Fact]:
    """Say whether the workspace's database answers, and how soon; why not, if it does not."""
    from toolseam_builtin import _database as db

    start = time.monotonic()
    until = min(start + _SECONDS, math.inf if deadline is None else deadline)
    try:
        with db.open_database(workspace, until) as opened:
            taken = round((time.monotonic() - start) * 1000)
            value = {"reachable": True, "milliseconds": taken}
            yield Fact("database", f"{opened.dialect}, reachable ({taken} ms)", value)
    except ToolError as failure:
        yield Fact("database", f"not reachable: {failure}", {"reachable": False})
        if workspace.database is not None:
            warnings.append("the database that the workspace names cannot be reached.")
