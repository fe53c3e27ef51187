"""What the tools know of a storage: a folder of files, wherever it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

import attrs

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from toolseam.guards import FileLook, FolderRead


class Storage(Protocol):
    """Files below one root, by names with ``/`` between segments; a slash in front changes nothing.

    Names are literal. Every method raises `ToolError`: `permission_denied` in one text for what
    is outside or denied, existing or not; `not_found`; `invalid_arguments` for what is no name, or
    a file where a folder is meant and the reverse; `unavailable` for a storage that fails.
    """

    @property
    def name(self) -> str:
        """Return the name that the workspace gives the storage."""
        ...

    def folder(self, path: str) -> FolderRead:
        """List one folder."""
        ...

    def walk(self) -> Iterator[str]:
        """Give the names of all files that may be seen, sorted folder by folder."""
        ...

    def look(self, path: str) -> FileLook:
        """Look at a file or folder without opening it."""
        ...

    def open(self, path: str) -> AbstractContextManager[tuple[FileLook, BinaryIO]]:
        """Open a file to be read piece by piece."""
        ...

    def close(self) -> None:
        """Give back what the storage holds."""
        ...


@attrs.frozen
class Clock:
    """When a tool has to stop looking: a moment of `time.monotonic()`, or a cancellation."""

    end: float
    cancelled: Callable[[], bool]

    def left(self, places: int = 1) -> float:
        """Return the seconds for the next of so many places: half of what is left, the last all.

        A table of millions of rows then leaves some time for those behind it.
        """
        left = max(0.0, self.end - time.monotonic())
        return left if places <= 1 else left / 2

    def over(self) -> bool:
        """Tell whether it is time to answer."""
        return time.monotonic() >= self.end or self.cancelled()


def no_file(name: str) -> ToolError:
    """Return the refusal for a name under which nothing stands."""
    from toolseam_builtin._page import excerpt, one_line

    return ToolError(f"Nothing is named {one_line(excerpt(name, 200))}.", ErrorCode.NOT_FOUND)
