"""Where runs are kept while they wait; a plugin may keep them, and all that happened, for good."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

from toolseam._runs import RunError

if TYPE_CHECKING:
    from toolseam._call import Call
    from toolseam._result import ToolResult
    from toolseam._runs import Run, RunStep


class RunStore(Protocol):
    """What keeps runs; one a host. Every method may be called from any thread.

    A tool's steps reach it as they reach every listener, by the hook `toolseam_step`.
    """

    def begin(self, run_id: str, facts: dict[str, object]) -> None:
        """Remember that a run began: owner, zone, provider."""
        ...

    def intent(self, call: Call) -> ToolResult | None:
        """Remember that a write is about to run; a refusal if that cannot be stored."""
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

    def claim(self, run_id: str) -> bytes:
        """Take a run that waits, so that nobody else resumes it; raises `RunError`."""
        ...

    def end(self, run: Run) -> None:
        """Remember how a run ended; what waited of it is erased."""
        ...


class MemoryStore:
    """Keeps runs that wait as long as this host lives, and nothing else."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._waiting: dict[str, bytes] = {}

    def begin(self, run_id: str, facts: dict[str, object]) -> None:
        """Nothing is kept."""

    def intent(self, call: Call) -> ToolResult | None:  # noqa: ARG002
        """Nothing is kept."""
        return None

    def note(self, step: RunStep) -> None:
        """Nothing is kept."""

    def holds(self, run_id: str) -> bool:  # noqa: ARG002 - nothing is stored, so nothing fails
        """Return that nothing holds it."""
        return False

    def suspend(self, run_id: str, state: bytes) -> None:
        """Keep it in memory."""
        with self._turn:
            self._waiting[run_id] = state

    def look(self, run_id: str) -> bytes:
        """Return it."""
        with self._turn:
            if run_id not in self._waiting:
                raise RunError("No run of this id waits here.", "not_found")
            return self._waiting[run_id]

    def claim(self, run_id: str) -> bytes:
        """Return and forget it."""
        with self._turn:
            if run_id not in self._waiting:
                raise RunError("No run of this id waits here.", "not_found")
            return self._waiting.pop(run_id)

    def end(self, run: Run) -> None:
        """Forget it."""
        with self._turn:
            self._waiting.pop(run.id, None)
