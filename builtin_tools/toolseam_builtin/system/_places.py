"""Paths as an answer names them: from the workspace, the interpreter or the home, never whole."""

from __future__ import annotations

import os
import sys
import sysconfig

_TAIL = 2


def short_place(path: str, workspace: str) -> str:
    """Name a path by the nearest known folder that holds it.

    Args:
        path: absolute or not; the empty path is the folder that the host runs in.
        workspace: the workspace's folder.

    Returns:
        A relative path in the workspace; `<prefix>/…` in the environment of this interpreter,
        `<base>/…` in the Python that it was made from, `~/…` in the home; else `…/` and the
        last two segments.
    """
    if not path:
        return "(the current folder)"
    if not path.startswith(os.sep):
        return path
    known = (
        (workspace, "."),
        (sys.prefix, "<prefix>"),
        (sys.base_prefix, "<base>"),
        (sysconfig.get_path("stdlib"), "<stdlib>"),
        (os.path.expanduser("~"), "~"),  # noqa: PTH111 - no text is made a path and back
    )
    for folder, name in known:
        inside = _below(path, folder)
        if inside is not None:
            return inside or name if name == "." else f"{name}/{inside}".rstrip("/")
    return "/".join(["…", *path.strip("/").split("/")[-_TAIL:]])


def _below(path: str, folder: str) -> str | None:
    """Give the part of a path below a folder, None if it is not there."""
    base = folder.rstrip("/")
    if not base:  # the root holds everything, and tells nothing
        return None
    if path.rstrip("/") == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(base + "/") else None
