"""Bodies in warm worker processes: few at once, each process for one owner and its grants only."""

from __future__ import annotations

import contextvars
import os
import threading
import weakref
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

import attrs

from toolseam._body import Lost, NotStarted
from toolseam._text import short
from toolseam.isolation._frames import LARGEST
from toolseam.isolation._process import Worker
from toolseam.isolation._sandbox import level

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._settings_keys import Grants, ProcessLimits

_BODY = "toolseam._body:run_body"
_PASSED_OVER = 8
"""So many calls may go before one that came first, because a worker of theirs is warm."""
_CLOSE_S = 10.0
_Kind: TypeAlias = "tuple[str, Grants | None]"
"""Whose bodies a process serves, and what is let into its sandbox; None: there is no sandbox."""
_inside = contextvars.ContextVar("_inside", default=False)
"""Whether a body waits for what is done here: what it waits for may not wait for its place."""


class BodyFuture(Future[bytes]):
    """One call: its answer, or `Lost`, or `NotStarted`. It is stopped by `cancel`, also at work."""

    def __init__(
        self,
        kind: _Kind,
        request: bytes,
        ask: Callable[[bytes], bytes],
        leave: Callable[[BodyFuture], None],
    ) -> None:
        super().__init__()
        self.kind = kind
        self._leave = leave
        self.request = request
        self.passed_over = 0
        self.stopped: str | None = None
        self._asked = ask
        self._context = contextvars.copy_context()
        self._context.run(_inside.set, True)
        self._turn = threading.Lock()
        self._taken = False
        self._worker: Worker | None = None

    def cancel(self) -> bool:
        """Kill the worker at once, or never begin; False if the call is done already.

        The future is done when nothing of the call is left: with `NotStarted` or `Lost`. A worker
        that was only being started goes on starting, for the next call.
        """
        return self.stop("cancelled")

    def stop(self, reason: str) -> bool:
        """Stop for a reason of the host's."""
        with self._turn:
            if self.done():
                return False
            self.stopped = self.stopped or reason
            waits = not self._taken
            self._taken = True
            if self._worker is not None:
                self._worker.kill()
        if waits:
            self._leave(self)
            self.set_exception(NotStarted(reason))
        return True

    def never_began(self, error: NotStarted) -> None:
        """End without having begun, unless it was stopped before."""
        with self._turn:
            waits = not self._taken
            self._taken = True
        if waits:
            self.set_exception(error)

    def goes_to(self, worker: Worker) -> bool:
        """Begin in a worker: who stops the call kills it; False if it was stopped before."""
        with self._turn:
            if self._taken:
                return False
            self._taken = True
            self._worker = worker
            return True

    def end(self, ended: bytes | BaseException | None) -> None:
        """Give whoever waits what came of it; None: that has been given."""
        if isinstance(ended, bytes):
            self.set_result(ended)
        elif ended is not None:
            self.set_exception(ended)

    def leaves(self) -> None:
        """Be at work in no worker any more."""
        with self._turn:
            self._worker = None

    def ask(self, question: bytes) -> bytes:
        """Ask the host, with the context variables of whoever called."""
        return self._context.run(self._asked, question)


class _Seat:
    """A thread that drives one worker after the other."""

    def __init__(self) -> None:
        self.inbox: SimpleQueue[BodyFuture | None] = SimpleQueue()
        self.kind: _Kind | None = None
        self.worker: Worker | None = None
        self.thread: threading.Thread | None = None


