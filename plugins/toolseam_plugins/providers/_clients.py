"""One client of an SDK for each event loop, closed with its loop."""

from __future__ import annotations

import asyncio
import ipaddress
import weakref
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

C = TypeVar("C")


class PerLoop(Generic[C]):
    """Keeps connections open over the rounds of a run, and over all runs of one event loop.

    `asyncio.run` and every server end a loop by closing its asynchronous generators: the client
    lives in one, so that nothing stays open when `session.run` returns.

    Args:
        make: returns a client.
        close: closes one.
    """

    def __init__(self, make: Callable[[], C], close: Callable[[C], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._held: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AsyncGenerator[C], C]
        ] = weakref.WeakKeyDictionary()

    async def get(self) -> C:
        """Return this loop's client."""
        loop = asyncio.get_running_loop()
        held = self._held.get(loop)
        if held is None:
            life = self._life(loop)
            held = self._held[loop] = life, await anext(life)
        return held[1]

    async def _life(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[C]:
        client = self._make()
        try:
            yield client
        finally:
            # The generator knows its loop, so that the entry would keep both for ever.
            self._held.pop(loop, None)
            await self._close(client)


def is_loopback(url: str | None) -> bool:
    """Tell whether an address is on this machine, by its literal host."""
    host = urlsplit(url or "").hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
