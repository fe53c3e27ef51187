"""The default deadline of async calls, watched in place: no task and no timer a call (§5)."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_TICK_S = 0.25


class Watch:
    """Cancels the calls of each event loop that overran; looks four times a second."""

    def __init__(self) -> None:
        self._flights: dict[asyncio.AbstractEventLoop, Flights] = {}

    def enter(self, task: asyncio.Task[Any], seconds: float) -> Flights | None:
        """Begin to watch the current call of `task` and return where; None if it is watched.

        A call within a call is watched already: two watches that cancel one task would leave a
        cancellation behind.
        """
        loop = task.get_loop()
        flights = self._flights.get(loop)
        if flights is None:
            flights = self._begin(loop)
        if task in flights:
            return None
        flights[task] = monotonic() + seconds
        return flights

    def _begin(self, loop: asyncio.AbstractEventLoop) -> Flights:
        # A loop that was closed before its next tick has left its flights behind.
        for other in [other for other in self._flights.copy() if other.is_closed()]:
            self._flights.pop(other, None)
        flights = self._flights[loop] = Flights()
        loop.call_later(_TICK_S, self._tick, loop, flights)
        return flights

    def _tick(self, loop: asyncio.AbstractEventLoop, flights: Flights) -> None:
        """Cancel what has overrun, and look again while there is anything to watch."""
        if not flights:
            self._flights.pop(loop, None)
            return
        now = monotonic()
        for task in [task for task, deadline in flights.items() if deadline <= now]:
            del flights[task]
            task.cancel()
        loop.call_later(_TICK_S, self._tick, loop, flights)


class Flights(dict["asyncio.Task[Any]", float]):
    """The calls of one loop and their deadlines; a call that is gone from here has overrun."""

    def leave(self, task: asyncio.Task[Any]) -> bool:
        """Stop watching the call of `task`; True if the watch had cancelled it."""
        return self.pop(task, None) is None
