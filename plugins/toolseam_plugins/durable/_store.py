"""Where durable runs are kept while they wait or are held; all else goes on to the host's store.

The store that the host had is told all that happens, so that an audit keeps it as ever.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson

from toolseam import ErrorCode, ToolResult
from toolseam.runs import HeldCall, HeldRun, RunError, Told
from toolseam_plugins.audit._seal import Sealed
from toolseam_plugins.durable._journal import place_of
from toolseam_plugins.durable._records import DurableError, change, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import psycopg

    from toolseam import Step
    from toolseam._held import Verdict
    from toolseam.runs import Intent, KeptDecision, Run, RunStep, RunStore
    from toolseam_plugins.audit._seal import Seal
    from toolseam_plugins.durable._journal import EngineJournal
    from toolseam_plugins.durable._records import Records

    Connection = psycopg.Connection[Any]

T = TypeVar("T")
WAITING, HELD = "waiting_for_approval", "held"
_LOOK = "SELECT status, state FROM run WHERE id = %s"
_SUSPEND = "UPDATE run SET status = %s, state = %s, changed = %s WHERE id = %s"
_HOLD = "UPDATE run SET status = %s, held = %s, changed = %s WHERE id = %s"
_HELD = "SELECT id, began, held FROM run WHERE status = %s ORDER BY began, id"
_SAID = "SELECT key, verdict, said_by FROM intent WHERE run_id = %s AND verdict IS NOT NULL"
_ALTERED = """
UPDATE run SET status = 'failed', reason = 'altered', state = NULL, changed = %s WHERE id = %s
"""
_OPEN = "SELECT verdict FROM intent WHERE run_id = %s AND key = %s FOR UPDATE"
_TELL = "UPDATE intent SET verdict = %s, said_by = %s WHERE run_id = %s AND key = %s"


class DurableStore:
    """The `RunStore` of a host with durable runs.

    Args:
        inner: the store that the host had.
        records: the tables of durable runs.
        seal: for what waits.
    """

    def __init__(self, inner: RunStore, records: Records, seal: Seal) -> None:
        self.inner = inner
        self._records = records
        self._seal = seal
        self.driven: dict[str, EngineJournal] = {}

    # -- what happens --------------------------------------------------------------------------

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Remember that a run began."""
        self.inner.begin(run_id, {**facts, "durable": run_id in self.driven})

    def intent(self, intent: Intent) -> ToolResult | None:
        """Store a write's intent, in the audit and in the fence; a refusal if that cannot be."""
        refused = self.inner.intent(intent)
        journal = self.driven.get(intent.run_id)
        if refused is not None or journal is None:
            return refused
        try:
            if journal.intend(f"{intent.round}.{intent.position}"):
                return None
        except DurableError:
            message = "The fence cannot be written, so nothing that may write is run; try later."
            code, reason = ErrorCode.UNAVAILABLE, {"reason": "fence"}
            return ToolResult.error(message, code, retriable=True, metadata=reason)
        message = "Another process makes this call."
        return ToolResult.error(message, ErrorCode.CONFLICT, metadata={"reason": "fenced"})

    def step(self, step: Step) -> None:
        """Nothing: the host's own store is told by itself."""

    def note(self, step: RunStep) -> None:
        """Remember a step that is no tool call."""
        self.inner.note(step)

    def holds(self, run_id: str) -> bool:
        """Tell whether a write's outcome could not be stored."""
        return self.inner.holds(run_id)

    def end(self, run: Run) -> None:
        """Remember how a run ended, unless another process drives it by now."""
        journal = self.driven.get(run.id)
        if journal is None or not journal.gone:
            self.inner.end(run)

    def close(self) -> None:
        """End with the host."""
        self._records.close()
        self.inner.close()

    # -- what waits ----------------------------------------------------------------------------

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep a run that waits, sealed."""
        if run_id not in self.driven:
            self.inner.suspend(run_id, state)
            return
        kept = self._seal.close(state, place_of(run_id, "state"))

        def store(connection: Connection) -> None:
            change(connection, "DELETE FROM decision WHERE run_id = %s", run_id)
            change(connection, _SUSPEND, WAITING, kept, time.time(), run_id)

        self._records.wait(store)

    def look(self, run_id: str) -> bytes:
        """Return the state of a run that waits, or that this process has taken."""
        found = self._asked(lambda connection: rows(connection, _LOOK, run_id))
        if not found:
            return self.inner.look(run_id)
        status, state = found[0]
        if state is None or (status != WAITING and run_id not in self.driven):
            raise _not_found()
        try:
            return self._seal.open(bytes(state), place_of(run_id, "state"))
        except Sealed:
            self._records.change(_ALTERED, time.time(), run_id)
            raise _altered() from None

    def waiting_runs(self) -> tuple[str, ...]:
        """Return the ids of the runs that wait for people, durable ones first."""
        statement = "SELECT id FROM run WHERE status = %s ORDER BY changed, id"
        found = self._asked(lambda connection: rows(connection, statement, WAITING))
        return (*(run_id for (run_id,) in found), *self.inner.waiting_runs())

    def decide(self, run_id: str, decisions: Sequence[KeptDecision]) -> None:
        """Keep what people said, sealed, all or none."""
        if not self._is_durable(run_id):
            self.inner.decide(run_id, decisions)
            return

        def store(connection: Connection) -> bool:
            if not rows(connection, f"{_LOOK} AND status = %s FOR UPDATE", run_id, WAITING):
                raise _not_found()
            statement = "INSERT INTO decision VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
            for each in decisions:
                kept = self._seal.close(each.text, place_of(run_id, f"decision {each.position}"))
                if not change(connection, statement, run_id, each.position, kept):
                    raise RunError("Somebody has decided about this call.", "conflict")
            return True

        self._asked(store)

    def decisions(self, run_id: str) -> tuple[bytes, ...]:
        """Return what people have said so far."""
        if not self._is_durable(run_id):
            return self.inner.decisions(run_id)
        statement = "SELECT position, sealed FROM decision WHERE run_id = %s ORDER BY position"

        def read(connection: Connection) -> tuple[bytes, ...]:
            return tuple(
                self._seal.open(bytes(kept), place_of(run_id, f"decision {position}"))
                for position, kept in rows(connection, statement, run_id)
            )

        return self._asked(read)

    def forget(self, run_id: str) -> None:
        """Drop what people have said."""
        if not self._is_durable(run_id):
            self.inner.forget(run_id)
            return
        self._records.change("DELETE FROM decision WHERE run_id = %s", run_id)

    def claim(self, run_id: str, state: bytes) -> None:
        """Take a run that waits; a durable one is taken by a worker alone."""
        if not self._is_durable(run_id):
            self.inner.claim(run_id, state)
            return
        if run_id not in self.driven:
            raise RunError("A worker goes on with this run: Durable.resume.", "conflict")
        if self.look(run_id) != state:
            raise RunError("The run has gone on; look at it again.", "conflict")
        statement = "UPDATE run SET status = 'running', changed = %s WHERE id = %s"
        self._records.change(statement, time.time(), run_id)

    # -- what is held --------------------------------------------------------------------------

    def hold(self, run: Run) -> None:
        """Hold a run of whose write only the intent is known."""
        self.inner.hold(run)
        if run.id not in self.driven:
            return
        calls = [_call_json(cast("Step", step)) for step in run.steps if step.kind == "tool"]
        text = orjson.dumps([call for call in calls if call is not None])
        kept = self._seal.close(text, place_of(run.id, "held"))
        self._records.change(_HOLD, HELD, kept, time.time(), run.id)

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return the runs that are held, durable ones first."""
        found = self._asked(lambda connection: rows(connection, _HELD, HELD))
        own = [self._held(*row) for row in found]
        known = {run.id for run in own}
        return (*own, *(run for run in self.inner.held_runs() if run.id not in known))

    def settle(self, run_id: str, told: Sequence[Told]) -> bool:
        """Keep what people say of calls of a held run, all or none."""
        if not self._is_durable(run_id):
            return self.inner.settle(run_id, told)

        def store(connection: Connection) -> None:
            if not rows(connection, f"{_LOOK} AND status = %s FOR UPDATE", run_id, HELD):
                raise RunError("No run of this id is held here.", "not_found")
            for each in told:
                _tell(connection, run_id, each)

        self._asked(store)
        with suppress(RunError):
            self.inner.settle(run_id, told)
        return all(not run.open for run in self.held_runs() if run.id == run_id)

    def release(self, run_id: str) -> tuple[Told, ...]:
        """Take a run that is held; a durable one is taken by a worker alone."""
        if not self._is_durable(run_id):
            return self.inner.release(run_id)
        raise RunError("A worker goes on with this run: Durable.resume.", "conflict")

    def go_on(self, run_id: str) -> str:
        """Hand a run that is held back to a worker: return the key of the call that held it.

        Raises `RunError`: `not_found`, and `conflict` while a call is open.
        """
        run = self._found_held(run_id)
        if run.open:
            # A person may have said it where only the audit is open.
            elsewhere = [each for each in self.inner.held_runs() if each.id == run_id]
            told = [call.told for each in elsewhere for call in each.calls if call.told is not None]
            still = {(call.round, call.position) for call in run.open}
            self.settle(run_id, [each for each in told if (each.round, each.position) in still])
            run = self._found_held(run_id)
        if run.open or not run.calls:
            raise RunError("Not every call of this run is told of.", "conflict")
        with suppress(RunError):
            self.inner.release(run_id)
        first = min(run.calls, key=lambda call: (call.round, call.position))
        return f"{first.round}.{first.position}"

    # -- inside --------------------------------------------------------------------------------

    def _found_held(self, run_id: str) -> HeldRun:
        for run in self.held_runs():
            if run.id == run_id:
                return run
        raise RunError("No run of this id is held here.", "not_found")

    def _held(self, run_id: str, began: float, kept: bytes) -> HeldRun:
        calls: list[dict[str, Any]] = orjson.loads(
            self._seal.open(bytes(kept), place_of(run_id, "held"))
        )
        said = self._asked(lambda connection: rows(connection, _SAID, run_id))
        told = {key: _told(key, verdict, said_by) for key, verdict, said_by in said}
        made = tuple(
            HeldCall(**call, told=told.get(f"{call['round']}.{call['position']}")) for call in calls
        )
        owner = next((call.actor for call in made), None)
        moment = datetime.fromtimestamp(began, UTC)
        return HeldRun(run_id, owner, moment, "fenced", goes_on=True, calls=made)

    def _is_durable(self, run_id: str) -> bool:
        return bool(self._asked(lambda connection: rows(connection, _LOOK, run_id)))

    def _asked(self, work: Callable[[Connection], T]) -> T:
        """Do it, or tell that it cannot be done now."""
        try:
            return self._records.ask(work)
        except DurableError as fault:
            raise RunError(str(fault), "unavailable") from None
        except Sealed:
            raise _altered() from None


def _told(key: str, verdict: Verdict, said_by: str) -> Told:
    round_number, _, position = key.partition(".")
    return Told(int(round_number), int(position), verdict, said_by)


def _tell(connection: Connection, run_id: str, told: Told) -> None:
    key = f"{told.round}.{told.position}"
    found = rows(connection, _OPEN, run_id, key)
    if not found:
        raise RunError("No such call of this run is held.", "not_found")
    if found[0][0] is not None:
        raise RunError("Somebody has said what this call did.", "conflict")
    change(connection, _TELL, told.verdict, told.said_by[:64], run_id, key)


def _call_json(step: Step) -> dict[str, Any] | None:
    """Return a call whose effect nobody knows as plain JSON, None for any other."""
    if step.effect != "unknown" or step.metadata.value.get("reason") != "fenced":
        return None
    arguments = None if step.arguments is None else step.arguments.value
    return {
        "round": step.round,
        "position": step.position,
        "tool": step.tool,
        "status": step.status,
        "actor": step.actor,
        "arguments": arguments,
    }


def _altered() -> RunError:
    return RunError("What was kept of this run has been altered.", "conflict")


def _not_found() -> RunError:
    return RunError("No run of this id waits here.", "not_found")
