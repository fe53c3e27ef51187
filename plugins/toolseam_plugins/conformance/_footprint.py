"""What all code of one process shares, and a plugin must leave as it was.

Imported in bare child processes, so it takes from the standard library alone.
"""

from __future__ import annotations

import locale
import logging
import os
import signal
import sys

TYPE_CHECKING = False  # as type checkers read it; a child process imports this first
if TYPE_CHECKING:
    from collections.abc import Mapping


def footprint() -> dict[str, object]:
    """Return a snapshot of what the process's code shares, by what people call it."""
    root = logging.getLogger()
    return {
        "the environment variables": dict(os.environ),
        "the current folder": _folder(),
        "sys.path": tuple(sys.path),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the root logger": (root.level, tuple(map(id, root.handlers))),
        "sys.excepthook": id(sys.excepthook),
        "sys.stdout": id(sys.stdout),
    }


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Name what differs between two snapshots."""
    return [name for name, value in before.items() if after.get(name) != value]


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - `pathlib` is not the plugin's import
    except OSError:
        return None
