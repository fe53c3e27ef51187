"""Where runs are kept while they wait; a plugin may keep them, and all that happened, for good."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from toolseam._errors import publish
from toolseam._held import held_of, settled
from toolseam._runs import RunError, RunStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolseam._held import HeldRun, Told
    from toolseam._result import ToolResult
    from toolseam._runs import KeptDecision, Run, RunStep
    from toolseam._steps import Intent, Step


class RunStore(Protocol):
    """What keeps runs; one a host, by the hook `toolseam_run_store`.

    Every method may be called from any thread, `begin`, `note` and `step` from an event loop too,
    which they must not hold up.
    """

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Remember that a run began: `actor`, `zone`, `provider`.

        `durable` says that other processes may repeat it, which tells of it, and of each of its
        steps, again under the same id.
        """
        ...

    def intent(self, intent: Intent) -> ToolResult | None:
        """Remember that a write is about to run; a refusal if that cannot be stored."""
        ...

    def step(self, step: Step) -> None:
        """Remember a finished call, of a run or not; what cannot be stored is reported."""
        ...

    def note(self, step: RunStep) -> None:
        """Remember a step that is no tool call; what cannot be stored is reported, not raised."""
        ...

    def holds(self, run_id: str) -> bool:
        """Tell whether a write's outcome could not be stored, so that the run has to wait."""
        ...

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep a run that waits; raises `RunError` `unavailable` if it cannot be kept."""
        ...

    def look(self, run_id: str) -> bytes:
        """Return the state of a run that waits, and leave it waiting; raises `RunError`."""
        ...

    def waiting_runs(self) -> tuple[str, ...]:
        """Return the ids of the runs that wait for people, who has waited longest first."""
        ...

    def decide(self, run_id: str, decisions: Sequence[KeptDecision]) -> None:
        """Keep what people said of calls that wait, all or none.

        Raises `RunError`: `not_found` where nothing waits, `conflict` where somebody has decided.
        """
        ...

    def decisions(self, run_id: str) -> tuple[bytes, ...]:
        """Return the texts of what people have said so far; raises `RunError`."""
        ...

    def forget(self, run_id: str) -> None:
        """Drop what people have said of a run that waits on: what it was about has changed."""
        ...

    def claim(self, run_id: str, state: bytes) -> None:
        """Take a run that waits in this very state, so that nobody else resumes it.

        Raises `RunError`: `not_found` where nothing waits, `conflict` where it waits for other
        decisions by now.
        """
        ...

    def end(self, run: Run) -> None:
        """Remember how a run ended; what waited of it is erased."""
        ...

    def stands(self, run_id: str, status: RunStatus, reason: str | None = None) -> None:
        """Remember how a durable run stands of which nothing else tells.

        It waits, runs or has ended elsewhere, or before it was driven at all. What is known of it
        besides stays, and whoever drives it may still tell its end in full.
        """
        ...

    def hold(self, run: Run) -> None:
        """Hold a run whose writes with an unknown effect nobody may repeat; it goes on later."""
        ...

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return the runs that are held, the oldest first; raises `RunError` `unavailable`."""
        ...

    def held_run(self, run_id: str) -> HeldRun:
        """Return one of them; raises `RunError`: `not_found`, `unavailable`."""
        ...

    def settle(self, run_id: str, told: Sequence[Told]) -> bool:
        """Keep what people say of calls of a held run, all or none; True if no call is left.

        With the last one a run that does not go on has ended: failed, reason `settled`.

        Raises `RunError`: `not_found` where nothing is held, `conflict` where somebody has said it.
        """
        ...

    def release(self, run_id: str) -> tuple[Told, ...]:
        """Take a run that is held, to go on with it; return what people have said of its calls.

        Raises `RunError`: `not_found` where nothing is held, `conflict` while a call is open.
        """
        ...

    def close(self) -> None:
        """End with the host."""
        ...


class MemoryStore:
    """Keeps runs that wait as long as this host lives, and nothing else."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._waiting: dict[str, tuple[bytes, dict[int, bytes]]] = {}
        self._held: dict[str, HeldRun] = {}

    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        """Nothing is kept."""

    def intent(self, intent: Intent) -> ToolResult | None:  # noqa: ARG002
        """Nothing is kept."""
        return None

    def step(self, step: Step) -> None:
        """Nothing is kept."""

    def note(self, step: RunStep) -> None:
        """Nothing is kept."""

    def holds(self, run_id: str) -> bool:  # noqa: ARG002 - nothing is stored, so nothing fails
        """Return that nothing holds it."""
        return False

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep it in memory."""
        with self._turn:
            self._waiting[run_id] = state, {}

    def look(self, run_id: str) -> bytes:
        """Return it."""
        with self._turn:
            return self._found(run_id)[0]

    def waiting_runs(self) -> tuple[str, ...]:
        """Return them in the order in which they came."""
        with self._turn:
            return tuple(self._waiting)

    def decide(self, run_id: str, decisions: Sequence[KeptDecision]) -> None:
        """Keep them, all or none."""
        with self._turn:
            kept = self._found(run_id)[1]
            if not kept.keys().isdisjoint(each.position for each in decisions):
                raise RunError("Somebody has decided about this call.", "conflict")
            kept.update({each.position: each.text for each in decisions})

    def decisions(self, run_id: str) -> tuple[bytes, ...]:
        """Return them."""
        with self._turn:
            return tuple(self._found(run_id)[1].values())

    def forget(self, run_id: str) -> None:
        """Drop them."""
        with self._turn:
            self._found(run_id)[1].clear()

    def claim(self, run_id: str, state: bytes) -> None:
        """Forget it, if nobody did before."""
        with self._turn:
            if self._found(run_id)[0] != state:
                raise RunError("The run has gone on; look at it again.", "conflict")
            del self._waiting[run_id]

    def end(self, run: Run) -> None:
        """Forget it."""
        with self._turn:
            self._waiting.pop(run.id, None)
            self._held.pop(run.id, None)

    def stands(self, run_id: str, status: RunStatus, reason: str | None = None) -> None:  # noqa: ARG002
        """Forget it where it has ended."""
        if status.is_terminal:
            with self._turn:
                self._waiting.pop(run_id, None)
                self._held.pop(run_id, None)

    def hold(self, run: Run) -> None:
        """Keep its calls in memory."""
        with self._turn:
            self._held[run.id] = held_of(run)

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return them in the order in which they came."""
        with self._turn:
            return tuple(self._held.values())

    def held_run(self, run_id: str) -> HeldRun:
        """Return it."""
        with self._turn:
            return self._found_held(run_id)

    def settle(self, run_id: str, told: Sequence[Told]) -> bool:
        """Keep it with the calls, all or none."""
        with self._turn:
            self._held[run_id] = found = settled(self._found_held(run_id), told)
            return not found.open

    def release(self, run_id: str) -> tuple[Told, ...]:
        """Forget it."""
        with self._turn:
            found = self._found_held(run_id)
            if found.open:
                raise RunError("Not every call of this run is told of.", "conflict")
            del self._held[run_id]
            return tuple(each.told for each in found.calls if each.told is not None)

    def close(self) -> None:
        """Nothing is open."""

    def _found(self, run_id: str) -> tuple[bytes, dict[int, bytes]]:
        if run_id not in self._waiting:
            raise RunError("No run of this id waits here.", "not_found")
        return self._waiting[run_id]

    def _found_held(self, run_id: str) -> HeldRun:
        if run_id not in self._held:
            raise RunError("No run of this id is held here.", "not_found")
        return self._held[run_id]


publish(globals(), "RunStore")
