"""Finding the one SQLite file of a folder that names no database."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from toolseam_builtin._database._faults import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAGIC = b"SQLite format 3\0"
_ENTRIES = 20_000
_LISTED = 10
_SKIPPED = frozenset({"node_modules", "__pycache__"})
_NAME_IT = 'name it: database = "..." in the table [workspace] of toolseam.toml'


def is_sqlite(path: Path) -> bool:
    """Tell by its first bytes whether a path is a regular SQLite file; links are not followed."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            return False
        descriptor = os.open(path, flags)
    except OSError:
        return False
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return regular and os.read(descriptor, len(_MAGIC)) == _MAGIC
    except OSError:
        return False
    finally:
        os.close(descriptor)


def stands_alone(file: str) -> bool:
    """Tell whether a file that SQLite may write beside a database is no way to another file."""
    try:
        return is_single(os.lstat(file))
    except OSError as error:
        return isinstance(error, FileNotFoundError)


def is_single(found: os.stat_result) -> bool:
    """Tell whether it is a regular file under one name only."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def the_one_database(folder: Path) -> Path:
    """Return the only SQLite file in a folder; hidden folders and environments are left out.

    Raises `ToolError` `unavailable`, naming the setting, if there are several or none.
    """
    found = [path for path in _files(folder) if is_sqlite(path)]
    if not found:
        raise unavailable(f"The folder holds no SQLite file; to use a database, {_NAME_IT}.")
    if len(found) > 1:
        names = [str(path.relative_to(folder)) for path in sorted(found)]
        listed = ", ".join(names[:_LISTED])
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise unavailable(
            f"The folder holds {len(names)} SQLite files ({listed}{more}); {_NAME_IT}."
        )
    return found[0]


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    for here, folders, files in os.walk(folder, followlinks=False):
        seen += 1 + len(files)
        if seen > _ENTRIES:
            raise unavailable(
                f"The folder holds more than {_ENTRIES:,} files; to use a database, {_NAME_IT}."
            )
        base = folder / here
        folders[:] = sorted(name for name in folders if not _left_out(base, name))
        for name in sorted(files):
            if not name.startswith("."):
                yield base / name


def _left_out(base: Path, name: str) -> bool:
    return name.startswith(".") or name in _SKIPPED or (base / name / "pyvenv.cfg").exists()
