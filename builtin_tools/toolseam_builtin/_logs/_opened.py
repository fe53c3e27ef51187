"""One reading of the logs: what a tool asks for, and what it must say of how far that went."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._logs._files import Logs, find_logs
from toolseam_builtin._logs._reading import Budget
from toolseam_builtin._logs._records import Record, newest_records
from toolseam_builtin._logs._times import since

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam import ToolContext

SECONDS = 1.3
_MARGIN = 0.3


@attrs.frozen
class Reading:
    """Logs that are being read: `records` are the newest first, `now` is when it began."""

    found: Logs
    budget: Budget
    now: datetime
    records: Iterator[Record]

    @property
    def notes(self) -> list[str]:
        """What must be said once the records have been read: damage, and what stopped it."""
        notes = [*self.found.warnings, *self.budget.warnings]
        if self.budget.stopped:
            notes.append(
                f"Stopped at {self.budget.stopped}, read from the newest back: older records are"
                " not searched nor counted."
            )
        return notes

    @property
    def where(self) -> str:
        """How many files were looked at."""
        count = self.found.files
        return f"{count:,} log file{'' if count == 1 else 's'}"


@contextmanager
def read_logs(context: ToolContext, begin: str | None = None) -> Generator[Reading]:
    """Read the workspace's logs, and close them at the end of the block.

    Args:
        context: of the call; its settings are the workspace.
        begin: the oldest time wanted, as `since` reads it.

    Raises `ToolError` as `find_logs` does, and as `since` does.
    """
    now = datetime.now(UTC)
    oldest = None if begin is None else since(begin, now)
    found = find_logs(context.settings)
    end = min(time.monotonic() + SECONDS, (context.deadline or math.inf) - _MARGIN)
    budget = Budget(end, context.cancelled)
    with closing(newest_records(found.logs, budget, now, oldest)) as records:
        yield Reading(found, budget, now, records)
