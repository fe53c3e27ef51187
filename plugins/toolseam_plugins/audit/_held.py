"""Runs that are held, as they are stored, and what people say of their calls.

What is said of a durable run's call has its write made, or not: it is sealed, and a word that does
not open nobody has said.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from toolseam.runs import HeldCall, HeldRun, RunError, Told
from toolseam_plugins.audit import _statements as sql
from toolseam_plugins.audit._database import AuditError
from toolseam_plugins.audit._rows import name
from toolseam_plugins.audit._seal import Place, Sealed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolseam_plugins.audit._database import Database
    from toolseam_plugins.audit._seal import Seal

_FENCED = "fenced"


def held_runs(database: Database, seal: Seal) -> Iterator[HeldRun]:
    """Give the runs that are held, the oldest first."""
    for row in database.rows(sql.ALL_HELD):
        yield _run(database, seal, *row)


def held_run(database: Database, seal: Seal, run_id: str) -> HeldRun:
    """Return one of them; raises `RunError` `not_found`."""
    for row in database.rows(sql.ONE_HELD, run_id):
        return _run(database, seal, *row)
    raise _not_held()


def settle(database: Database, seal: Seal, run_id: str, told: Sequence[Told]) -> bool:
    """Keep what people say; with the last call a run that does not go on has ended.

    Raises `RunError`: `not_found`, and `conflict` where somebody has said it.
    """
    if not database.change(sql.LOCK_HELD, run_id):
        raise _not_held()
    for each in told:
        found = database.rows(sql.HELD_NUMBERS, run_id, each.round, each.position)
        if not found:
            raise RunError("No such call of this run is held.", "not_found")
        # A run that was taken up again may have tried to make the same call twice.
        numbers = [row[:2] for row in found if not _is_said(seal, run_id, *row)]
        if not numbers:
            raise RunError("Somebody has said what this call did.", "conflict")
        for number, writer in numbers:
            said = each.verdict, name(each.said_by)
            sealed = None if writer else seal.close(orjson.dumps(said), _place(run_id, number))
            database.change(sql.UNSAID, run_id, number)
            database.change(sql.DECIDE, run_id, 0, number, time.time(), *said, sealed)
    if any(call.told is None for call in _calls(database, seal, run_id)):
        return False
    database.change(sql.SETTLED, time.time(), run_id)
    return True


def release(database: Database, seal: Seal, run_id: str) -> tuple[Told, ...]:
    """Make a run that is held one that runs here, and return what people have said.

    Raises `RunError`: `not_found`, and `conflict` while a call is open.
    """
    if not database.change(sql.RELEASED, database.writer, run_id):
        raise _not_held()
    told = [call.told for call in _calls(database, seal, run_id)]
    if None in told:
        raise RunError("Not every call of this run is told of.", "conflict")
    return tuple(each for each in told if each is not None)


def _run(
    database: Database, seal: Seal, run_id: str, owner: str | None, began: float, reason: str | None
) -> HeldRun:
    moment, goes_on = datetime.fromtimestamp(began, UTC), reason == _FENCED
    return HeldRun(run_id, owner, moment, reason, goes_on, _calls(database, seal, run_id))


def _calls(database: Database, seal: Seal, run_id: str) -> tuple[HeldCall, ...]:
    """Return the calls of unknown effect, each place in the run once, as it was tried last."""
    found: dict[tuple[int, int], HeldCall] = {}
    for row in database.rows(sql.HELD_CALLS, run_id):
        round_number, position, tool, status, actor, content, *words = row
        _, _, verdict, said_by, _ = words
        kept: dict[str, Any] = {} if content is None else orjson.loads(content)
        said = _is_said(seal, run_id, *words)
        told = Told(round_number, position, verdict, said_by) if said else None
        found[round_number, position] = HeldCall(
            round_number, position, tool, status, actor, kept.get("arguments"), told
        )
    return tuple(found.values())


def _is_said(
    seal: Seal,
    run_id: str,
    number: int,
    writer: str,
    verdict: str | None,
    said_by: str | None,
    sealed: bytes | None,
) -> bool:
    if verdict is None or writer:
        return verdict is not None
    try:
        return seal.open(sealed, _place(run_id, number)) == orjson.dumps((verdict, said_by))
    except (Sealed, AuditError):
        return False


def _place(run_id: str, number: int) -> Place:
    return Place(run_id, f"told {number}", None)


def _not_held() -> RunError:
    return RunError("No run of this id is held here.", "not_found")
