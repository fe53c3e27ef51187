"""Running an admitted tool, once: in turn, inside its wrappers, under its deadline (§5)."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from toolseam._call import Call, Refused, context_of, given_to
from toolseam._consent import consent
from toolseam._conversation import withdrawn
from toolseam._jsontext import decode
from toolseam._judgement import as_broken
from toolseam._outcome import busy, given_up, record, rose, timed_out
from toolseam._steps import intent
from toolseam._waiting import in_thread, late_task
from toolseam._wrappers import athrough, through

if TYPE_CHECKING:
    from toolseam._binding import BoundTool
    from toolseam._result import ToolResult
    from toolseam._wrappers import Wrapper

_TURN_S = 0.005


def run(call: Call, tool: BoundTool) -> ToolResult:
    """Call a sync tool's hook, once, here; judge what it returns."""
    if not tool.requires_approval:  # every write requires it
        return run_once(call, tool)
    if not tool.turn.acquire(timeout=call.conversation.state.timeout_s):
        return busy()
    try:
        return _taking_turns(call, tool) or consent(call) or _intended(call) or run_once(call, tool)
    except BaseException as error:
        _record_at_once(call, tool, error)
        raise
    finally:
        tool.turn.release()


def run_later(call: Call, tool: BoundTool) -> ToolResult:
    """Call a sync tool's hook in a worker, unless it broke the contract while this call waited."""
    refused = _taking_turns(call, tool)
    if refused is not None:
        return refused
    try:
        return run(call, tool)
    except BaseException as error:
        _record_at_once(call, tool, error)
        raise


async def arun(call: Call, tool: BoundTool) -> ToolResult:
    """Await an async tool's hook, once, here; judge what it returns."""
    if not tool.requires_approval:
        return await arun_once(call, tool)
    until = monotonic() + call.conversation.state.timeout_s
    # A lock that a thread of another loop may hold can only be asked, never waited for.
    while not tool.turn.acquire(blocking=False):
        if monotonic() > until:
            return busy()
        await asyncio.sleep(_TURN_S)
    try:
        refused = _taking_turns(call, tool) or await _aconsent(call)
        return refused or await arun_once(call, tool)
    except BaseException as error:
        _record_at_once(call, tool, error)
        raise
    finally:
        tool.turn.release()


async def _aconsent(call: Call) -> ToolResult | None:
    """Ask in a thread: preview and store may wait for a database, and the loop must not."""
    seconds = call.conversation.state.timeout_s
    refused: ToolResult | None = await in_thread(
        call, lambda: consent(call) or _intended(call), seconds
    )
    return refused


def _intended(call: Call) -> ToolResult | None:
    """Have the write's intent stored first; refuse the call where it cannot be."""
    if call.abandoned:
        raise given_up(cast("BoundTool", call.tool))
    return call.conversation.state.store.intent(intent(call))


def _taking_turns(call: Call, tool: BoundTool) -> ToolResult | None:
    """Refuse a call whose turn comes after another one broke the contract."""
    return withdrawn(tool) if call.conversation.is_withdrawn(tool) else None


def _record_at_once(call: Call, tool: BoundTool, error: BaseException) -> None:
    """Withdraw what broke the contract here, before the next call that waits begins."""
    broken = as_broken(error)
    if broken is not None:
        record(call, tool, broken)
        raise broken from None


def run_once(call: Call, tool: BoundTool) -> ToolResult:
    wrappers = call.conversation.state.wrappers
    if wrappers:
        return _run_wrapped(call, tool, wrappers)
    context = context_of(call, tool) if tool.wants_context else None
    given = call.value if tool.make is None else given_to(call, tool)
    call.ran = True
    if call.abandoned:
        raise given_up(tool)
    return tool.judge(tool.execute(arguments=given, context=context))


def _run_wrapped(call: Call, tool: BoundTool, wrappers: tuple[Wrapper, ...]) -> ToolResult:
    context, given = context_of(call, tool), given_to(call, tool)

    def run() -> ToolResult:
        call.ran = True
        if call.abandoned:
            raise given_up(tool)
        return tool.judge(tool.execute(arguments=given, context=context))

    text = cast("bytes", call.arguments)
    seen = {"arguments": decode(text), "context": context}
    return through(wrappers, seen, text, run, tool.judge)


async def arun_once(call: Call, tool: BoundTool) -> ToolResult:
    wrappers = call.conversation.state.wrappers
    if wrappers:
        return await _arun_wrapped(call, tool, wrappers)
    context = context_of(call, tool) if tool.wants_context else None
    given = call.value if tool.make is None else given_to(call, tool)
    call.ran = True
    if call.abandoned:
        raise given_up(tool)
    return tool.judge(await tool.execute(arguments=given, context=context))


async def _arun_wrapped(call: Call, tool: BoundTool, wrappers: tuple[Wrapper, ...]) -> ToolResult:
    context, given = context_of(call, tool), given_to(call, tool)

    async def run() -> ToolResult:
        call.ran = True
        if call.abandoned:
            raise given_up(tool)
        return tool.judge(await tool.execute(arguments=given, context=context))

    text = cast("bytes", call.arguments)
    seen = {"arguments": decode(text), "context": context}
    return await athrough(wrappers, seen, text, run, tool.judge)


async def guarded(call: Call, tool: BoundTool) -> tuple[Any, BaseException | None]:
    """Hand the outcome over as a pair: a SystemExit in a task would end the loop."""
    refused = _taking_turns(call, tool)
    if refused is not None:
        return refused, None
    try:
        return await _arun_recorded(call, tool), None
    except asyncio.CancelledError as error:
        if rose(asyncio.current_task(), 0):
            raise
        return None, error
    except BaseException as error:  # noqa: BLE001
        return None, error


async def _arun_recorded(call: Call, tool: BoundTool) -> ToolResult:
    try:
        return await arun(call, tool)
    except BaseException as error:
        _record_at_once(call, tool, error)
        raise


async def in_task(call: Call, tool: BoundTool, seconds: float) -> ToolResult:
    """Await an async tool under an explicit deadline: cancelled then, and not waited for."""
    if seconds <= 0:
        return timed_out(call, seconds)
    call.deadline = monotonic() + seconds
    task = asyncio.create_task(guarded(call, tool))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        call.abandoned = True
        task.cancel()
        task.add_done_callback(lambda ended: late_task(call, ended))
        raise
    if not done:
        call.abandoned = True
        task.cancel()
        task.add_done_callback(lambda ended: late_task(call, ended))
        return timed_out(call, seconds)
    if task.cancelled():
        raise asyncio.CancelledError
    result, error = task.result()
    if error is not None:
        raise error
    return cast("ToolResult", result)


def work(call: Call, tool: BoundTool, seconds: float) -> ToolResult:
    if not tool.is_async:
        return run_later(call, tool)
    outcome = asyncio.run(_until(call, tool, seconds))
    if outcome is None:
        raise Refused(timed_out(call, seconds))
    result, error = outcome
    if error is not None:
        raise error
    return cast("ToolResult", result)


async def _until(
    call: Call, tool: BoundTool, seconds: float
) -> tuple[Any, BaseException | None] | None:
    """Cancel the tool at its deadline and return None; by then nobody waits for it."""
    try:
        async with asyncio.timeout(seconds):
            return await guarded(call, tool)
    except TimeoutError:
        return None
