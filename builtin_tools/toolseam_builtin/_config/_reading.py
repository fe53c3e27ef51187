"""Reading a file of the workspace to its value, in the time that a call has."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from toolseam_builtin._config._files import read_config
from toolseam_builtin._config._model import Broken, unreadable
from toolseam_builtin._config._parse import parse

if TYPE_CHECKING:
    from toolseam import ToolContext
    from toolseam_builtin._config._files import ConfigText
    from toolseam_builtin._config._model import Parsed
    from toolseam_builtin.workspace import Workspace

SECONDS = 1.2


def end_of(context: ToolContext) -> float:
    """Return the moment of `time.monotonic()` at which a call stops reading."""
    return min(time.monotonic() + SECONDS, context.deadline or math.inf)


def load(workspace: Workspace, name: str, end: float) -> tuple[ConfigText, Parsed]:
    """Return a file and its value.

    Raises `ToolError` as `read_config` does, and `execution_error` for what cannot be read as
    what it is, or not within the limits.
    """
    try:
        source = read_config(workspace, name)
        return source, parse(source, end)
    except Broken as broken:
        raise unreadable(name, broken) from None
