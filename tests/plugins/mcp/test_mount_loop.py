import asyncio
from concurrent.futures import CancelledError

import pytest

from toolseam_plugins.mcp._mount_loop import Loop


async def nothing() -> None:
    """End at once."""


async def seven() -> int:
    """Give a number."""
    return 7


def test_work_may_begin_before_the_thread_does() -> None:
    """A loop takes work from the moment that it is made."""
    for _ in range(50):
        loop = Loop()
        found = loop.begin(seven()).result(10)
        loop.close(nothing())
        assert found == 7


def test_closing_stops_what_is_at_work() -> None:
    """Who waits is told by a cancellation, and so is who comes later."""
    loop = Loop()
    waiting = loop.begin(asyncio.sleep(60))

    loop.close(nothing())
    late = loop.begin(seven())
    loop.close(nothing())

    for future in (waiting, late):
        with pytest.raises(CancelledError):
            future.result(10)
