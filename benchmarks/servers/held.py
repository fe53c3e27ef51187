"""A client that stays connected while calls are measured. The standard library only."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Runner
    from contextlib import AbstractAsyncContextManager


def held(runner: Runner, client: AbstractAsyncContextManager[Any]) -> Any:
    """Connect a client in a task of its own, which ends with the loop."""
    ready: asyncio.Future[Any] = runner.get_loop().create_future()

    async def hold() -> None:
        async with client as connected:
            ready.set_result(connected)
            await asyncio.Event().wait()

    async def begin() -> Any:
        # Kept by the loop alone it could be collected.
        ready.task = asyncio.create_task(hold())  # type: ignore[attr-defined]
        return await ready

    return runner.run(begin())
