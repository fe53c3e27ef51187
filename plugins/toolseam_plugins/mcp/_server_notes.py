"""The progress of one call on its way from the tool's thread to the client that waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Protocol, cast

import attrs

from toolseam import Step

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Send = Callable[["Progress"], Awaitable[object]]

_WAITING = 256


@attrs.frozen
class Progress:
    """One note: how much is done, of how much, and what the tool says of it."""

    tool: str
    done: float
    total: float | None
    text: str


class _Live(Protocol):
    """What a host tells its listeners of a call that is under way."""

    tool: str
    done: float
    total: float | None
    text: str


class Notes:
    """Takes notes in any thread and sends them in order in the loop of the request.

    A client that reads slowly loses the oldest of what waits, never the tool its time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send, *, masked: bool) -> None:
        self.step: Step | None = None
        self._loop = loop
        self._send = send
        self._masked = masked
        self._waiting: deque[Progress] = deque(maxlen=_WAITING)
        self._noted = False
        self._task: asyncio.Task[None] | None = None
        self._last = float("-inf")
        self._over = False

    def take(self, what: object) -> None:
        """Take what happened in the context of this request."""
        if isinstance(what, Step):
            self.step = what
        elif not self._over and getattr(what, "kind", "") == "progress":
            self._noted = True
            live = cast("_Live", what)
            note = Progress(live.tool, live.done, live.total, live.text)
            # A loop that has ended has nobody left to tell.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._add, note)

    def _add(self, note: Progress) -> None:
        # The protocol wants each note to be farther than the one before.
        if self._over or not note.done > self._last:
            return
        self._last = note.done
        self._waiting.append(note)
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._pump())

    async def _pump(self) -> None:
        while self._waiting:
            note = self._waiting.popleft()
            if self._masked and note.text:
                from toolseam.guards import mask_secrets

                note = attrs.evolve(note, text=mask_secrets(note.text)[0])
            with contextlib.suppress(Exception):  # a client that went away; the answer will say
                await self._send(note)

    async def end(self) -> None:
        """Wait until all that was noted is sent: the client forgets the call with its answer."""
        if not self._noted:
            return
        await asyncio.sleep(0)
        # A tool that was given up may go on for ever; its call is answered all the same.
        self._over = True
        if self._task is not None:
            await self._task

    def stop(self) -> None:
        """Send nothing more."""
        self._over = True
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
