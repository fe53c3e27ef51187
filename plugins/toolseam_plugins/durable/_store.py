"""Where durable runs are kept while they wait or are held; all else goes on to the host's store.

The store that the host had is told all that happens, so that an audit keeps it as ever.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import orjson

from toolseam import ErrorCode, ToolResult
from toolseam.runs import HeldCall, HeldRun, RunError, RunStatus, Termination, Told
from toolseam_plugins.audit._seal import Sealed
from toolseam_plugins.durable._fence import fence_of, sealed_fence
from toolseam_plugins.durable._journal import DRIVING, driving
from toolseam_plugins.durable._places import is_durable, place_of
from toolseam_plugins.durable._records import DurableError, change, end, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import psycopg

    from toolseam import Step
    from toolseam.runs import Intent, KeptDecision, Run, RunStep, RunStore
    from toolseam_plugins.audit._seal import Place, Seal
    from toolseam_plugins.durable._fence import Fence
    from toolseam_plugins.durable._journal import EngineJournal
    from toolseam_plugins.durable._records import Records

    Connection = psycopg.Connection[Any]

T = TypeVar("T")
RUNNING, WAITING, HELD = "running", "waiting_for_approval", "held"
FENCED = "fenced"
ALTERED = "altered"
_BROKE = Termination.CONTRACT_ERROR
_TAKEN = "it is driven elsewhere, or was stopped"
_LOOK = "SELECT status, state FROM run WHERE id = %s"
_DRIVES = "SELECT 1 FROM run WHERE id = %s AND driver = %s AND status = ANY(%s)"
_SUSPEND = """
UPDATE run SET status = %s, state = %s, changed = %s
WHERE id = %s AND driver = %s AND status = 'running'
"""
_CLAIM = """
UPDATE run SET status = 'running', changed = %s
WHERE id = %s AND driver = %s AND status NOT IN ('completed', 'failed', 'cancelled')
"""
_HOLD = """
UPDATE run SET status = %s, held = %s, changed = %s
WHERE id = %s AND driver = %s AND status NOT IN ('completed', 'failed', 'cancelled')
"""
_KEPT = "SELECT held, fence FROM run WHERE id = %s AND status = %s FOR UPDATE"
_HELD = "SELECT id, began, held, fence FROM run WHERE status = %s ORDER BY began, id"
_ONE_HELD = "SELECT id, began, held, fence FROM run WHERE status = %s AND id = %s"
_TELL = "UPDATE run SET fence = %s WHERE id = %s"


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

    # -- what happens --------------------------------------------------------------------------

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Remember that a run began."""
        self.inner.begin(run_id, {**facts, "durable": driving(run_id) is not None})

    def intent(self, intent: Intent) -> ToolResult | None:
        """Store a write's intent, in the audit and in the fence; a refusal if that cannot be."""
        refused = self.inner.intent(intent)
        if refused is not None:
            return refused
        journal = driving(intent.run_id)
        try:
            if journal is None:
                # A durable run that nobody drives here has no fence, and does not write.
                return _unfenced() if is_durable(intent.run_id) else None
            if journal.intend(f"{intent.round}.{intent.position}"):
                return None
        except (DurableError, Sealed):
            return _unfenced()
        message = "Another process makes this call."
        return ToolResult.error(message, ErrorCode.CONFLICT, metadata={"reason": FENCED})

    def step(self, step: Step) -> None:
        """Nothing: the host's own store is told by itself."""

    def note(self, step: RunStep) -> None:
        """Remember a step that is no tool call."""
        self.inner.note(step)

    def holds(self, run_id: str) -> bool:
        """Tell whether a write's outcome could not be stored; a durable run's is a step of it."""
        return driving(run_id) is None and self.inner.holds(run_id)

    def end(self, run: Run) -> None:
        """Remember how a run ended; of a durable one it is said with its row, in `tell_end`."""
        journal = driving(run.id)
        if journal is None:
            self.inner.end(run)
        elif journal.stopping() and run.reason is _BROKE:
            journal.lost("the worker stops")
        elif self._drives(journal, RUNNING, run.status.value):
            journal.ended = run
        else:
            journal.lost(_TAKEN)

    def tell_end(self, connection: Connection, journal: EngineJournal) -> None:
        """Have the host's store know how the loop ended a run, in the work that says so."""
        run = journal.ended
        # Somebody may have stopped it in between, or something of it was altered.
        if run is None or not _drives(connection, journal, run.status.value):
            return
        if journal.altered:
            # What the loop says of it is only how it came to its end.
            self.inner.stands(run.id, run.status, ALTERED)
        # Before it is committed: who dies in between says it again.
        self.inner.end(run)

    def stands(self, run_id: str, status: RunStatus, reason: str | None = None) -> None:
        """Remember how a run stands of which nothing else tells."""
        self.inner.stands(run_id, status, reason)

    def ended(
        self,
        connection: Connection,
        run_id: str,
        status: RunStatus,
        reason: str,
        *values: object,
        where: str = "",
    ) -> bool:
        """End a run in a work, as `_records.end` does, and have the host's store know of it."""
        if not end(connection, run_id, status.value, reason, *values, where=where):
            return False
        # Before it is committed: who dies in between says it again.
        self.inner.stands(run_id, status, reason)
        return True

    def close(self) -> None:
        """End with the host."""
        self._records.close()
        self.inner.close()

    # -- what waits ----------------------------------------------------------------------------

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep a run that waits, sealed."""
        journal = driving(run_id)
        if journal is None:
            self.inner.suspend(run_id, state)
            return
        kept = self._seal.close(state, place_of(run_id, "state"))
        values = WAITING, kept, time.time(), run_id, journal.attempt

        def store(connection: Connection) -> bool:
            if not change(connection, _SUSPEND, *values):
                # A connection that broke may have stored it, and people have decided since.
                return _drives(connection, journal, WAITING)
            change(connection, "DELETE FROM decision WHERE run_id = %s", run_id)
            self.inner.stands(run_id, RunStatus.WAITING_FOR_APPROVAL)
            return True

        if not self._records.wait(store):
            raise journal.lost(_TAKEN)

    def look(self, run_id: str) -> bytes:
        """Return the state of a run that waits, or that this process has taken."""
        if not is_durable(run_id):
            return self.inner.look(run_id)

        def read(connection: Connection) -> list[tuple[Any, ...]]:
            return rows(connection, _LOOK, run_id)

        with suppress(Sealed):
            return self._state(run_id, self._asked(read))
        state = self._again(run_id, lambda connection: self._state(run_id, read(connection)))
        if state is None:
            raise _altered()
        return state

    def waiting_runs(self) -> tuple[str, ...]:
        """Return the ids of the runs that wait for people, durable ones first."""
        statement = "SELECT id FROM run WHERE status = %s ORDER BY changed, id"
        found = self._asked(lambda connection: rows(connection, statement, WAITING))
        return (*(run_id for (run_id,) in found), *self.inner.waiting_runs())

    def decide(self, run_id: str, decisions: Sequence[KeptDecision]) -> None:
        """Keep what people said, sealed, all or none."""
        if not is_durable(run_id):
            self.inner.decide(run_id, decisions)
            return

        tried: list[bool] = []

        def store(connection: Connection) -> None:
            found = rows(connection, f"{_LOOK} AND status = %s FOR UPDATE", run_id, WAITING)
            if not found:
                raise _not_found()
            statement = "INSERT INTO decision VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
            said = dict(self._said(connection, run_id, found[0][1])) if tried else {}
            tried.append(True)
            for each in decisions:
                # A connection that broke may have stored it, and this is the second try.
                if said.get(each.position) == each.text:
                    continue
                kept = self._seal.close(each.text, _wait_of(run_id, found[0][1], each.position))
                if not change(connection, statement, run_id, each.position, kept):
                    raise RunError("Somebody has decided about this call.", "conflict")

        self._asked(store)

    def decisions(self, run_id: str) -> tuple[bytes, ...]:
        """Return what people have said so far."""
        if not is_durable(run_id):
            return self.inner.decisions(run_id)

        def read(connection: Connection) -> tuple[bytes, ...]:
            ((_, state),) = rows(connection, _LOOK, run_id)
            return tuple(text for _, text in self._said(connection, run_id, state))

        return self._asked(read)

    def forget(self, run_id: str) -> None:
        """Drop what people have said."""
        if not is_durable(run_id):
            self.inner.forget(run_id)
            return
        statement = "DELETE FROM decision WHERE run_id = %s"
        self._asked(lambda connection: change(connection, statement, run_id))

    def claim(self, run_id: str, state: bytes) -> None:
        """Take a run that waits; a durable one is taken by a worker alone."""
        if not is_durable(run_id):
            self.inner.claim(run_id, state)
            return
        journal = driving(run_id)
        if journal is None:
            raise RunError("A worker goes on with this run: Durable.resume.", "conflict")
        if self.look(run_id) != state:
            raise RunError("The run has gone on; look at it again.", "conflict")

        def take(connection: Connection) -> bool:
            if not change(connection, _CLAIM, time.time(), run_id, journal.attempt):
                return False
            self.inner.stands(run_id, RunStatus.RUNNING)
            return True

        if not self._records.wait(take):
            raise journal.lost(_TAKEN)

    # -- what is held --------------------------------------------------------------------------

    def hold(self, run: Run) -> None:
        """Hold a run of whose write only the intent is known."""
        journal = driving(run.id)
        if journal is not None and not self._drives(journal, RUNNING):
            raise journal.lost(_TAKEN)
        self.inner.hold(run)
        if journal is None:
            return
        calls = [_call_json(cast("Step", step)) for step in run.steps if step.kind == "tool"]
        text = orjson.dumps([call for call in calls if call is not None])
        kept = self._seal.close(text, place_of(run.id, "held"))
        if not self._records.change(_HOLD, HELD, kept, time.time(), run.id, journal.attempt):
            raise journal.lost(_TAKEN)

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return the runs that are held, durable ones first."""
        found = self._asked(lambda connection: rows(connection, _HELD, HELD))
        own = [run for run in map(self._held, found) if run is not None]
        # A durable run that goes on is held no more, whoever has not heard of it.
        return (*own, *(run for run in self.inner.held_runs() if not is_durable(run.id)))

    def held_run(self, run_id: str) -> HeldRun:
        """Return one of them."""
        if not is_durable(run_id):
            return self.inner.held_run(run_id)
        for row in self._asked(lambda connection: rows(connection, _ONE_HELD, HELD, run_id)):
            run = self._held(row)
            if run is not None:
                return run
        raise _not_held()

    def settle(self, run_id: str, told: Sequence[Told]) -> bool:
        """Keep what people say of calls of a held run, all or none."""
        if not is_durable(run_id):
            return self.inner.settle(run_id, told)

        def store(connection: Connection) -> bool:
            found = rows(connection, _KEPT, run_id, HELD)
            if not found:
                raise _not_held()
            kept, fence = found[0][0], fence_of(self._seal, run_id, found[0][1])
            places = {(call["round"], call["position"]) for call in self._calls(run_id, kept)}
            for each in told:
                if (each.round, each.position) not in places:
                    raise _no_such_call()
                _tell(fence, each)
            change(connection, _TELL, sealed_fence(self._seal, run_id, fence), run_id)
            return all(_told(fence, *place) is not None for place in places)

        all_told = self._asked(store)
        # What is committed is said, whatever becomes of the run from here on.
        with suppress(RunError):
            self.inner.settle(run_id, told)
        return all_told

    def release(self, run_id: str) -> tuple[Told, ...]:
        """Take a run that is held; a durable one is taken by a worker alone."""
        if not is_durable(run_id):
            return self.inner.release(run_id)
        raise RunError("A worker goes on with this run: Durable.resume.", "conflict")

    def go_on(self, run_id: str) -> str:
        """Hand a run that is held back to a worker: return the key of the call that held it.

        The key is empty where no call did. Raises `RunError`: `not_found`, and `conflict` while a
        call is open.
        """
        run = self.held_run(run_id)
        if run.open:
            # A person may have said it where only the audit is open.
            with suppress(RunError):
                told = [each.told for each in self.inner.held_run(run_id).calls]
                still = {(call.round, call.position) for call in run.open}
                said = [each for each in told if each and (each.round, each.position) in still]
                self.settle(run_id, said)
            run = self.held_run(run_id)
        if run.open:
            raise RunError("Not every call of this run is told of.", "conflict")
        places = sorted((call.round, call.position) for call in run.calls)
        return "{}.{}".format(*places[0]) if places else ""

    def let_go(self, run_id: str) -> None:
        """Have a run held no more where the host keeps its runs: a worker goes on with it."""
        with suppress(RunError):
            self.inner.release(run_id)

    # -- inside --------------------------------------------------------------------------------

    def _again(self, run_id: str, read: Callable[[Connection], T]) -> T | None:
        """Read once more what did not open, over a new connection; if it does not, the run ends."""
        self._records.close()

        def look(connection: Connection) -> T | None:
            with suppress(Sealed):
                return read(connection)
            self.ended(connection, run_id, RunStatus.FAILED, ALTERED)
            return None

        return self._asked(look)

    def _state(self, run_id: str, found: list[tuple[Any, ...]]) -> bytes:
        status, state = found[0] if found else (None, None)
        if state is None or (status != WAITING and driving(run_id) is None):
            raise _not_found()
        return self._seal.open(bytes(state), place_of(run_id, "state"))

    def _drives(self, journal: EngineJournal, *status: str) -> bool:
        """Tell whether nobody else has taken the run since, or said that it stands otherwise."""
        if journal.gone:
            return False
        return self._records.wait(lambda connection: _drives(connection, journal, *status))

    def _said(
        self, connection: Connection, run_id: str, state: bytes | None
    ) -> list[tuple[int, bytes]]:
        """Return what people have said of the calls that wait in this state, by position."""
        statement = "SELECT position, sealed FROM decision WHERE run_id = %s ORDER BY position"
        return [
            (position, self._seal.open(bytes(kept), _wait_of(run_id, state, position)))
            for position, kept in rows(connection, statement, run_id)
        ]

    def _calls(self, run_id: str, kept: bytes | None) -> list[dict[str, Any]]:
        if kept is None:
            return []
        calls: list[dict[str, Any]] = orjson.loads(
            self._seal.open(bytes(kept), place_of(run_id, "held"))
        )
        return calls

    def _held(self, row: tuple[Any, ...]) -> HeldRun | None:
        """Return a run that is held, None for one that has been altered, which ends it."""
        with suppress(Sealed):
            return self._opened(*row)

        def read(connection: Connection) -> HeldRun | None:
            found = rows(connection, _ONE_HELD, HELD, row[0])
            return self._opened(*found[0]) if found else None

        return self._again(row[0], read)

    def _opened(self, run_id: str, began: float, kept: bytes | None, kept_fence: bytes) -> HeldRun:
        calls = self._calls(run_id, kept)
        fence = fence_of(self._seal, run_id, kept_fence)
        made = tuple(
            HeldCall(**call, told=_told(fence, call["round"], call["position"])) for call in calls
        )
        owner = next((call.actor for call in made), None)
        moment = datetime.fromtimestamp(began, UTC)
        return HeldRun(run_id, owner, moment, "fenced", goes_on=True, calls=made)

    def _asked(self, work: Callable[[Connection], T]) -> T:
        """Do it, or tell that it cannot be done now; who drives a run waits until it can be."""
        try:
            return self._records.ask(work) if DRIVING.get() is None else self._records.wait(work)
        except DurableError as fault:
            raise RunError(str(fault), "unavailable") from None
        except Sealed:
            raise _altered() from None


