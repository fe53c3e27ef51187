"""What is stored, for people: runs, their steps, and what people decided."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from toolseam_plugins.audit import _statements as sql
from toolseam_plugins.audit._database import AuditError, Database, Unreachable
from toolseam_plugins.audit._opening import connect
from toolseam_plugins.audit._retention import purge

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from toolseam._settings import Settings

Place = tuple[float, str]
"""Where a run stands among all: when it began, in seconds of the epoch, and its id."""

NEWEST: Place = (float("inf"), "")
_PAGE = 200
_MOMENTS = ("began", "ended", "at")
_RUN = (
    *("run", "kind", "status", "reason", "owner", "zone", "provider", "level", "began", "ended"),
    *("rounds", "input_tokens", "output_tokens", "mark", "fault", "truncated", "lost"),
    *("content", "steps", "missing"),
)
_STEP = (
    *("seq", "at", "kind", "round", "position", "duration_s", "actor", "tool", "distribution"),
    *("version", "status", "effect", "facts", "content"),
)
_DECISION = ("wait", "position", "at", "verdict", "decided_by")
_TOLD = ("round", "position", "at", "verdict", "said_by")


@attrs.frozen
class Audit:
    """A store that is looked at; every record is plain JSON, its moments ISO 8601 in UTC."""

    _database: Database

    def runs(self, limit: int | None = None, status: str = "") -> Iterator[dict[str, Any]]:
        """Give runs and sessions, the newest first.

        Args:
            limit: at most so many; None is all.
            status: only these; empty is any.
        """
        before = NEWEST
        left = limit
        while left is None or left > 0:
            count = _PAGE if left is None else min(left, _PAGE)
            page = self.page(before, count, status)
            yield from (run for _, run in page)
            if len(page) < count:
                return
            before = page[-1][0]
            left = None if left is None else left - count

    def page(
        self, before: Place, limit: int, status: str = ""
    ) -> list[tuple[Place, dict[str, Any]]]:
        """Return runs and sessions that began before a place, each with its own.

        Args:
            before: a run's place, or `NEWEST`.
            limit: at most so many.
            status: only these; empty is any.
        """
        rows = self._database.rows(sql.RUNS, *before, status, status, limit)
        return [((row[_RUN.index("began")], row[0]), _run(row)) for row in rows]

    def run(self, beginning: str) -> dict[str, Any] | None:
        """Return the one run whose id begins so, None if there is none.

        Raises `AuditError` if there are several.
        """
        found = self._database.rows(sql.BEGINNING, beginning, f"{beginning}\U0010ffff")
        if len(found) > 1:
            raise AuditError(f"Several runs begin with {beginning[:64]!a}.")
        return _run(self._database.rows(sql.RUN, found[0][0])[0]) if found else None

    def steps(self, run_id: str) -> Iterator[dict[str, Any]]:
        """Give the steps of a run, oldest first."""
        last = 0
        while rows := self._database.rows(sql.STEPS, run_id, last, _PAGE):
            yield from (_record(_STEP, row) for row in rows)
            last = rows[-1][0]

    def outline(self, run_id: str, after: int, limit: int) -> list[dict[str, Any]]:
        """Return at most so many steps that follow a number, oldest first, without content."""
        rows = self._database.rows(sql.OUTLINE, run_id, after, limit)
        return [_record(_STEP[:-1], row) for row in rows]

    def step(self, run_id: str, seq: int) -> dict[str, Any] | None:
        """Return one step of a run, None if there is none of this number."""
        rows = self._database.rows(sql.STEPS, run_id, seq - 1, 1)
        return _record(_STEP, rows[0]) if rows and rows[0][0] == seq else None

    def calls_since(self, moment: float, limit: int) -> list[tuple[float, str, str]]:
        """Return when, which tool and how it ended, of at most so many calls, the newest first."""
        return [
            (row[0], row[1], row[2]) for row in self._database.rows(sql.CALLS_SINCE, moment, limit)
        ]

    def decisions(self, run_id: str) -> list[dict[str, Any]]:
        """Return who decided what, and when."""
        return [_record(_DECISION, row) for row in self._database.rows(sql.SAID, run_id)]

    def told(self, run_id: str) -> list[dict[str, Any]]:
        """Return who said what of the calls that held a run, and when."""
        return [_record(_TOLD, row) for row in self._database.rows(sql.TOLD, run_id)]

    def purge(self, days: float) -> int:
        """Delete what is older than `days`; return how many runs and sessions."""
        return purge(self._database, days)


@contextmanager
def look(settings: Settings) -> Generator[Audit]:
    """Open the store that the settings name, to be looked at.

    Raises `AuditError` where there is none, or where it cannot be read.
    """
    database = connect(settings)
    try:
        yield Audit(database)
    except Unreachable as fault:
        raise AuditError(f"{database.place}: does not answer ({fault})") from None
    finally:
        database.close()


def _run(row: tuple[Any, ...]) -> dict[str, Any]:
    found = _record(_RUN, row)
    # Numbers have no gap, unless somebody took a step away.
    found["missing"] = found["missing"] or 0
    found["truncated"] = bool(found["truncated"])
    answer: dict[str, Any] = found.pop("content") or {}
    return {**found, "answer": answer.get("answer")}


def _record(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    found = dict(zip(names, row, strict=True))
    try:
        return found | {key: read(found[key]) for key, read in _READ.items() if key in found}
    except (TypeError, ValueError, OverflowError, OSError):
        raise AuditError(f"A row of {str(row[0])[:64]!a} is not as it was written.") from None


def _moment(value: float | None) -> str | None:
    return None if value is None else datetime.fromtimestamp(value, UTC).isoformat()


def _json(value: str | None) -> Any:  # noqa: ANN401 - JSON has no narrower type
    return None if value is None else orjson.loads(value)


_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_MOMENTS, _moment),
    **dict.fromkeys(("facts", "content"), _json),
}
