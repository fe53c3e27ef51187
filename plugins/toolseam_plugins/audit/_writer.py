"""One connection, one thing at a time, and never a loop that waits for it.

From an event loop what happened is written behind its back, in order; from any other thread, where
it happened, before the call returns.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from toolseam_plugins.audit._database import AuditError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from toolseam_plugins.audit._database import Database

T = TypeVar("T")
REST_S = 1.0
"""How long a database that did not answer is left alone: else every call waits for it anew."""


class Writer:
    """Hands the connection to one at a time; a broken one is opened again.

    Over a fork nobody has it, and no file is open: SQLite would take the parent's locks for the
    child's own, and one of the two would overwrite what the other wrote. `counting` is a lock of
    its user's, free on both sides as well; whoever has it asks for nothing here. `begin_again` is
    told in the child.

    Args:
        connect: opens one under the name by which others learn that this process lives.
    """

    def __init__(self, connect: Callable[[str], Database]) -> None:
        self._connect = connect
        self._turn = threading.RLock()
        self.counting = threading.Lock()
        self.begin_again: Callable[[], None] | None = None
        self._name = _new_name()
        self._database: Database | None = connect(self._name)
        self._parents: list[Database] = []
        self._rests_until = 0.0
        self._closed = False
        self._queue = threading.Lock()
        self._behind: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        _FORKS.watch(self)

    def now(self, work: Callable[[Database], T]) -> T:
        """Do it here, after all that came before; raises `Unreachable`."""
        self._catch_up()
        return self._do(work)

    def soon(self, work: Callable[[Writer], None]) -> None:
        """Do it behind the back of a running event loop, or here; `work` raises nothing."""
        if not _in_loop():
            self._catch_up()
            work(self)
            return
        # Never the lock of the connection: whoever has that may be waiting for the database.
        with self._queue:
            if self._behind is None:
                self._behind = ThreadPoolExecutor(1, "toolseam-audit")
            self._last = self._behind.submit(work, self)

    def within(self, work: Callable[[Database], T]) -> T:
        """Do it in a work that `soon` has begun; raises `Unreachable`, also without a try."""
        if time.monotonic() < self._rests_until:
            raise Unreachable("resting")
        return self._do(work)

    def close(self) -> None:
        """Write what is left, and close the connection."""
        self._catch_up()
        with self._queue:
            behind, self._behind = self._behind, None
        if behind is not None:
            behind.shutdown()
        with self._turn:
            if self._database is not None:
                self._database.close()
            self._database = None
            self._closed = True

    def _catch_up(self) -> None:
        last = self._last
        if last is not None:
            last.exception()

    def _do(self, work: Callable[[Database], T]) -> T:
        with self._turn:
            try:
                return work(self._opened())
            except Unreachable as fault:
                self._rest(fault)
                raise

    def _rest(self, fault: Unreachable) -> None:
        self._rests_until = time.monotonic() + REST_S
        if fault.broken and self._database is not None:
            self._database.close()
            self._database = None

    def _opened(self) -> Database:
        if self._closed:
            raise Unreachable("closed")
        if self._database is not None and not self._database.is_sound():
            self._database.close()
            self._database = None
        if self._database is None:
            try:
                self._database = self._connect(self._name)
            except AuditError:
                raise Unreachable("AuditError") from None
        return self._database

    # -- a fork --------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Wait until nobody works with the connection, and leave no file of it open."""
        taken: list[threading.Lock | threading.RLock] = []
        try:
            # The last two are never held for long: whoever waits for them may be an event loop.
            for lock in (self._turn, self._queue, self.counting):
                lock.acquire()
                taken.append(lock)
            if self._database is not None:
                self._database.rest()
        except BaseException:
            for lock in taken:
                lock.release()
            raise

    def after_fork(self) -> None:
        """Let others go on."""
        for lock in (self.counting, self._queue, self._turn):
            lock.release()

    def in_child(self) -> None:
        """Begin anew: the parent's connection, threads and debts are the parent's."""
        try:
            if self._database is not None:
                # Kept, since to throw it away would be to close it.
                self._parents.append(self._database)
                self._database.abandon()
            self._database, self._name = None, _new_name()
            self._behind = self._last = None
            if self.begin_again is not None:
                self.begin_again()
        finally:
            self.after_fork()


class _Forks:
    """The writers that a fork would tear apart: what is told of forks is told of them for ever."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._open: weakref.WeakSet[Writer] = weakref.WeakSet()
        self._held: list[Writer] = []
        self._forking: int | None = None
        self._watching = False

    def watch(self, writer: Writer) -> None:
        """Hold a writer still over every fork from now on, for as long as it lives."""
        with self._turn:
            self._open.add(writer)
            if not self._watching:
                self._watching = True
                os.register_at_fork(
                    before=self._before,
                    after_in_parent=lambda: self._after(Writer.after_fork),
                    after_in_child=lambda: self._after(Writer.in_child),
                )

    def _before(self) -> None:
        """Hold them all; one at which somebody is interrupted is not held, and nobody hangs."""
        self._turn.acquire()
        self._forking = threading.get_ident()
        for writer in list(self._open):
            writer.before_fork()
            self._held.append(writer)

    def _after(self, end: Callable[[Writer], None]) -> None:
        if self._forking != threading.get_ident():
            return
        try:
            while self._held:
                end(self._held.pop())
        finally:
            self._forking = None
            self._turn.release()


_FORKS = _Forks()


def _new_name() -> str:
    return os.urandom(8).hex()


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
