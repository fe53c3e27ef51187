"""Finding the logs of a workspace: by its patterns, or by looking around."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard, mask_secrets
from toolseam_builtin._logs._names import OTHER_PACKED, generation_of, is_log_name, newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam.guards import FileLook
    from toolseam_builtin.workspace import Workspace

_NEARBY = ("*.log", "*.log.*", "*.log-*", "logs/**/*", "log/**/*")
_MAGIC = frozenset("*?[")
_FOLDERS = 1_000
_FILES = 2_000
_DEPTH = 8


@attrs.frozen
class LogFile:
    """One file: the guard that gives it out, its name there, its path as the workspace has it."""

    guard: PathGuard
    name: str
    path: str
    size: int
    modified: float

    @property
    def shown(self) -> str:
        """The path as it may be shown."""
        return mask_secrets(self.path)[0]

    @property
    def packed(self) -> bool:
        """Whether it is a gzip file."""
        return generation_of(self.name).packed


@attrs.frozen
class Log:
    """One log with what was rotated away, the newest file first."""

    name: str
    files: tuple[LogFile, ...]

    @property
    def shown(self) -> str:
        """The name as it may be shown and compared."""
        return mask_secrets(self.name)[0]

    @property
    def modified(self) -> float:
        """When it was last written to, in seconds since 1970."""
        return max(file.modified for file in self.files)


@attrs.frozen
class Logs:
    """All logs of a workspace, and what must be said of finding them."""

    logs: tuple[Log, ...]
    warnings: tuple[str, ...]

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(len(log.files) for log in self.logs)


@attrs.define
class _Walk:
    """What one search for files has cost so far."""

    folders: int = 0
    found: dict[tuple[str, str], LogFile] = attrs.field(factory=dict[tuple[str, str], LogFile])
    packed_otherwise: list[str] = attrs.field(factory=list[str])

    @property
    def full(self) -> bool:
        return self.folders >= _FOLDERS or len(self.found) >= _FILES


def find_logs(workspace: Workspace) -> Logs:
    """Find the log files that the workspace names, or those that lie where logs usually do.

    Raises `ToolError` `unavailable`: there are none, or a pattern leads out of a workspace that
    is not trusted.
    """
    walk = _Walk()
    for pattern in workspace.logs or _NEARBY:
        try:
            _look_for(pattern, workspace, walk)
        except ToolError:
            if workspace.logs:
                raise
    if not walk.found:
        where = (
            "No file matches workspace.logs."
            if workspace.logs
            else "No logs are configured (workspace.logs), and none lie in the folder as *.log, nor"
            " in logs/ or log/."
        )
        raise ToolError(where, ErrorCode.UNAVAILABLE, metadata={"reason": "not_configured"})
    warnings: list[str] = []
    if walk.full:
        warnings.append(
            f"There are more log files than the {len(walk.found):,} that were looked at: narrow"
            " workspace.logs."
        )
    if walk.packed_otherwise:
        names = ", ".join(sorted(walk.packed_otherwise)[:3])
        count = len(walk.packed_otherwise)
        warnings.append(f"Packed by something else than gzip, not read ({count}): {names}.")
    return Logs(_by_log(list(walk.found.values())), tuple(warnings))


def _by_log(files: list[LogFile]) -> tuple[Log, ...]:
    """Put files together that are one log, rotated."""
    logs: dict[str, dict[str, LogFile]] = {}
    for file in files:
        logs.setdefault(generation_of(file.path).base, {})[file.path] = file
    return tuple(
        Log(name, tuple(logs[name][each] for each in newest_first(list(logs[name]))))
        for name in sorted(logs)
    )


def _look_for(pattern: str, workspace: Workspace, walk: _Walk) -> None:
    """Add the files that match one pattern."""
    parts = PurePosixPath(pattern).parts
    if not parts:
        return
    fixed = next((i for i, part in enumerate(parts) if _MAGIC & set(part)), len(parts) - 1)
    base = workspace.inside("/".join(parts[:fixed]) or ".", "logs")
    within = base.is_relative_to(workspace.place)
    guard = PathGuard(workspace.place if within else base)
    start = base.relative_to(guard.root).as_posix()
    for look in _matches(guard, start, parts[fixed:], walk, 0):
        if look.is_folder:
            _look_for(f"{pattern.rstrip('/')}/*", workspace, walk)
            continue
        path = look.name if within else f"{guard.root.as_posix()}/{look.name}"
        file = LogFile(guard, look.name, path, look.size, look.modified or 0)
        if path.endswith(OTHER_PACKED):
            walk.packed_otherwise.append(file.shown)
        elif workspace.logs or is_log_name(look.name):
            walk.found.setdefault((str(guard.root), look.name), file)


def _matches(
    guard: PathGuard, folder: str, parts: tuple[str, ...], walk: _Walk, depth: int
) -> Iterator[FileLook]:
    """Give what matches the parts of a pattern below a folder; what cannot be seen is passed."""
    part, rest = parts[0], parts[1:]
    prefix = "" if folder == "." else f"{folder}/"
    files, folders = _listed(guard, folder, part, walk)
    if part == "**":
        deeper = folders if depth < _DEPTH else []
        for name in deeper:
            yield from _matches(guard, prefix + name, parts, walk, depth + 1)
        if rest:
            yield from _matches(guard, folder, rest, walk, depth)
            return
    elif rest:
        for name in folders:
            yield from _matches(guard, prefix + name, rest, walk, depth)
        return
    for name in files:
        try:
            yield guard.look(prefix + name)
        except ToolError:
            continue


def _listed(guard: PathGuard, folder: str, part: str, walk: _Walk) -> tuple[list[str], list[str]]:
    """Give the files and the folders in a folder that match one part of a pattern."""
    if not _MAGIC & set(part):
        return [part], [part]
    walk.folders += 1
    if walk.full:
        return [], []
    try:
        seen = guard.folder(folder)
    except ToolError:
        return [], []
    if part == "**":
        return [*seen.files], [*seen.folders]
    return (
        [name for name in seen.files if fnmatchcase(name, part)],
        [name for name in seen.folders if fnmatchcase(name, part)],
    )
