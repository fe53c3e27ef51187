"""A storage that is a folder of this machine, behind the path guard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

import attrs

from toolseam.guards import PathGuard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from toolseam.guards import FileLook, FolderRead


@attrs.frozen
class FolderStorage:
    """A folder; `leave_out` names folders that a walk does not enter."""

    name: str
    guard: PathGuard
    leave_out: frozenset[str] = frozenset()

    def folder(self, path: str) -> FolderRead:
        """List one folder."""
        return self.guard.folder(self._inside(path))

    def walk(self) -> Iterator[str]:
        """Give the names of all files that may be seen."""
        return self.guard.walk(leave_out=self.leave_out)

    def look(self, path: str) -> FileLook:
        """Look at a file or folder."""
        return self.guard.look(self._inside(path))

    def open(self, path: str) -> AbstractContextManager[tuple[FileLook, BinaryIO]]:
        """Open a file."""
        return self.guard.open(self._inside(path))

    def close(self) -> None:
        """Hold nothing, give nothing back."""

    def _inside(self, path: str) -> str:
        """Take a leading slash for the storage's root, except where the first folder is not there.

        What is left is the machine's own absolute path, which the guard refuses whether or not
        anything is there (P25).
        """
        relative = path.lstrip("/")
        first, slash, _ = relative.partition("/")
        foreign = relative != path and slash and not os.path.lexists(self.guard.root / first)
        return path if foreign else relative
