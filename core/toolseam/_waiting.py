"""Waiting in an event loop for a worker thread, and leaving what overran to itself (§5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from toolseam._call import Call, Refused
from toolseam._judgement import as_broken
from toolseam._outcome import busy, record, timed_out
from toolseam._steps import Live
from toolseam._text import short
from toolseam._workers import Busy, Job

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._binding import BoundTool
    from toolseam._result import ToolResult


async def in_thread(call: Call, run: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401
    """Run what may wait in a worker thread while the loop goes on."""
    loop = asyncio.get_running_loop()
    try:
        job = call.conversation.state.workers.submit(run)
    except Busy:
        return busy()
    ready = loop.create_future()

    def wake(_: Job) -> None:
        try:
            loop.call_soon_threadsafe(_settle, ready)
        except RuntimeError:  # the loop has closed meanwhile: nobody waits any more
            return

    job.then(wake)
    try:
        async with asyncio.timeout(seconds):
            await ready
    except TimeoutError:
        return overran(call, job, seconds)
    except asyncio.CancelledError:
        abandon(call, job)
        raise
    if job.error is not None:
        raise job.error
    return job.value


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def overran(call: Call, job: Job, seconds: float) -> ToolResult:
    abandon(call, job)
    return timed_out(call, seconds)


def abandon(call: Call, job: Job) -> None:
    """Leave a job to itself: its value is dropped, its end is a late note of the trace."""
    call.abandoned = True
    if job.abandon():
        job.then(lambda ended: _late(call, ended.error))


def late_task(call: Call, task: asyncio.Task[Any]) -> None:
    error = None if task.cancelled() else task.exception() or task.result()[1]
    if not task.cancelled():
        _late(call, error)


def _late(call: Call, error: BaseException | None) -> None:
    tool = cast("BoundTool", call.tool)
    if isinstance(error, Refused):
        return
    broken = None if error is None else as_broken(error)
    if broken is not None:
        record(call, tool, broken)
    how = "finished" if error is None else f"ended with {short(type(error).__name__)}"
    text = f"{how} after it was given up"
    call.conversation.trace.note(Live("late", call.conversation.run_id, tool.name, text=text))