def _drives(connection: Connection, journal: EngineJournal, *status: str) -> bool:
    found = rows(connection, _DRIVES, journal.run_id, journal.attempt, list(status))
    return bool(found)


def _told(fence: Fence, round_number: int, position: int) -> Told | None:
    begun = fence.get(f"{round_number}.{position}")
    said = None if begun is None else begun.told
    return None if said is None else Told(round_number, position, *said)


def _tell(fence: Fence, told: Told) -> None:
    key, said = f"{told.round}.{told.position}", (told.verdict, told.said_by[:64])
    begun = fence.get(key)
    if begun is None:
        raise _no_such_call()
    # Whose answer was lost says it again.
    if begun.told not in {None, said}:
        raise RunError("Somebody has said what this call did.", "conflict")
    fence[key] = attrs.evolve(begun, told=said)


def _wait_of(run_id: str, state: bytes | None, position: int) -> Place:
    """Return where a decision stands: in this very wait, of which the state was sealed once."""
    wait = hashlib.sha256(bytes(state or b"")).hexdigest()
    return place_of(run_id, f"decision {wait} {position}")


def _unfenced() -> ToolResult:
    message = "The fence cannot be written, so nothing that may write is run; try later."
    code, reason = ErrorCode.UNAVAILABLE, {"reason": "fence"}
    return ToolResult.error(message, code, retriable=True, metadata=reason)


def _call_json(step: Step) -> dict[str, Any] | None:
    """Return a call of which nobody knows what it did as plain JSON, None for any other."""
    # Of a tool that is gone by now nobody knows that it writes.
    lost = step.status == ErrorCode.EXECUTION_ERROR.value
    if not lost or step.metadata.value.get("reason") != FENCED:
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


def _not_held() -> RunError:
    return RunError("No run of this id is held here.", "not_found")


def _no_such_call() -> RunError:
    return RunError("No such call of this run is held.", "not_found")


def _altered() -> RunError:
    return RunError("What was kept of this run has been altered.", "conflict")


def _not_found() -> RunError:
    return RunError("No run of this id waits here.", "not_found")