class ProcessPool:
    """Carries bodies to worker processes.

    The child of a fork has no worker and no call in it.

    Args:
        limits: what each process may use, and how many there are at once.
        body: the function that a worker serves, `module:function`, taking request and way to ask.
    """

    def __init__(self, limits: ProcessLimits, *, body: str = _BODY) -> None:
        self._limits = limits
        self._body = body
        self._closed = False
        self.begin()
        _watch_forks()
        _OPEN.add(self)

    def begin(self) -> None:
        """Be without a worker and without a call."""
        self._turn = threading.Lock()
        self._seats: list[_Seat] = []
        self._idle: list[_Seat] = []
        self._leaving: list[_Seat] = []
        self._waiting: deque[BodyFuture] = deque()
        self._running: set[BodyFuture] = set()

    def begin_again(self) -> None:
        """Leave all workers to the parent of this fork."""
        for seat in (*self._seats, *self._leaving):
            if seat.worker is not None:
                seat.worker.forget()
        self.begin()

    def submit(
        self,
        request: bytes,
        *,
        owner: str,
        ask: Callable[[bytes], bytes],
        grants: Grants | None = None,
    ) -> Future[bytes]:
        """Have a body run as soon as there is room; see `BodyFuture` for how it ends.

        There is room at once for what another body has asked for, which waits for it. With grants
        it runs in a sandbox into which just they are let.
        """
        if len(request) > LARGEST:
            raise NotStarted("too_large", f"a request of {len(request)} bytes")
        call = BodyFuture((owner, grants), request, ask, self._given_up)
        with self._turn:
            if self._closed:
                raise NotStarted("closed")
            seat = self._seat(call.kind)
            if seat is None:
                self._waiting.append(call)
            else:
                self._running.add(call)
        if seat is not None:
            seat.inbox.put(call)
        return call

    def _given_up(self, call: BodyFuture) -> None:
        """Keep nothing of a call that waits no more."""
        with self._turn, suppress(ValueError):
            self._waiting.remove(call)

    def _seat(self, kind: _Kind) -> _Seat | None:
        """Take an idle seat, best one with a worker of the same kind, or make a new one."""
        for seat in reversed(self._idle):
            if seat.kind == kind:
                self._idle.remove(seat)
                return seat
        room = len(self._seats) < self._limits.workers
        if room or (_inside.get() and not self._idle):
            seat = _Seat()
            seat.thread = threading.Thread(
                target=self._work, args=(seat,), name="toolseam-process", daemon=True
            )
            try:
                seat.thread.start()
            except RuntimeError:
                if not self._seats:
                    raise NotStarted("worker_start", "the machine gives no thread") from None
            else:
                self._seats.append(seat)
                return seat
        return self._idle.pop(0) if self._idle else None

    def close(self) -> None:
        """Stop what runs and what waits, and return when no process is left."""
        with self._turn:
            self._closed = True
            seats = [*self._seats, *self._leaving]
            stopped = [*self._running, *self._waiting]
            self._seats, self._idle = [], []
            self._waiting.clear()
        for call in stopped:
            call.stop("closed")
        for seat in seats:
            seat.inbox.put(None)
            worker = seat.worker
            if worker is not None:  # it may only be starting
                worker.kill()
        for seat in seats:
            if seat.thread is not None and seat.thread is not threading.current_thread():
                seat.thread.join(_CLOSE_S)

    def _work(self, seat: _Seat) -> None:
        while True:
            try:
                call = seat.inbox.get(timeout=self._limits.idle_s or None)
            except Empty:
                if self._retires(seat):
                    break
                continue
            while call is not None:
                done, ended = call, self._carry(seat, call)
                # Free first: whoever waits may ask again at once, and needs no other process.
                call = self._next(seat, done)
                done.end(ended)
                del done, ended  # the seat may stand idle for long
            if self._closed or seat in self._leaving:
                break
        if seat.worker is not None:
            seat.worker.end()
        with self._turn:
            if seat in self._leaving:
                self._leaving.remove(seat)

    def _retires(self, seat: _Seat) -> bool:
        """Leave, with the worker that nobody has needed; False if a call is on its way to it."""
        with self._turn:
            if seat not in self._idle:
                return False
            self._idle.remove(seat)
            self._seats.remove(seat)
            self._leaving.append(seat)
            return True

    def _next(self, seat: _Seat, done: BodyFuture) -> BodyFuture | None:
        with self._turn:
            self._running.discard(done)
            if len(self._seats) > self._limits.workers:
                self._seats.remove(seat)
                self._leaving.append(seat)
                return None
            call = self._first(seat.kind)
            if call is not None:
                self._running.add(call)
            elif not self._closed:
                self._idle.append(seat)
            return call

    def _first(self, kind: _Kind | None) -> BodyFuture | None:
        """Take the first call that waits, or one for which a worker is warm."""
        waiting = self._waiting
        if not waiting:
            return None
        if waiting[0].passed_over < _PASSED_OVER:
            for place, call in enumerate(waiting):
                if call.kind == kind:
                    waiting[0].passed_over += place > 0
                    del waiting[place]
                    return call
        return waiting.popleft()

    def _carry(self, seat: _Seat, call: BodyFuture) -> bytes | BaseException | None:
        """Have a call run; return how it ended, None where it never began."""
        if call.stopped is not None:
            return None
        try:
            worker = self._worker(seat, call.kind)
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            seat.worker = None
            call.never_began(_unstarted(error))
            return None
        if not call.goes_to(worker):
            return None
        try:
            answer, more = worker.carry(call.request, call.ask)
        except BaseException as error:  # noqa: BLE001 - likewise
            seat.worker = None
            call.leaves()
            return _as_stopped(error, call.stopped)
        call.leaves()
        if not more or worker.served >= self._limits.calls or call.stopped is not None:
            seat.worker = None
            worker.end()
        return answer

    def _worker(self, seat: _Seat, kind: _Kind) -> Worker:
        """Return the warm worker of the seat if it is of the right kind, else a new one."""
        worker = seat.worker
        if worker is not None:
            if seat.kind == kind and worker.idle():
                return worker
            seat.worker = None
            worker.end()
        seat.kind = kind
        grants = kind[1]
        if grants is not None and not (found := level()).reached:
            raise NotStarted("sandbox", found.text)
        worker = Worker(self._limits, grants, self._body)
        seat.worker = worker
        if self._closed:  # who closes may not have seen it
            worker.kill()
        worker.ready()
        return worker


@attrs.frozen
class InSandbox:
    """Carries bodies to processes of a pool, in sandboxes into which the same is let."""

    pool: ProcessPool
    grants: Grants

    def submit(self, request: bytes, *, owner: str, ask: Callable[[bytes], bytes]) -> Future[bytes]:
        """Have a body run there; see `ProcessPool`."""
        return self.pool.submit(request, owner=owner, ask=ask, grants=self.grants)

    def close(self) -> None:
        """Leave it to the pool, whose processes they are."""


def _unstarted(error: BaseException) -> NotStarted:
    """Say of whatever was raised before a body could begin that none has."""
    if isinstance(error, NotStarted):
        return error
    return NotStarted("worker_start", short(type(error).__name__))


def _as_stopped(error: BaseException, reason: str | None) -> BaseException:
    """Give the reason of the host, where it has stopped the call, for what came of it."""
    if reason is not None and isinstance(error, Lost | NotStarted):
        return type(error)(reason)
    return error


_OPEN: weakref.WeakSet[ProcessPool] = weakref.WeakSet()
"""Those whose workers a fork leaves behind; what is told of forks is told of them for ever."""


@cache
def _watch_forks() -> None:
    def begin_again() -> None:
        for pool in _OPEN:
            pool.begin_again()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin_again)
