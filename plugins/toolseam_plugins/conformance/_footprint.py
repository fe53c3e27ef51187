"""What all code of one process shares, and a plugin must leave as it was.

Imported in bare child processes, so it takes from the standard library alone.
"""

from __future__ import annotations

import contextlib
import locale
import logging
import os
import signal
import sys

TYPE_CHECKING = False  # as type checkers read it; a child process imports this first
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ENVIRONMENT = "the environment variables"
FOLDER = "the current folder"
PATH = "sys.path"
LOCALE = "the locale"


def footprint() -> dict[str, Any]:
    """Return a snapshot of what the process's code shares, by what people call it."""
    root = logging.getLogger()
    return {
        ENVIRONMENT: dict(os.environ),
        FOLDER: _folder(),
        PATH: list(sys.path),
        LOCALE: locale.setlocale(locale.LC_ALL),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the root logger": (root.level, list(root.handlers)),
        "sys.excepthook": sys.excepthook,
        "sys.stdout": sys.stdout,
    }


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Name what differs between two snapshots."""
    return [name for name, value in before.items() if after.get(name) != value]


def restore(before: Mapping[str, Any]) -> None:
    """Put environment, folder, path and locale back, so that what runs next is not misled."""
    if dict(os.environ) != before[ENVIRONMENT]:
        os.environ.clear()
        os.environ.update(before[ENVIRONMENT])
    if before[FOLDER] is not None and _folder() != before[FOLDER]:
        with contextlib.suppress(OSError):
            os.chdir(before[FOLDER])
    if sys.path != before[PATH]:
        sys.path[:] = before[PATH]
    if locale.setlocale(locale.LC_ALL) != before[LOCALE]:
        locale.setlocale(locale.LC_ALL, before[LOCALE])


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - `pathlib` is not the plugin's import
    except OSError:
        return None
