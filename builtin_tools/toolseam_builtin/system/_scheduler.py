"""The tasks of a scheduler that the workspace names as `module:object`, told by a child process."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import mask_secrets
from toolseam_builtin._page import excerpt, one_line
from toolseam_builtin._web._look import SECONDS, Task, ask_child
from toolseam_builtin._web._report import fault_words

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_MARGIN_S = 0.3
_CHARACTERS = 300
_ROOM = "toolseam_builtin.system._scheduler_child"


@attrs.frozen
class Planned:
    """One task of a scheduler; `next` is None where it has no time of its own."""

    name: str
    schedule: str
    next: datetime | None
    command: str


@attrs.frozen
class Scheduler:
    """A scheduler: what it is, how many tasks it has, and the first of them.

    `total` is None where it is of a kind that does not list its tasks.
    """

    kind: str
    total: int | None
    tasks: tuple[Planned, ...]


def ask_scheduler(workspace: Workspace, deadline: float | None) -> Scheduler:
    """Import the workspace's scheduler in a child process and ask what it has planned.

    Args:
        workspace: names the scheduler, and must be trusted.
        deadline: a moment of the monotonic clock, or None.

    Raises `ToolError` `unavailable`, reason `untrusted_workspace` or `scheduler_failed`.
    """
    if not workspace.trusted:
        raise ToolError(
            "Looking at the scheduler imports it, and this folder is not trusted;"
            " `toolseam trust .` allows it.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "untrusted_workspace"},
        )
    left = SECONDS if deadline is None else deadline - time.monotonic() - _MARGIN_S
    folder = str(workspace.place)
    task = Task(
        app=workspace.scheduler or "",
        routes=None,
        roots=(str(workspace.source_path), folder),
        folder=folder,
        path=None,
        host="",
        seconds=max(0.1, min(SECONDS, left)),
        room=_ROOM,
        what="scheduler",
    )
    try:
        return _read(ask_child(task))
    except ToolError as failure:
        raise _failed(str(failure)) from None


def _read(answer: bytes) -> Scheduler:
    """Read what a child answered: it is anybody's code that wrote it."""
    try:
        told: Any = json.loads(answer)
        if "fault" in told:
            raise _failed(fault_words(told["fault"], "scheduler"))
        rows = told["tasks"] or ()
        total = None if told["total"] is None else int(told["total"])
        return Scheduler(_text(told["kind"]), total, tuple(_planned(*row) for row in rows))
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise _failed("The process that imported the scheduler ended without an answer.") from None


def _planned(name: object, schedule: object, coming: object, command: object) -> Planned:
    moment = None if coming is None else datetime.fromisoformat(_text(coming))
    if moment is not None and moment.tzinfo is None:
        moment = moment.astimezone()
    return Planned(_text(name), _text(schedule), moment, _text(command))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return excerpt(mask_secrets(one_line(value))[0], _CHARACTERS)


def _failed(message: str) -> ToolError:
    return ToolError(message, ErrorCode.UNAVAILABLE, metadata={"reason": "scheduler_failed"})
