"""The default deadline of async calls, watched in place: no task and no timer a call (§5)."""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_TICK_S = 0.25


class Watch(threading.local):
    """Cancels the calls of an event loop that overran; looks four times a second.

    Each thread has its own, since a loop runs in one thread, and one loop at a time.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights = Flights()

    def enter(self, task: asyncio.Task[Any], seconds: float) -> Flights | None:
        """Begin to watch the current call of `task` and return where; None if it is watched.

        A call within a call is watched already: two watches that cancel one task would leave a
        cancellation behind.
        """
        loop = task.get_loop()
        if self._loop is not loop:
            self._loop, self._flights = loop, Flights()
        flights = self._flights
        if task in flights:
            return None
        flights[task] = monotonic() + seconds
        if not flights.ticking:
            flights.tick(loop)
        return flights


class Flights(dict["asyncio.Task[Any]", float]):
    """The calls of one loop and their deadlines; a call that is gone from here has overrun."""

    ticking = False

    def leave(self, task: asyncio.Task[Any]) -> bool:
        """Stop watching the call of `task`; True if the watch had cancelled it."""
        return self.pop(task, None) is None

    def tick(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel what has overrun, and look again while there is anything to watch."""
        self.ticking = bool(self)
        if not self.ticking:
            return
        now = monotonic()
        for task in [task for task, deadline in self.items() if deadline <= now]:
            del self[task]
            task.cancel()
        loop.call_later(_TICK_S, self.tick, loop)
