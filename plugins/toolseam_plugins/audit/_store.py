"""The store itself: a run, its steps, and what waits of it (policy-and-runs, The audit store).

A write's intent is stored before it runs, or it does not run. What cannot be stored of a read is
counted and said; what cannot be stored of a write's outcome is owed, and holds the run.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from toolseam import ErrorCode, ToolResult
from toolseam.runs import Privacy, RunError, RunStatus
from toolseam_plugins.audit import _statements as sql
from toolseam_plugins.audit._database import AuditError, Doubled, Unreachable
from toolseam_plugins.audit._held import held_run, held_runs, release, settle
from toolseam_plugins.audit._retention import CHUNK, DAY_S, purge
from toolseam_plugins.audit._rows import (
    StepRow,
    name,
    number_of,
    of_answer,
    of_intent,
    of_note,
    of_step,
)
from toolseam_plugins.audit._seal import Place, Sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolseam import Step
    from toolseam.runs import HeldRun, Intent, KeptDecision, Run, RunStep, Told
    from toolseam_plugins.audit._database import Database
    from toolseam_plugins.audit._seal import Seal
    from toolseam_plugins.audit._writer import Writer

T = TypeVar("T")
LOGGER = logging.getLogger("toolseam.audit")
_KNOWN = 4_096
_TRIES = 100
PAUSE_S = 60.0
"""How long a purge that found a whole chunk waits before it goes on."""


class AuditStore:
    """Keeps runs in a database: a `RunStore`.

    Args:
        writer: hands out the connection.
        level: what of content is stored.
        seal: for what waits.
        days: how long anything is kept.
    """

    def __init__(self, writer: Writer, level: Privacy, seal: Seal, days: float) -> None:
        self._writer = writer
        self._level = level
        self._seal = seal
        self._days = days
        self._purged = time.monotonic()
        self._turn = writer.counting
        writer.begin_again = self._begin_again
        # Rows of `run` that are there; one that was forgotten is only asked for again.
        self._known: OrderedDict[str, None] = OrderedDict()
        self._facts: dict[str, Mapping[str, object]] = {}
        # Runs that other processes may repeat: each step of them is stored once.
        self._durable: OrderedDict[str, None] = OrderedDict()
        self._intended: set[tuple[str, int]] = set()
        self._lost: dict[str, int] = {}
        self._owed: dict[str, list[Callable[[Database], object]]] = {}

    # -- what happens --------------------------------------------------------------------------

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Remember that a run began."""
        self._facts[run_id] = facts
        if facts.get("durable"):
            self._tell_once(run_id)
        self._soon(run_id, lambda database: self._know(database, run_id))

    def intent(self, intent: Intent) -> ToolResult | None:
        """Remember that a write is about to run; refuse it where that cannot be stored."""
        row = of_intent(intent, self._level)

        def store(database: Database) -> None:
            self._settle(database)
            self._know(database, row.run_id)
            with database.durable():
                self._insert(database, row)

        try:
            self._writer.now(store)
        except Unreachable as fault:
            LOGGER.warning("the intent of %s could not be stored: %s", row.tool, fault)
            message = "The audit cannot be written, so nothing that may write is run; try later."
            return ToolResult.error(
                message, ErrorCode.UNAVAILABLE, retriable=True, metadata={"reason": "audit"}
            )
        self._intended.add((row.run_id, row.number))
        return None

    def step(self, step: Step) -> None:
        """Remember a finished call."""
        key = step.run_id, number_of(step.id)
        intended = key in self._intended
        self._intended.discard(key)

        def store(database: Database) -> None:
            row = of_step(step, self._level)
            self._know(database, row.run_id)
            # The process that stored the intent of a durable run's write may be another one.
            if not intended and row.run_id not in self._durable:
                _insert(database, row)
                return
            with database.durable():
                if not _finished(database, row):
                    self._insert(database, row)

        self._soon(step.run_id, store, owed=intended)

    def note(self, step: RunStep) -> None:
        """Remember a step that is no tool call."""

        def store(database: Database) -> None:
            self._know(database, step.run_id)
            self._insert(database, of_note(step, self._level))

        self._soon(step.run_id, store)

    def holds(self, run_id: str) -> bool:
        """Tell whether an outcome of the run is still owed; it is tried once more."""
        try:
            self._writer.now(self._settle)
        except Unreachable:
            held = run_id in self._owed
            if held:
                self._owe(run_id, lambda database: _held(database, run_id))
            return held
        return False

    def end(self, run: Run) -> None:
        """Remember how a run ended, and erase what waited of it."""
        status, reason = run.status.value, None if run.reason is None else run.reason.value
        row = (
            time.time(),
            run.rounds,
            run.usage.input_tokens,
            run.usage.output_tokens,
            run.mark.value,
            None if run.fault is None else run.fault.value,
            int(run.truncated),
            of_answer(run, self._level),
        )

        def store(database: Database) -> int:
            with database.transaction():
                database.change(sql.ERASE_DECISIONS, run.id)
                return database.change(sql.END, status, reason, *row, run.id) or database.change(
                    sql.FILL_IN, *row, run.id, status
                )

        def told(database: Database) -> None:
            if not self._changed(database, run.id, store):
                LOGGER.warning("the run %s had ended before", run.id)

        self._at_last(run.id, told)

    def stands(self, run_id: str, status: RunStatus, reason: str | None = None) -> None:
        """Remember how a durable run stands of which nothing else tells."""
        ended = time.time() if status.is_terminal else None
        self._tell_once(run_id)
        self._facts.setdefault(run_id, {})

        def store(database: Database) -> int:
            with database.transaction():
                if status.is_terminal:
                    database.change(sql.ERASE_DECISIONS, run_id)
                return database.change(sql.STANDS, status.value, reason, ended, run_id)

        self._at_last(run_id, lambda database: self._changed(database, run_id, store))

    # -- what waits ----------------------------------------------------------------------------

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep a run that waits, sealed."""

        def store(database: Database) -> None:
            self._know(database, run_id)
            with database.transaction():
                ((owner, waits),) = database.rows(sql.OWNER, run_id)
                place = Place(run_id, _state_column(waits + 1), owner)
                sealed = self._seal.close(state, place)
                if not database.change(sql.SUSPEND, sealed, time.time(), run_id, waits):
                    raise RunError("The run has ended, and cannot wait.", "unavailable")

        self._asked(run_id, store)

    def look(self, run_id: str) -> bytes:
        """Return the state of a run that waits, and leave it waiting."""
        return self._asked(run_id, lambda database: self._state(database, run_id))

    def waiting_runs(self) -> tuple[str, ...]:
        """Return the ids of the runs that wait for people, who has waited longest first."""
        return self._asked("", lambda database: tuple(i for (i,) in database.rows(sql.ALL_WAITING)))

    def decide(self, run_id: str, decisions: Sequence[KeptDecision]) -> None:
        """Keep what people said, sealed, all or none."""

        def store(database: Database) -> None:
            with database.transaction():
                owner, wait = _waiting(database, run_id)
                for each in decisions:
                    place = Place(run_id, _column(wait, each.position), owner)
                    database.change(
                        sql.DECIDE,
                        run_id,
                        wait,
                        each.position,
                        time.time(),
                        each.verdict,
                        name(each.decided_by),
                        self._seal.close(each.text, place),
                    )

        try:
            self._asked(run_id, store)
        except Doubled:
            raise RunError("Somebody has decided about this call.", "conflict") from None

    def decisions(self, run_id: str) -> tuple[bytes, ...]:
        """Return what people have said so far."""

        def read(database: Database) -> tuple[bytes, ...]:
            owner, wait = _waiting(database, run_id)
            return tuple(
                self._seal.open(sealed, Place(run_id, _column(wait, position), owner))
                for position, sealed in database.rows(sql.DECISIONS, run_id, wait)
            )

        return self._asked(run_id, read)

    def forget(self, run_id: str) -> None:
        """Drop what people have said of a run that waits on."""

        def drop(database: Database) -> None:
            _, wait = _waiting(database, run_id)
            database.change(sql.FORGET, run_id, wait)

        self._asked(run_id, drop)

    def claim(self, run_id: str, state: bytes) -> None:
        """Take a run that waits in this very state; what is claimed is kept no longer."""

        def take(database: Database) -> None:
            with database.transaction():
                if not database.change(sql.TAKE, database.writer, run_id):
                    raise _not_found()
                ((level,),) = database.rows(sql.LEVEL, run_id)
                # What is there was stored under another level, perhaps; the row tells the laxest.
                laxest = max(self._level, Privacy.strictest(level), key=lambda each: each.rank)
                if self._state(database, run_id) != state:
                    raise RunError("The run has gone on; look at it again.", "conflict")
                database.change(sql.CLAIM, laxest.value, run_id)

        self._asked(run_id, take)

    # -- what is held --------------------------------------------------------------------------

    def hold(self, run: Run) -> None:
        """Hold a run whose writes nobody may repeat; the one who drives it goes on later."""

        def store(database: Database) -> None:
            self._know(database, run.id)
            database.change(sql.FENCED, run.id)

        self._at_last(run.id, store)

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return the runs that are held, the oldest first."""
        return self._asked("", lambda database: tuple(held_runs(database, self._seal)))

    def held_run(self, run_id: str) -> HeldRun:
        """Return one of them."""
        return self._asked(run_id, lambda database: held_run(database, self._seal, run_id))

    def settle(self, run_id: str, told: Sequence[Told]) -> bool:
        """Keep what people say of calls of a held run, all or none."""

        def store(database: Database) -> bool:
            self._settle(database)
            with database.transaction():
                return settle(database, self._seal, run_id, told)

        return self._asked(run_id, store)

    def release(self, run_id: str) -> tuple[Told, ...]:
        """Take a run that is held, to go on with it."""

        def take(database: Database) -> tuple[Told, ...]:
            with database.transaction():
                return release(database, self._seal, run_id)

        return self._asked(run_id, take)

    def purge_chunk(self, database: Database) -> None:
        """Delete a chunk of what is too old; of more the next goes soon, and else in a day."""
        self._purged = time.monotonic()
        if purge(database, self._days, chunks=1) >= CHUNK:
            self._purged += PAUSE_S - DAY_S

    def close(self) -> None:
        """Write what is left, and end."""
        try:
            self._writer.now(self._settle)
        except Unreachable as fault:
            LOGGER.warning("what was owed to the audit could not be stored: %s", fault)
        self._writer.close()

    # -- inside --------------------------------------------------------------------------------

    def _tell_once(self, run_id: str) -> None:
        """Know of a durable run that its steps may be told here again: each is stored once."""
        self._durable[run_id] = None
        while len(self._durable) > _KNOWN:
            self._durable.popitem(last=False)

    def _changed(self, database: Database, run_id: str, store: Callable[[Database], int]) -> bool:
        """Change the row of a run, which is begun again if it is there no more."""
        self._know(database, run_id)
        if store(database):
            return True
        self._known.pop(run_id, None)
        self._facts.setdefault(run_id, {})
        return bool(self._know(database, run_id) and store(database))

    def _at_last(self, run_id: str, store: Callable[[Database], object]) -> None:
        """Store how a run stands, after all that is owed; what cannot be stored now is owed."""
        try:
            self._writer.now(self._settle)
            self._writer.now(store)
        except Unreachable as fault:
            LOGGER.warning("how the run %s stands could not be stored yet: %s", run_id, fault)
            self._owe(run_id, store)

    def _begin_again(self) -> None:
        """Owe nothing that the parent of a fork owes, and will store."""
        self._lost.clear()
        self._owed.clear()

    def _soon(
        self, run_id: str, store: Callable[[Database], object], *, owed: bool = False
    ) -> None:
        """Store what happened; what cannot be stored is counted, or owed, and reported."""

        def work(writer: Writer) -> None:
            try:
                writer.within(store)
            except Exception as fault:  # noqa: BLE001 - a call never fails because of its row
                LOGGER.warning("a step of %s could not be stored: %s", run_id, _kind(fault))
                if owed:
                    self._owe(run_id, store)
                else:
                    with self._turn:
                        self._lost[run_id] = self._lost.get(run_id, 0) + 1
            else:
                self._tidy(writer)

        self._writer.soon(work)

    def _tidy(self, writer: Writer) -> None:
        """Do what is left to do; what fails is tried again, and no step is lost by it."""
        try:
            if self._lost or self._owed:
                writer.within(self._settle)
            if time.monotonic() - self._purged > DAY_S:
                writer.within(self.purge_chunk)
        except Exception as fault:  # noqa: BLE001 - likewise
            LOGGER.warning("the audit could not be tidied: %s", _kind(fault))

    def _owe(self, run_id: str, store: Callable[[Database], object]) -> None:
        with self._turn:
            self._owed.setdefault(run_id, []).append(store)

    def _settle(self, database: Database) -> None:
        """Store what is owed, in order; raises `Unreachable` with the rest still owed."""
        with self._turn:
            owed, lost = dict(self._owed), dict(self._lost)
        for run_id, stores in owed.items():
            while stores:
                stores[0](database)
                with self._turn:
                    del stores[0]
                    if not stores:
                        del self._owed[run_id]
        for run_id, count in lost.items():
            self._know(database, run_id)
            database.change(sql.LOST, count, run_id)
            with self._turn:
                self._lost[run_id] -= count
                if not self._lost[run_id]:
                    del self._lost[run_id]

    def _know(self, database: Database, run_id: str) -> bool:
        """Have a row for a run, and tell if it is new; one that never began here is a session."""
        if run_id in self._known:
            self._facts.pop(run_id, None)
            return False
        facts = self._facts.get(run_id)
        kind = "session" if facts is None else "run"
        known = facts or {}
        made = database.change(
            sql.BEGIN,
            run_id,
            kind,
            kind if facts is None else RunStatus.RUNNING.value,
            *(name(known.get(key)) for key in ("actor", "zone", "provider")),
            self._level.value,
            # Whoever drives a durable run may be lost: others go on with it.
            "" if run_id in self._durable else database.writer,
            time.time(),
        )
        self._known[run_id] = None
        self._facts.pop(run_id, None)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return bool(made)

    def _insert(self, database: Database, row: StepRow) -> None:
        """Add a step; one of a durable run may be there, from a process that was lost."""
        if row.run_id in self._durable and database.rows(sql.STORED, row.run_id, row.number):
            return
        _insert(database, row)

    def _asked(self, run_id: str, work: Callable[[Database], T]) -> T:
        """Do it, or tell that it cannot be done now; what does not open ends the run as failed."""
        try:
            return self._writer.now(work)
        except Sealed:
            LOGGER.warning("what was sealed of the run %s does not open", run_id)
            self._asked(run_id, lambda database: _spoil(database, run_id))
            raise RunError("What was kept of this run has been altered.", "conflict") from None
        except Unreachable as fault:
            LOGGER.warning("the audit store did not answer: %s", fault)
            raise RunError("The audit store cannot be reached now.", "unavailable") from None
        except AuditError as fault:
            raise RunError(str(fault), "unavailable") from None

    def _state(self, database: Database, run_id: str) -> bytes:
        owner, wait = _waiting(database, run_id)
        ((sealed,),) = database.rows(sql.STATE, run_id)
        return self._seal.open(sealed, Place(run_id, _state_column(wait), owner))


