"""The user's own state folder: where what belongs to a workspace is kept, but never in it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from toolseam._errors import ToolseamError

_PRIVATE = 0o700
_DIGITS = 12


class UnsafePlace(ToolseamError):
    """A folder or file of the state folder cannot be used; the text says why, without a path."""


def state_folder(workspace: Path | None = None) -> Path:
    """Return the folder where the state of a workspace is kept, whether or not it is there.

    It is `$XDG_STATE_HOME/toolseam/<name>-<digits>`, by default under `~/.local/state`; the
    digits are of the workspace's whole path. Without a workspace it is the folder above that.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    if not base.startswith(os.sep):  # the XDG rule: a relative path there is to be ignored
        base = os.path.join(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111, PTH118
    root = Path(base) / "toolseam"
    if workspace is None:
        return root
    name = re.sub(r"[^A-Za-z0-9._-]", "-", workspace.name)[:50].strip(".-") or "workspace"
    digits = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:_DIGITS]
    return root / f"{name}-{digits}"


def make_private(folder: Path, *, outside: Path | None = None) -> Path:
    """Make a folder of the state folder, and those above it, for its owner alone; return it.

    Args:
        folder: `state_folder(…)`.
        outside: the workspace, in which it must not lie.

    Raises `UnsafePlace` if it would lie there, is somebody else's, or cannot be made.
    """
    if outside is not None and Path(os.path.realpath(folder)).is_relative_to(
        os.path.realpath(outside)
    ):
        why = "would lie in the workspace; set XDG_STATE_HOME to a folder outside of it"
        raise UnsafePlace(why)
    root = state_folder()
    chain = [each for each in (*reversed(folder.parents), folder) if each.is_relative_to(root)]
    try:
        for each in chain:
            each.parent.mkdir(parents=True, exist_ok=True)
            each.mkdir(mode=_PRIVATE, exist_ok=True)
            found = each.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                raise UnsafePlace("is not this user's own")
            if stat.S_IMODE(found.st_mode) != _PRIVATE:
                each.chmod(_PRIVATE)
    except OSError:
        raise UnsafePlace("cannot be made") from None
    return folder
