"""The default deadline of async calls, watched in place: no task and no timer a call (§5)."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio

_TICK_S = 0.25


class Watched:
    """One call in flight; `expired` tells that the watch, and nobody else, cancelled it."""

    __slots__ = ("deadline", "expired", "task")

    def __init__(self, task: asyncio.Task[Any], deadline: float) -> None:
        self.task = task
        self.deadline = deadline
        self.expired = False


class Watch:
    """Cancels the calls of each event loop that overran; looks four times a second."""

    def __init__(self) -> None:
        self._flights: WeakKeyDictionary[asyncio.AbstractEventLoop, _Flights] = WeakKeyDictionary()

    def enter(self, task: asyncio.Task[Any], seconds: float) -> Watched:
        """Begin to watch the current call of `task`; a call within one is watched already.

        Two watches that cancel one task would leave a cancellation behind.
        """
        loop = task.get_loop()
        flights = self._flights.get(loop)
        if flights is None:
            flights = self._flights[loop] = _Flights()
        watched = Watched(task, monotonic() + seconds)
        flights.setdefault(task, watched)
        if not flights.ticking:
            flights.tick(loop)
        return watched

    def leave(self, watched: Watched) -> None:
        """Stop watching; the call has ended."""
        flights = self._flights.get(watched.task.get_loop())
        if flights is not None and flights.get(watched.task) is watched:
            del flights[watched.task]


class _Flights(dict["asyncio.Task[Any]", Watched]):
    """The calls of one loop, which may only be touched from that loop."""

    ticking = False

    def tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ticking = bool(self)
        if not self.ticking:
            return
        now = monotonic()
        for watched in [w for w in self.values() if w.deadline <= now]:
            watched.expired = True
            del self[watched.task]
            watched.task.cancel()
        loop.call_later(_TICK_S, self.tick, loop)