def _kind(fault: Exception) -> str:
    return str(fault) if isinstance(fault, Unreachable) else type(fault).__name__


def _not_found() -> RunError:
    return RunError("No run of this id waits here.", "not_found")


def _state_column(wait: int) -> str:
    return f"state {wait}"


def _column(wait: int, position: int) -> str:
    return f"decision {wait} {position}"


def _waiting(database: Database, run_id: str) -> tuple[str | None, int]:
    """Return the owner of a run that waits, and how often it has begun to wait."""
    rows = database.rows(sql.WAITING, run_id)
    if not rows:
        raise _not_found()
    return rows[0][0], int(rows[0][1])


def _spoil(database: Database, run_id: str) -> None:
    with database.transaction():
        database.change(sql.SPOILT, time.time(), run_id)
        database.change(sql.ERASE_DECISIONS, run_id)


def _held(database: Database, run_id: str) -> None:
    database.change(sql.HELD, run_id)


def _insert(database: Database, row: StepRow) -> None:
    """Add a step behind the last one."""
    values = row.run_id, row.run_id, time.time(), *row[1:]
    with suppress(Doubled):
        database.change(sql.STEP, *values)
        return
    # Another process writes to the same run, and took the number first: from now on in turn.
    for _ in range(_TRIES):
        with suppress(Doubled), database.transaction():
            database.change(sql.LOCK, row.run_id)
            database.change(sql.STEP, *values)
            return
    raise Unreachable("no number")


def _finished(database: Database, row: StepRow) -> bool:
    """Complete the row of a write's intent with its outcome; False if it is gone."""
    outcome = row.duration_s, row.status, row.effect, row.facts, row.content
    return bool(database.change(sql.OUTCOME, *outcome, row.run_id, row.number))
