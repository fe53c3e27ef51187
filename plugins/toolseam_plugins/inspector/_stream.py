"""The live stream: what happens, as lines of JSON, to whoever reads them fast enough."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._json import dumps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Generator

LINES = 1_000
READERS = 16
_ALIVE_S = 10.0
_LOOK_S = 2.0
_TICK_S = 0.5


class Reader:
    """One who reads; of lines that he is too slow for, the number is kept."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._turn = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._lost = 0
        self.woken = asyncio.Event()

    def tell(self, line: bytes) -> None:
        """Take a line, from any thread."""
        with self._turn:
            first = not self._lines and not self._lost
            if len(self._lines) < LINES:
                self._lines.append(line)
            else:
                self._lost += 1
        if first:
            try:
                self._loop.call_soon_threadsafe(self.woken.set)
            except RuntimeError:  # his loop has closed meanwhile: nobody reads any more
                return

    def take(self) -> bytes:
        """Return what has come since, and of what was lost how much it was."""
        with self._turn:
            lines, lost = list(self._lines), self._lost
            self._lines.clear()
            self._lost = 0
            self.woken.clear()
        if lost:
            lines.append(line_of({"kind": "lost", "count": lost}))
        return b"".join(lines)


class Stream:
    """All who read.

    Args:
        is_over: tells whether nothing will come any more.
        head: returns what changes when another process has stored something, or None.
    """

    def __init__(self, is_over: Callable[[], bool], head: Callable[[], bytes | None]) -> None:
        self._is_over = is_over
        self._head = head
        self._readers: tuple[Reader, ...] = ()
        self._seen: bytes | None = None
        self._looked = 0.0
        self._changes = 0

    @property
    def is_read(self) -> bool:
        """Whether anybody reads."""
        return bool(self._readers)

    def tell(self, line: bytes) -> None:
        """Tell all who read, from any thread."""
        for reader in self._readers:
            reader.tell(line)

    async def lines(self) -> AsyncIterator[bytes]:
        """Give lines as they come, until there is nothing to come; raises `Refused` when full."""
        with self._reading() as reader:
            yield line_of({"kind": "hello"})
            spoken = time.monotonic()
            changes = await self._look()
            while not self._is_over():
                if now := reader.take():
                    yield now
                    spoken = time.monotonic()
                if (seen := await self._look()) != changes:
                    changes = seen
                    yield line_of({"kind": "stored"})
                if time.monotonic() - spoken > _ALIVE_S:
                    spoken = time.monotonic()
                    yield line_of({"kind": "alive"})
                await _wait(reader.woken)
            yield reader.take() + line_of({"kind": "end"})

    @contextmanager
    def _reading(self) -> Generator[Reader]:
        reader = Reader()
        self._readers = (*self._readers, reader)
        try:
            yield reader
        finally:
            self._readers = tuple(each for each in self._readers if each is not reader)

    async def _look(self) -> int:
        """Return how often the store was seen to have changed; it is looked at now and then."""
        now = time.monotonic()
        if now - self._looked > _LOOK_S:
            self._looked = now
            found = await asyncio.to_thread(self._head) or b""
            if self._seen is not None and found != self._seen:
                self._changes += 1
            self._seen = found
        return self._changes

    def refuse_more(self) -> None:
        """Raise `Refused` where as many read as may."""
        if len(self._readers) >= READERS:
            raise Refused(503, "unavailable", f"At most {READERS} pages are told what happens.")


async def _wait(woken: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_TICK_S):
            await woken.wait()
    except TimeoutError:
        return


def line_of(what: dict[str, object]) -> bytes:
    """Return one line of JSON."""
    return dumps(what) + b"\n"
