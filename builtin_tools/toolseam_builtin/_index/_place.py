"""Where the index of a workspace is kept: in the user's state folder, never in the workspace."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

FILE = "index.sqlite"
_PRIVATE = 0o700
_DIGITS = 12


def index_folder(workspace: Workspace) -> Path:
    """Return the folder of a workspace's index, whether or not it is there.

    It is `$XDG_STATE_HOME/toolseam/<name>-<digits>`, by default under `~/.local/state`; the
    digits are of the workspace's whole path.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    if not base.startswith(os.sep):  # the XDG rule: a relative path there is to be ignored
        base = os.path.join(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111, PTH118
    place = workspace.place
    name = re.sub(r"[^A-Za-z0-9._-]", "-", place.name)[:50].strip(".-") or "workspace"
    digits = hashlib.sha256(os.fsencode(place)).hexdigest()[:_DIGITS]
    return Path(base) / "toolseam" / f"{name}-{digits}"


def private_folder(workspace: Workspace) -> Path:
    """Make the folder of a workspace's index, for its owner alone, and return it.

    Raises `ToolError` `unavailable` if it would lie in the workspace, is another's, or cannot be
    made.
    """
    folder = index_folder(workspace)
    if Path(os.path.realpath(folder)).is_relative_to(workspace.place):
        raise _refused("would lie in the workspace; set XDG_STATE_HOME to a folder outside of it")
    try:
        for each in (folder.parent, folder):
            each.parent.mkdir(parents=True, exist_ok=True)
            each.mkdir(mode=_PRIVATE, exist_ok=True)
            found = each.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                raise _refused("is not this user's own")
            if stat.S_IMODE(found.st_mode) != _PRIVATE:
                each.chmod(_PRIVATE)
    except OSError:
        raise _refused("cannot be made") from None
    return folder


def _refused(why: str) -> ToolError:
    return ToolError(f"The folder for the index {why}.", ErrorCode.UNAVAILABLE)
