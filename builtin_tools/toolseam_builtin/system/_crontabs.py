"""Where the crontabs of a workspace are: what `scheduler` names, and the usual names."""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from toolseam_builtin.workspace import Workspace

_FILE = re.compile(r"crontab|.+\.(?:cron|crontab)")
_FOLDER = "cron.d"
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?:\(\))?")
MOST = 200
"""How many crontabs are read."""


@attrs.frozen
class Found:
    """Crontabs by the names that `guard` reads them under; `left` counts those beyond the most."""

    guard: PathGuard
    names: tuple[str, ...]
    left: int = 0


def find_crontabs(workspace: Workspace, end: float) -> Found:
    """Return the crontabs in the workspace, the one that a setting names first.

    Looked at are the workspace's folder and the folders in it, for files called `crontab`,
    `*.cron` or `*.crontab`, and for what is in `cron.d`. Links are not followed; at `end`, a
    moment of the monotonic clock, the looking ends.

    Raises `ToolError` `unavailable` where `scheduler` names a file that is not there, or one
    outside an untrusted workspace.
    """
    guard = PathGuard(workspace.place)
    names: list[str] = []
    named = workspace.scheduler
    if named is not None and not is_object(workspace):
        path = workspace.inside(named, "scheduler")
        if not path.exists():
            raise ToolError("workspace.scheduler names no file.", ErrorCode.UNAVAILABLE)
        if path.is_relative_to(guard.root):
            names += guard.walk(path.relative_to(guard.root).as_posix())
        else:  # the operator trusts the workspace, and so its word for this path
            guard = PathGuard(path if path.is_dir() else path.parent)
            names += guard.walk("." if path.is_dir() else path.name)
            return Found(guard, tuple(names[:MOST]), max(0, len(names) - MOST))
    names += sorted(_usual(guard.root, end))
    names = list(dict.fromkeys(names))
    return Found(guard, tuple(names[:MOST]), max(0, len(names) - MOST))


def is_object(workspace: Workspace) -> bool:
    """Tell whether `scheduler` names an object of a module, and not a file."""
    named = workspace.scheduler or ""
    return _OBJECT.fullmatch(named) is not None and not (workspace.place / named).exists()


def _usual(root: Path, end: float) -> Iterator[str]:
    for folder in ("", *(f"{name}/" for name in _entries(root)[1])):
        if time.monotonic() > end:
            return
        files, below = _entries(root / folder)
        yield from (f"{folder}{name}" for name in files if _FILE.fullmatch(name))
        if _FOLDER in below:
            place = f"{folder}{_FOLDER}/"
            yield from (f"{place}{name}" for name in _entries(root / place)[0])


def _entries(folder: Path) -> tuple[list[str], list[str]]:
    """List the names of files and of folders that are neither hidden nor links."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entry.name.startswith(".") or entry.is_symlink():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:
        return [], []
    return sorted(files), sorted(folders)
