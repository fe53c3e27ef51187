"""The refusals that every writer gives in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolseam_builtin._database._model import Table


def conflict(message: str, reason: str | None = None) -> ToolError:
    """Return a refusal for what stands against a change; nothing was changed."""
    metadata = None if reason is None else {"reason": reason}
    return ToolError(message, ErrorCode.CONFLICT, metadata=metadata)


def duplicate(table: Table, columns: Iterable[str]) -> ToolError:
    """Return the refusal for a value that another record has already."""
    names = ", ".join(columns)
    place = f"{table.title}.{names}" if names else table.title
    return conflict(
        f"Another record of {table.title} has the same value: {place} must be unique.", "duplicate"
    )


def sets_off(table: Table, kind: str, names: Iterable[str]) -> ToolError:
    """Return the refusal for a table with triggers or rules, which would write more."""
    listed = ", ".join(sorted(names))
    return conflict(
        f"{table.title} is not written: its {kind} {listed} would run, and no preview can say what"
        " that changes.",
        kind,
    )


def reaches_further(table: Table) -> ToolError:
    """Return the refusal for a write that would change other rows than announced."""
    return conflict(
        f"{table.title} is not written: the change would reach rows that the preview does not name."
    )


def not_as_previewed(table: Table, *, undone: bool) -> ToolError:
    """Return the refusal for a record that the database keeps otherwise than it was written.

    Args:
        table: where it is.
        undone: it was taken back; if not, nobody knows what was kept.
    """
    said = f"The database keeps the record of {table.title} otherwise than the preview says;"
    if undone:
        return conflict(f"{said} it was taken back, nothing was changed.")
    return ToolError(f"{said} taking it back failed, so look at it.", ErrorCode.EXECUTION_ERROR)


def changed_meanwhile(table: str) -> ToolError:
    """Return the refusal for a record that somebody else changes at the same time."""
    return conflict(f"{table} was changed by somebody else meanwhile; ask again.", "changed")


def exactly_one(count: int, table: Table) -> None:
    """Refuse a statement that touches no row, or several, where one record is meant."""
    if count != 1:
        raise conflict(
            f"The change of {table.title} would not touch exactly one record; nothing was changed."
        )


def unfit(table: Table, condition: str) -> ToolError:
    """Return the refusal for values that a condition of the table does not take."""
    return ToolError(
        f"{table.title} does not take the values: {condition}.", ErrorCode.INVALID_ARGUMENTS
    )


def busy(title: str) -> ToolError:
    """Return the refusal where another program holds the lock."""
    return unavailable(f"{title} is locked by another program.", "busy")


def not_wanted() -> ToolError:
    """Return the end of a write for which nobody waits any more; nothing was changed."""
    return ToolError("The call was given up; nothing was changed.", ErrorCode.CANCELLED)
