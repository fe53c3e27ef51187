"""Daemon threads for sync tools that must not hold their caller (contract §5, `[limits]`)."""

from __future__ import annotations

import contextvars
import os
import threading
import weakref
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any

from toolseam._errors import ToolseamError

if TYPE_CHECKING:
    from collections.abc import Callable


class Busy(ToolseamError):
    """Every thread works and as many calls wait as may."""


class Job:
    """One call in a thread: its value or its error, once it is done."""

    __slots__ = ("_done", "_run", "_started", "_then", "_turn", "abandoned", "error", "value")

    def __init__(self, run: Callable[[], Any]) -> None:
        self._run = run
        self._turn = threading.Lock()
        self._done = threading.Event()
        self._then: Callable[[Job], None] | None = None
        self.value: Any = None
        self.error: BaseException | None = None
        self.abandoned = False
        self._started = False

    def abandon(self) -> bool:
        """Wait no longer; True if the work has begun, else it never will."""
        with self._turn:
            self.abandoned = True
            return self._started

    def run(self) -> None:
        """Do the work in this thread; nothing it raises leaves the thread."""
        with self._turn:
            self._started = not self.abandoned
        try:
            if self._started:
                self.value = self._run()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            self.error = error
        with self._turn:
            self._done.set()
            then = self._then
        if then is not None:
            then(self)

    def wait(self, seconds: float | None) -> bool:
        """Wait until the work is done; False if `seconds` passed before."""
        return self._done.wait(seconds)

    def then(self, what: Callable[[Job], None]) -> None:
        """Call `what` when the work is done, at once if it is; in whichever thread that is."""
        with self._turn:
            done = self._done.is_set()
            if not done:
                self._then = what
        if done:
            what(self)


class Workers:
    """At most `threads` at work and `waiting` in the queue; an overrunning call counts as busy.

    The child of a fork has no thread and no work in it.
    """

    def __init__(self, threads: int, waiting: int) -> None:
        self._threads = threads
        self._most = threads + waiting
        self._closed = False
        self.begin()

    def begin(self) -> None:
        """Be without a thread and without work."""
        self._turn = threading.Condition()
        self._queue: deque[Job] = deque()
        self._alive = 0
        self._open = 0

    def submit(self, run: Callable[[], Any]) -> Job:
        """Hand over work with the caller's context variables; raises `Busy` if there is no room."""
        context = contextvars.copy_context()
        job = Job(lambda: context.run(run))
        with self._turn:
            if self._closed or self._open >= self._most:
                raise Busy
            self._open += 1
            self._queue.append(job)
            if self._alive < self._threads and self._open > self._alive:
                self._start()
            else:
                self._turn.notify()
        return job

    def _start(self) -> None:
        _watch_forks()
        _STARTED.add(self)
        try:
            threading.Thread(target=self._work, name="toolseam-worker", daemon=True).start()
        except RuntimeError:  # the machine gives no further thread: those at work go on
            if self._alive == 0:
                self._open -= 1
                self._queue.clear()
                raise Busy from None
        else:
            self._alive += 1

    def close(self) -> None:
        """Let idle threads end; a thread at work ends after its call."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()

    def _work(self) -> None:
        while True:
            with self._turn:
                while not self._queue:
                    if self._closed:
                        self._alive -= 1
                        return
                    self._turn.wait()
                job = self._queue.popleft()
            job.run()
            with self._turn:
                self._open -= 1
            del job


_STARTED: weakref.WeakSet[Workers] = weakref.WeakSet()
"""Those whose threads a fork leaves behind; what is told of forks is told of them for ever."""


@cache
def _watch_forks() -> None:
    def begin_again() -> None:
        for workers in _STARTED:
            workers.begin()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin_again)
