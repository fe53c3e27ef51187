"""Where a template loader looks for a name, and what is there."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard, mask_secrets

if TYPE_CHECKING:
    from toolseam import ToolContext
    from toolseam_builtin.workspace import Workspace

EXISTS, MISSING, FOLDER, REFUSED = "exists", "missing", "is a folder", "may not be read"
_USUAL = "templates"
_SECONDS = 1.0
_NAMES = 5_000
_NEAR = 3
_COMPARED = 100
_ENDING = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


@attrs.frozen
class Candidate:
    """A place where the loader looks; `size` is in bytes, where there is a file."""

    path: str
    state: str
    size: int | None = None

    @property
    def exists(self) -> bool:
        """Whether a file is there that may be read."""
        return self.state == EXISTS

    @property
    def refused(self) -> bool:
        """Whether it may not be told what is there."""
        return self.state == REFUSED


def template_name(name: str, kind: str | None) -> str:
    """Return a name as Jinja2's file loader takes it: empty segments and `.` do not count.

    Args:
        name: what the application asks its loader for.
        kind: the ending that the name lacks: ASCII letters and digits, then `._-` as well.

    Raises `ToolError` `invalid_arguments` for a blank name, for `..`, for an address and for an
    ending of other characters.
    """
    if kind is not None and not (_ENDING.issuperset(kind) and kind[:1].isalnum()):
        message = "kind is an ending of letters, digits, '.', '_' and '-', such as html."
        raise ToolError(message, ErrorCode.INVALID_ARGUMENTS)
    segments = [each for each in name.split("/") if each not in {"", "."}]
    if ".." in segments or "://" in name:
        raise ToolError("A template's name has no '..' and no '://'.", ErrorCode.INVALID_ARGUMENTS)
    joined = "/".join(segments)
    if not joined.strip():
        raise ToolError("The name is blank.", ErrorCode.INVALID_ARGUMENTS)
    return joined if kind is None or joined.endswith(f".{kind}") else f"{joined}.{kind}"


def look(workspace: Workspace, name: str) -> list[Candidate]:
    """Look for a name in each template folder, in loader order.

    Raises `ToolError` `unavailable` if the workspace names no folders, and as `PathGuard.resolve`
    does for what is no name.
    """
    return [_candidate(workspace, folder, name) for folder in _folders(workspace)]


def _folders(workspace: Workspace) -> tuple[str, ...]:
    if workspace.templates:
        return workspace.templates
    if (workspace.place / _USUAL).is_dir():
        return (_USUAL,)
    raise ToolError(
        "The workspace names no template folders: set workspace.templates, in loader order.",
        ErrorCode.UNAVAILABLE,
        metadata={"reason": "not_configured"},
    )


def _candidate(workspace: Workspace, folder: str, name: str) -> Candidate:
    """Look for a template in one folder, links judged by where they lead."""
    path = f"{folder.rstrip('/')}/{name}"
    try:
        guard = PathGuard(workspace.inside(folder, "templates"))
    except ToolError:
        return Candidate(path, REFUSED)
    try:
        look = guard.look(name)
    except ToolError as refusal:
        if refusal.code == ErrorCode.INVALID_ARGUMENTS:
            raise
        return Candidate(path, MISSING if refusal.code == ErrorCode.NOT_FOUND else REFUSED)
    return Candidate(path, FOLDER) if look.is_folder else Candidate(path, EXISTS, look.size)


def similar(context: ToolContext, name: str) -> list[str]:
    """Find templates whose names are like one that is not there, as far as the time goes."""
    from difflib import get_close_matches

    workspace: Workspace = context.settings
    end = min(time.monotonic() + _SECONDS, context.deadline or math.inf)
    names: dict[str, None] = {}
    for folder in _folders(workspace):
        try:
            for each in PathGuard(workspace.inside(folder, "templates")).walk():
                names[each] = None
                if len(names) >= _NAMES or time.monotonic() >= end:
                    break
        except ToolError:
            continue
    shown = mask_secrets("\n".join(names))[0].split("\n")
    return get_close_matches(name[:_COMPARED], shown, _NEAR)
