"""Where the index of a workspace is kept: in the user's state folder, never in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam.guards import UnsafePlace, make_private, state_folder

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam_builtin.workspace import Workspace

FILE = "index.sqlite"


def index_folder(workspace: Workspace) -> Path:
    """Return the folder of a workspace's index, whether or not it is there."""
    from pathlib import Path

    return state_folder(workspace.place) if workspace.state is None else Path(workspace.state)


def private_folder(workspace: Workspace) -> Path:
    """Make the folder of a workspace's index, for its owner alone, and return it.

    Raises `ToolError` `unavailable` if it would lie in the workspace, is another's, or cannot be
    made.
    """
    try:
        return make_private(index_folder(workspace), outside=workspace.place)
    except UnsafePlace as fault:
        raise ToolError(f"The folder for the index {fault}.", ErrorCode.UNAVAILABLE) from None
