"""Asking the child process about the web application, and holding its answer to what it may be."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._web._report import Report, failed, read_report

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

SECONDS = 10.0
_MARGIN_S = 0.3
_CHILD = str(Path(__file__).with_name("_child.py"))
_ANSWER_BYTES = 4_000_000
_TARGET = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\(\))?")


@attrs.frozen
class Task:
    """What the child is asked: the application, a table of routes, a path and a host.

    `room` is the module whose `describe` answers; the web application's if unsaid.
    """

    app: str
    routes: str | None
    roots: tuple[str, ...]
    folder: str
    path: str | None
    host: str
    seconds: float
    room: str = "toolseam_builtin._web._describe"
    what: str = "application"


def look(
    workspace: Workspace, deadline: float | None, path: str | None = None, host: str = "localhost"
) -> Report:
    """Import the workspace's application in a child process and describe it.

    Args:
        workspace: names the application.
        deadline: a moment of `time.monotonic()`, or None.
        path: decoded, to be matched.
        host: the name by which the application is asked.

    Raises `ToolError` `unavailable`: nothing is named, the workspace is not trusted (reason
    `untrusted_workspace`), or the application could not be imported (`web_app_failed`).
    """
    if workspace.web_app is None:
        message = "No web application is named: workspace.web_app is not set."
        raise ToolError(message, ErrorCode.UNAVAILABLE)
    if not workspace.trusted:
        raise ToolError(
            "Looking at the web application imports it, and this folder is not trusted;"
            " `toolseam trust .` allows it.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "untrusted_workspace"},
        )
    for key, target in (("web_app", workspace.web_app), ("web_routes", workspace.web_routes)):
        if target is not None and _TARGET.fullmatch(target) is None:
            message = f"workspace.{key} is not of the form module:object."
            raise ToolError(message, ErrorCode.UNAVAILABLE)
    left = SECONDS if deadline is None else deadline - time.monotonic() - _MARGIN_S
    folder = str(workspace.place)
    task = Task(
        workspace.web_app,
        workspace.web_routes,
        (str(workspace.source_path), folder),
        folder,
        path,
        host,
        max(0.1, min(SECONDS, left)),
    )
    return read_report(ask_child(task))


def ask_child(task: Task) -> bytes:
    """Run the child, in a group of its own, without the host's environment, until it answers.

    Raises `ToolError` `unavailable`, reason `web_app_failed`, where it does not.
    """
    reading, writing = os.pipe()
    try:
        child = subprocess.Popen(  # noqa: S603 - our interpreter, our file
            [sys.executable, "-I", "-B", "-X", "utf8", _CHILD, str(writing)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=task.folder,
            env={"PATH": os.defpath},
            pass_fds=(writing,),
            start_new_session=True,
        )
    except OSError:
        os.close(reading)
        raise failed(f"No process could be started to import the {task.what}.") from None
    finally:
        os.close(writing)
    try:
        with suppress(BrokenPipeError):
            cast("Any", child.stdin).write(json.dumps(attrs.asdict(task)).encode())
        with suppress(BrokenPipeError):
            cast("Any", child.stdin).close()
        return _read(reading, time.monotonic() + task.seconds, task)
    finally:
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        os.close(reading)


def _read(pipe: int, end: float, task: Task) -> bytes:
    answer = bytearray()
    while (left := end - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            continue
        part = os.read(pipe, 65_536)
        if not part:
            return bytes(answer)
        answer += part
        if len(answer) > _ANSWER_BYTES:
            raise failed(f"The {task.what} has more to tell than is taken.")
    raise failed(f"The {task.what} was not imported within {task.seconds:.3g} s.")
