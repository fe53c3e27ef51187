"""One event loop for all mounts of a host, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

_CLOSE_S = 10.0
_ENDING_S = 5.0


class Loop:
    """Runs coroutines for threads and for other event loops, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="toolseam-mounts", daemon=True)
        self._thread.start()

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin some work and return its future; cancelling that cancels the work."""
        # Not whether the loop runs: its thread may not have come to that yet.
        if self._closed:
            work.close()
            gone: Future[T] = Future()
            gone.cancel()
            return gone
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self, last: Coroutine[Any, Any, object]) -> None:
        """Run the last work, stop everything else, and end the thread; once is enough."""
        if self._closed:
            last.close()
            return

        async def end() -> None:
            await last
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            # What was stopped may have begun an end of its own: of a child that it started.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            if left:
                await asyncio.wait(left, timeout=_ENDING_S)
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()

        whole = self.begin(end())
        self._closed = True
        try:
            whole.result(_CLOSE_S)
        except TimeoutError:
            pass
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_CLOSE_S)
            if not self._thread.is_alive():
                self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
