"""The refusals that every reader gives in the same words."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

_NAME_CHARACTERS = 100


def no_table(name: str, readable: Iterable[str] = ()) -> ToolError:
    """Return the one refusal for a table that is absent, denied or not permitted.

    Args:
        name: as it was asked for.
        readable: titles of readable tables, near misses of which are named.
    """
    from difflib import get_close_matches

    asked = name[:_NAME_CHARACTERS]
    folded = {title.casefold(): title for title in readable if title != name}
    near = [folded[title] for title in get_close_matches(asked.casefold(), folded, n=3)]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return ToolError(f"No readable table {asked!r}.{hint}", ErrorCode.NOT_FOUND)


def no_column(name: str, table: str, columns: Iterable[str]) -> ToolError:
    """Return the refusal for a column that a table does not have."""
    listed = ", ".join(list(columns)[:50])
    return ToolError(
        f"{table} has no column {name[:_NAME_CHARACTERS]!r}; it has: {listed}",
        ErrorCode.INVALID_ARGUMENTS,
    )


def unavailable(message: str, reason: str | None = None) -> ToolError:
    """Return a refusal for what is missing, broken or not configured."""
    metadata = None if reason is None else {"reason": reason}
    return ToolError(message, ErrorCode.UNAVAILABLE, metadata=metadata)


def too_late() -> ToolError:
    """Return the refusal at the deadline."""
    return ToolError("The database did not answer within the deadline.", ErrorCode.TIMEOUT)


def over_budget(title: str) -> ToolError:
    """Return the refusal where reading takes longer than one call may take."""
    return ToolError(
        f"Reading {title} was stopped at the time limit; ask for less of it, or by a column that"
        " has an index.",
        ErrorCode.TIMEOUT,
    )


@attrs.define
class Deadline:
    """A moment on the monotonic clock; `within` holds a nearer one for a part of the work."""

    at: float
    near: float | None = None

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the moment so many seconds from now."""
        return cls(time.monotonic() + seconds)

    def passed(self) -> bool:
        """Tell whether the moment, or the nearer one, is over."""
        return time.monotonic() > (self.at if self.near is None else min(self.at, self.near))

    def left(self) -> float:
        """Return the seconds that are left, at least none."""
        return max(0.0, self.at - time.monotonic())

    @contextmanager
    def within(self, seconds: float) -> Generator[None]:
        """Hold a part of the work to so many seconds, or to half of what is left, if that is less.

        The other half is for saying what was found.
        """
        self.near = time.monotonic() + min(seconds, self.left() / 2)
        try:
            yield
        finally:
            self.near = None
