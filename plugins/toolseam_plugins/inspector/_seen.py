"""What happens in this host while somebody can look: runs and their steps, in bounded memory."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Step
from toolseam.runs import RunChange, RunStep

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Host

STEPS = 5_000
BYTES = 64_000_000
RUNS = 2_000
SESSION = "session"
_STOPPED = ("timeout", "cancelled")


@attrs.define(eq=False)
class Entry:
    """A step, its place among those of its run from 1, when it ended, and what it keeps."""

    step: Step | RunStep
    n: int
    at: float
    sizes: dict[str, int]
    late: bool = False

    @property
    def began(self) -> float:
        """When it began, in seconds of the epoch."""
        return self.at - self.step.duration_s

    @property
    def failed(self) -> bool:
        """Whether it is a call that failed."""
        return isinstance(self.step, Step) and self.step.status != "ok"

    @property
    def size(self) -> int:
        """About how many bytes it keeps."""
        return sum(self.sizes.values()) + 1_000


@attrs.define(eq=False)
class LiveRun:
    """A run or a session of this host, as far as it was seen.

    `facts` are those of the run's last change; `steps` lacks what had to make room, and `count`
    does not. `actor` is who made the first call that was seen. `first` is the lowest number of a
    step: above 1 it began where nobody saw it, and `is_dated` says that `began` was found out.
    """

    id: str
    began: float
    status: str = SESSION
    actor: str | None = None
    facts: dict[str, Any] = attrs.field(factory=dict[str, Any])
    steps: deque[Entry] = attrs.field(factory=deque[Entry])
    count: int = 0
    failures: int = 0
    first: int = 0
    ended: float | None = None
    is_dated: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all of it is here."""
        return self.count == len(self.steps) and self.first <= 1


class Seen:
    """Runs and steps of a host, told by it at once and from any thread.

    At most 5,000 steps and 64 MB are kept; the oldest make room, and are counted in `dropped`.
    """

    def __init__(self, host: Host, told: Callable[[str, LiveRun, Any], None]) -> None:
        self.turn = threading.RLock()
        self.dropped = 0
        self._told = told
        self._runs: dict[str, LiveRun] = {}
        self._order: deque[tuple[LiveRun, Entry]] = deque()
        self._bytes = 0
        self._ends = (host.listen(self._heard), host.listen_to_runs(self._heard_of_run))

    def close(self) -> None:
        """Listen no more."""
        for end in self._ends:
            end()

    # -- looking ----------------------------------------------------------------------------------

    def runs(self) -> list[LiveRun]:
        """Return the runs, in the order in which they began."""
        with self.turn:
            return list(self._runs.values())

    def run(self, run_id: str) -> LiveRun | None:
        """Return one of them."""
        with self.turn:
            return self._runs.get(run_id)

    def entries(self, run: LiveRun) -> list[Entry]:
        """Return the steps of a run that are kept, oldest first."""
        with self.turn:
            return list(run.steps)

    def correct(self, run: LiveRun, began: float) -> None:
        """Learn when a run began of which the first steps were seen by nobody here."""
        with self.turn:
            run.began, run.is_dated = began, True

    def entry(self, step_id: str) -> tuple[LiveRun, Entry] | None:
        """Return one step and its run."""
        run = self.run(step_id.rpartition(":")[0])
        if run is None:
            return None
        for entry in self.entries(run):
            if entry.step.id == step_id:
                return run, entry
        return None

    # -- being told -------------------------------------------------------------------------------

    def _heard(self, what: Any) -> None:  # noqa: ANN401 - a step, or a live note
        if isinstance(what, Step):
            self._keep(what)
            return
        with self.turn:
            run = self._run(what.run_id)
            if what.kind == "late":
                _mark_late(run, what.tool)
        self._told(what.kind, run, what)

    def _heard_of_run(self, what: RunStep | RunChange) -> None:
        if isinstance(what, RunStep):
            self._keep(what)
            return
        with self.turn:
            run = self._run(what.run_id)
            run.status = what.status.value
            run.facts = {**what.facts, **_facts(what)}
            run.ended = time.time() if what.status.is_terminal else None
        self._told("run", run, None)

    def _keep(self, step: Step | RunStep) -> None:
        sizes = step.sizes if isinstance(step, Step) else _sizes(step)
        with self.turn:
            run = self._run(step.run_id)
            run.count += 1
            entry = Entry(step, run.count, time.time(), sizes)
            if run.count == 1:
                run.began = entry.began
            number = _number(step.id)
            run.first = number if run.first == 0 else min(run.first, number)
            run.failures += entry.failed
            if run.actor is None and isinstance(step, Step):
                run.actor = step.actor
            run.steps.append(entry)
            self._order.append((run, entry))
            self._bytes += entry.size
            self._make_room()
        self._told("step", run, entry)

    def _run(self, run_id: str) -> LiveRun:
        found = self._runs.get(run_id)
        if found is None:
            found = self._runs[run_id] = LiveRun(run_id, time.time())
            if len(self._runs) > RUNS:
                self._forget_runs()
        return found

    def _make_room(self) -> None:
        while len(self._order) > STEPS or self._bytes > BYTES:
            run, entry = self._order.popleft()
            self._bytes -= entry.size
            self.dropped += 1
            run.steps.popleft()

    def _forget_runs(self) -> None:
        """Forget the oldest runs of which nothing is left, or else the oldest that is over."""
        spent = [r for r in self._runs.values() if not r.steps and r.status != "running"][:-1]
        for run in spent[: len(self._runs) - RUNS]:
            del self._runs[run.id]


def _number(step_id: str) -> int:
    return int(step_id.rpartition(":")[2])


def _sizes(step: RunStep) -> dict[str, int]:
    import orjson

    return {"content": len(orjson.dumps(step.content.value))}


def _mark_late(run: LiveRun, tool: str) -> None:
    """Mark the newest call of a tool that was given up: this is its end."""
    for entry in reversed(run.steps):
        step = entry.step
        is_its = isinstance(step, Step) and step.tool == tool and step.status in _STOPPED
        if is_its and not entry.late:
            entry.late = True
            return


def _facts(change: RunChange) -> dict[str, Any]:
    run = change.run
    if run is None:
        return {}
    return {
        "reason": None if run.reason is None else run.reason.value,
        "rounds": run.rounds,
        "input_tokens": run.usage.input_tokens,
        "output_tokens": run.usage.output_tokens,
        "mark": run.mark.value,
        "fault": None if run.fault is None else run.fault.value,
        "truncated": run.truncated,
        # Its text is that of the last step, whose bytes are counted.
        "answered": bool(run.answer),
    }
