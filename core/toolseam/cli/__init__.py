"""The command line: `main` is what the console script and `python -m toolseam` start.

One module a command, imported when it is wanted; `list` answers before attrs could be imported.
No `from __future__` here nor above: it is an import, and the workspace may still come first.
"""

import os
import sys

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

_LOOKING = (["list"], ["show"], ["doctor"])


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code: 0, 1 failure, 2 usage, 3 contract error.

    Args:
        argv: the words after the program's name; by default those of the process, whose path
            then loses what the current folder could put before our own modules.
    """
    left: list[str] = []
    looking = False
    if argv is None:
        argv = sys.argv[1:]
        left = _leave_the_folder()
        looking = argv[:1] in _LOOKING
    from toolseam.cli._main import run

    return _uncollected(lambda: run(argv, left)) if looking else run(argv, left)


def _uncollected(run: "Callable[[], int]") -> int:
    """Run a command that only imports and shows: none of it is garbage before the process ends.

    With 46 tools, looking for garbage takes 0.7 bare starts of Python, and freeing one object
    after the other at the end 1.2 of them.
    """
    import gc

    gc.disable()
    code = run()
    gc.freeze()
    return code


def _leave_the_folder() -> list[str]:
    """Drop the path entries through which the workspace could be imported, and return them."""
    try:
        folder = os.getcwd()  # noqa: PTH109 - `pathlib` costs a bare start
    except OSError:  # the folder was deleted
        return []
    path = sys.path[:]
    sys.path[:] = [os.path.dirname(os.__file__)]  # noqa: PTH120 - likewise
    from toolseam._entrypoints import safe_path

    sys.path[:] = safe_path(path, folder)
    return [entry for entry in path if entry not in sys.path]
