"""The trace: the only mutable collector of what happened, and those who listen to it."""

from __future__ import annotations

import itertools
import logging
import uuid
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from toolseam._steps import Live, Step, step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolseam._call import Call

    Listener = Callable[[Step | Live], None]

LOGGER = logging.getLogger("toolseam")
LOGGER.addHandler(logging.NullHandler())
_NOTES = 256

T = TypeVar("T")


class Listeners(Generic[T]):
    """Who is told at once; one that raises is reported and never felt."""

    def __init__(self) -> None:
        self.told: tuple[Callable[[T], None], ...] = ()

    def add(self, listener: Callable[[T], None]) -> Callable[[], None]:
        """Add a listener and return what takes it away again."""
        self.told = (*self.told, listener)

        gone = False

        def remove() -> None:
            nonlocal gone
            kept = list(self.told)
            if not gone and listener in kept:
                # Once: somebody else may have added the same one.
                kept.remove(listener)
            gone, self.told = True, tuple(kept)

        return remove

    def tell(self, what: T) -> None:
        """Tell everybody, in the order in which they came."""
        for listener in self.told:
            try:
                listener(what)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - reported, never felt
                LOGGER.warning("a listener raised %s", type(error).__name__)


class RunTrace:
    """The steps of one run, as finished calls until somebody looks.

    `keep` is for a run without an end: so many of the last steps stay in memory.
    """

    __slots__ = ("_live", "calls", "listeners", "next_number", "run_id")

    def __init__(
        self,
        listeners: Listeners[Step | Live],
        *,
        keep: int | None = None,
        run_id: str | None = None,
        first_number: int = 1,
    ) -> None:
        self.run_id = uuid.uuid4().hex if run_id is None else run_id
        self.listeners = listeners
        self.next_number = itertools.count(first_number).__next__
        # The seam appends to it and tells the listeners itself: a frame a call less.
        self.calls: deque[Call] = deque(maxlen=keep)
        self._live: deque[Live] = deque(maxlen=_NOTES)

    def note(self, live: Live) -> None:
        """Keep a live note in memory and tell the listeners; it is never stored."""
        self._live.append(live)
        self.listeners.tell(live)

    @property
    def notes(self) -> tuple[Live, ...]:
        """The live notes, oldest first: progress, and calls that finished late."""
        return tuple(self._live)

    def __iter__(self) -> Iterator[Step]:
        return map(step, tuple(self.calls))

    def __len__(self) -> int:
        return len(self.calls)
