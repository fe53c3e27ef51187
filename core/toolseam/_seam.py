"""The seam: every executed call passes here (contract §5).

`perform` and its async twin `aperform` share admission, judgement and finish; they differ only
in how they wait. Nothing in this module reads provider text to decide anything.
"""

from __future__ import annotations

import asyncio
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any, cast

from toolseam._bounds import bound_result
from toolseam._call import Call, Refused, begin, context_of, given_to
from toolseam._consent import consent
from toolseam._conversation import WITHDRAWN, withdrawn
from toolseam._errors import ErrorCode, SettingsError
from toolseam._jsontext import decode
from toolseam._judgement import Broken, as_broken
from toolseam._levels import Zone
from toolseam._render import issue, render_tool_result
from toolseam._result import ToolError, ToolResult, copy_error, failed, refusal
from toolseam._run_only import EMPTY_OBJECT, NO_ARTIFACTS
from toolseam._steps import NO_EFFECT, Live, step
from toolseam._text import bound, has_control, short
from toolseam._trace import LOGGER
from toolseam._workers import Busy, Job
from toolseam._wrappers import athrough, through

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._approval import Approval
    from toolseam._binding import BoundTool
    from toolseam._conversation import Conversation
    from toolseam._wrappers import Wrapper

_TURN_S = 0.005
_LOGGED = 20_000


def perform(
    conversation: Conversation,
    name: str,
    arguments: str | bytes | Mapping[str, Any] | None = None,
    approval: Approval | None = None,
    timeout: float | None = None,
    *,
    wire: bool = False,
) -> Call:
    """Make one call from synchronous code and return its finished attempt; see §5."""
    call = begin(conversation, name)
    if wire:
        call.for_wire = True
    refused = _admit(call, name, arguments)
    if refused is not None:
        return _finish(call, refused)
    if approval is not None:
        call.approval = approval
    tool = cast("BoundTool", call.tool)
    seconds = tool.timeout_s if timeout is None else timeout
    if seconds is None and not tool.is_async:
        try:
            result = (_run if tool.requires_approval else _run_once)(call, tool)
        except BaseException as error:  # noqa: BLE001 - every outcome becomes a step
            return _failed(call, error)
        return _finish(call, result)
    if tool.is_async:
        _refuse_running_loop(tool)
    return _perform_waiting(call, tool, seconds)


async def aperform(
    conversation: Conversation,
    name: str,
    arguments: str | bytes | Mapping[str, Any] | None = None,
    approval: Approval | None = None,
    timeout: float | None = None,
    *,
    wire: bool = False,
) -> Call:
    """Make one call from an event loop, which never blocks; the same rules as `perform`."""
    call = begin(conversation, name)
    if wire:
        call.for_wire = True
    refused = _admit(call, name, arguments)
    if refused is not None:
        return _finish(call, refused)
    if approval is not None:
        call.approval = approval
    tool = cast("BoundTool", call.tool)
    seconds = tool.timeout_s if timeout is None else timeout
    task = asyncio.current_task()
    cancels = 0 if task is None else task.cancelling()
    try:
        if tool.is_async:
            if seconds is not None:
                result = await _in_task(call, tool, seconds)
            else:
                result = await _in_place(call, tool, task)
        elif tool.spec.inline and seconds is None and not tool.requires_approval:
            result = _run(call, tool)
        else:
            seconds = conversation.state.timeout_s if seconds is None else seconds
            call.deadline = monotonic() + seconds
            result = await _in_thread(call, lambda: _run(call, tool), seconds)
    except BaseException as error:  # noqa: BLE001 - every outcome becomes a step
        return _failed(call, error, host_cancelled=_rose(task, cancels))
    if task is not None and task.cancelling() > cancels:
        # The tool swallowed the host's cancellation; the host meant it.
        _finish(call, _cancelled(call))
        raise asyncio.CancelledError
    return _finish(call, result)


def admitted_call(
    conversation: Conversation, name: object, arguments: object
) -> tuple[Call, ToolResult | None]:
    """Return a call that was taken as far as its approval, and the refusal that it met."""
    call = begin(conversation, name)
    return call, _admit(call, name, arguments)


def _rose(task: asyncio.Task[Any] | None, before: int) -> bool:
    return task is not None and task.cancelling() > before


# -- admission ---------------------------------------------------------------------------------


def _admit(call: Call, name: object, arguments: object) -> ToolResult | None:
    """Take the steps that run no plugin code, in the order of §5; a result is a refusal."""
    conversation = call.conversation
    known = conversation.admitted.get(name) if type(name) is str else None
    if known is not None and known[1] == conversation.state.epoch:
        tool = known[0]
    else:
        given, refused = conversation.admit(name)
        if refused is not None:
            call.tool = given
            return refused
        tool = cast("BoundTool", given)
    call.tool = tool
    try:
        call.arguments, call.value, call.repairs = tool.read(arguments)
    except ToolError as error:
        return failed(copy_error(error))
    return None


# -- running -----------------------------------------------------------------------------------


def _run(call: Call, tool: BoundTool) -> ToolResult:
    """Call a sync tool's hook, once, here; judge what it returns."""
    if not tool.requires_approval:  # every write requires it
        return _run_once(call, tool)
    if not tool.turn.acquire(timeout=call.conversation.state.timeout_s):
        return _busy()
    try:
        return _taking_turns(call, tool) or consent(call) or _run_once(call, tool)
    except BaseException as error:
        broken = as_broken(error)
        if broken is None:
            raise
        _record(call, tool, broken)
        raise broken from None
    finally:
        tool.turn.release()


async def _arun(call: Call, tool: BoundTool) -> ToolResult:
    """Await an async tool's hook, once, here; judge what it returns."""
    if not tool.requires_approval:
        return await _arun_once(call, tool)
    until = monotonic() + call.conversation.state.timeout_s
    # A lock that a thread of another loop may hold can only be asked, never waited for.
    while not tool.turn.acquire(blocking=False):
        if monotonic() > until:
            return _busy()
        await asyncio.sleep(_TURN_S)
    try:
        refused = _taking_turns(call, tool) or await _aconsent(call)
        return refused or await _arun_once(call, tool)
    except BaseException as error:
        broken = as_broken(error)
        if broken is None:
            raise
        _record(call, tool, broken)
        raise broken from None
    finally:
        tool.turn.release()


async def _aconsent(call: Call) -> ToolResult | None:
    """Ask in a thread: a preview may wait for a database, and the loop must not."""
    seconds = call.conversation.state.timeout_s
    refused: ToolResult | None = await _in_thread(call, lambda: consent(call), seconds)
    return refused


def _taking_turns(call: Call, tool: BoundTool) -> ToolResult | None:
    """Refuse a write whose turn comes after another one broke the contract."""
    return withdrawn(tool) if call.conversation.is_withdrawn(tool) else None


def _run_once(call: Call, tool: BoundTool) -> ToolResult:
    wrappers = call.conversation.state.wrappers
    if wrappers:
        return _run_wrapped(call, tool, wrappers)
    context = context_of(call, tool) if tool.wants_context else None
    given = call.value if tool.make is None else given_to(call, tool)
    call.ran = True
    if call.abandoned:
        raise _given_up(tool)
    return tool.judge(tool.execute(arguments=given, context=context))


def _run_wrapped(call: Call, tool: BoundTool, wrappers: tuple[Wrapper, ...]) -> ToolResult:
    context, given = context_of(call, tool), given_to(call, tool)

    def run() -> ToolResult:
        call.ran = True
        if call.abandoned:
            raise _given_up(tool)
        return tool.judge(tool.execute(arguments=given, context=context))

    text = cast("bytes", call.arguments)
    seen = {"arguments": decode(text), "context": context}
    return through(wrappers, seen, text, run, tool.judge)


async def _arun_once(call: Call, tool: BoundTool) -> ToolResult:
    wrappers = call.conversation.state.wrappers
    if wrappers:
        return await _arun_wrapped(call, tool, wrappers)
    context = context_of(call, tool) if tool.wants_context else None
    given = call.value if tool.make is None else given_to(call, tool)
    call.ran = True
    if call.abandoned:
        raise _given_up(tool)
    return tool.judge(await tool.execute(arguments=given, context=context))


async def _arun_wrapped(call: Call, tool: BoundTool, wrappers: tuple[Wrapper, ...]) -> ToolResult:
    context, given = context_of(call, tool), given_to(call, tool)

    async def run() -> ToolResult:
        call.ran = True
        if call.abandoned:
            raise _given_up(tool)
        return tool.judge(await tool.execute(arguments=given, context=context))

    text = cast("bytes", call.arguments)
    seen = {"arguments": decode(text), "context": context}
    return await athrough(wrappers, seen, text, run, tool.judge)


def _given_up(tool: BoundTool) -> Refused:
    """Whoever gives a call up sets `abandoned`, then reads `ran`; here it is the other way round.

    So a tool never begins after its caller was told that it had not.
    """
    return Refused(refusal(ErrorCode.CANCELLED, f"{tool.name} was not run: nobody waited."))


def _perform_waiting(call: Call, tool: BoundTool, seconds: float | None) -> Call:
    """Run a call that has a deadline, or an async tool, from synchronous code."""
    if seconds is None:
        return _perform_here(call, tool)
    call.deadline = monotonic() + seconds
    try:
        job = call.conversation.state.workers.submit(lambda: _work(call, tool, seconds))
    except Busy:
        return _finish(call, _busy())
    try:
        done = job.wait(seconds)
    except BaseException as error:  # noqa: BLE001 - Ctrl-C while waiting: recorded, re-raised
        _abandon(call, job)
        return _failed(call, error)
    if not done:
        return _finish(call, _overran(call, job, seconds))
    if job.error is not None:
        return _failed(call, job.error)
    return _finish(call, job.value)


def _work(call: Call, tool: BoundTool, seconds: float) -> ToolResult:
    if not tool.is_async:
        return _run(call, tool)
    outcome = asyncio.run(_until(call, tool, seconds))
    if outcome is None:
        raise Refused(_timed_out(call, seconds))
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
            return await _guarded(call, tool)
    except TimeoutError:
        return None


def _perform_here(call: Call, tool: BoundTool) -> Call:
    """Run an async tool to its end in a loop of its own; nothing but its value leaves the task."""

    async def run() -> tuple[Any, BaseException | None]:
        outcome = await _guarded(call, tool)
        if _rose(asyncio.current_task(), 0):
            raise asyncio.CancelledError  # Ctrl-C, though the tool swallowed it
        return outcome

    try:
        result, error = asyncio.run(run())
    except BaseException as error:  # noqa: BLE001 - Ctrl-C ends the loop: recorded, re-raised
        return _failed(call, error)
    return _finish(call, result) if error is None else _failed(call, error)


async def _guarded(call: Call, tool: BoundTool) -> tuple[Any, BaseException | None]:
    """Hand the outcome over as a pair: a SystemExit in a task would end the loop."""
    try:
        return await _arun(call, tool), None
    except asyncio.CancelledError as error:
        if _rose(asyncio.current_task(), 0):
            raise
        return None, error
    except BaseException as error:  # noqa: BLE001
        return None, error


async def _in_place(call: Call, tool: BoundTool, task: asyncio.Task[Any] | None) -> ToolResult:
    """Await an async tool in the caller's task, under the default deadline."""
    state = call.conversation.state
    run = _arun if tool.requires_approval else _arun_once
    flights = None if task is None else state.watch.enter(task, state.timeout_s)
    if flights is None or task is None:
        return await run(call, tool)
    try:
        result = await run(call, tool)
    except BaseException as error:
        if not flights.leave(task):
            raise
        if not isinstance(error, Exception | asyncio.CancelledError):
            task.uncancel()
            raise
    else:
        if not flights.leave(task):
            return result
    call.abandoned = True
    task.uncancel()
    return _timed_out(call, state.timeout_s)


async def _in_task(call: Call, tool: BoundTool, seconds: float) -> ToolResult:
    """Await an async tool under an explicit deadline: cancelled then, and not waited for."""
    call.deadline = monotonic() + seconds
    task = asyncio.create_task(_guarded(call, tool))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        call.abandoned = True
        task.cancel()
        task.add_done_callback(lambda ended: _late_task(call, ended))
        raise
    if not done:
        call.abandoned = True
        task.cancel()
        task.add_done_callback(lambda ended: _late_task(call, ended))
        return _timed_out(call, seconds)
    if task.cancelled():
        raise asyncio.CancelledError
    result, error = task.result()
    if error is not None:
        raise error
    return cast("ToolResult", result)


async def _in_thread(call: Call, run: Callable[[], Any], seconds: float) -> Any:  # noqa: ANN401
    """Run what may wait in a worker thread while the loop goes on."""
    loop = asyncio.get_running_loop()
    try:
        job = call.conversation.state.workers.submit(run)
    except Busy:
        return _busy()
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
        return _overran(call, job, seconds)
    except asyncio.CancelledError:
        _abandon(call, job)
        raise
    if job.error is not None:
        raise job.error
    return job.value


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _refuse_running_loop(tool: BoundTool) -> None:
    """Anything else would block the loop that the tool needs (decisions, P35)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    message = f"{tool.name} is async and an event loop is running here: await acall() instead"
    raise RuntimeError(message)


# -- overrunning -------------------------------------------------------------------------------


def _overran(call: Call, job: Job, seconds: float) -> ToolResult:
    _abandon(call, job)
    return _timed_out(call, seconds)


def _abandon(call: Call, job: Job) -> None:
    """Leave a job to itself: its value is dropped, its end is a late note of the trace."""
    call.abandoned = True
    if job.abandon():
        job.then(lambda ended: _late(call, ended.error))


def _late_task(call: Call, task: asyncio.Task[Any]) -> None:
    error = None if task.cancelled() else task.exception() or task.result()[1]
    if not task.cancelled():
        _late(call, error)


def _late(call: Call, error: BaseException | None) -> None:
    tool = cast("BoundTool", call.tool)
    if isinstance(error, Refused):
        return
    broken = None if error is None else as_broken(error)
    if broken is not None:
        _record(call, tool, broken)
    how = "finished" if error is None else f"ended with {short(type(error).__name__)}"
    text = f"{how} after it was given up"
    call.conversation.trace.note(Live("late", call.conversation.run_id, tool.name, text=text))


def _timed_out(call: Call, seconds: float) -> ToolResult:
    tool = cast("BoundTool", call.tool)
    message = f"{tool.name} did not answer within {seconds:g} s."
    if call.ran and not tool.reads:
        message += " The change may still apply."
    return refusal(ErrorCode.TIMEOUT, message)


def _busy() -> ToolResult:
    message = "Too many calls are at work and waiting; try again later."
    return refusal(ErrorCode.UNAVAILABLE, message, retriable=True, reason="busy")


# -- judgement ---------------------------------------------------------------------------------


def _failed(call: Call, error: BaseException, *, host_cancelled: bool = False) -> Call:
    """Turn what a call raised into its one step; re-raise what is not the tool's to keep."""
    if isinstance(error, Refused):
        return _finish(call, error.result)
    tool = cast("BoundTool", call.tool)
    if host_cancelled:
        _finish(call, _cancelled(call))
        raise error if isinstance(error, asyncio.CancelledError) else asyncio.CancelledError
    if not isinstance(error, Exception | SystemExit | asyncio.CancelledError):
        _finish(call, _cancelled(call))
        raise error
    broken = as_broken(error)
    if broken is not None:
        return _finish(call, _breach(call, tool, broken))
    if isinstance(error, ToolError):
        return _finish(call, failed(copy_error(error)))
    if isinstance(error, SettingsError):
        return _finish(call, _unsettled(tool))
    if isinstance(error, TimeoutError):
        return _finish(call, refusal(ErrorCode.TIMEOUT, f"{tool.name} timed out."))
    if isinstance(error, asyncio.CancelledError):
        return _finish(call, _cancelled(call))
    _log(tool, error)
    kind = short(type(error).__name__)
    return _finish(call, refusal(ErrorCode.EXECUTION_ERROR, f"{tool.name} raised {kind}."))


def _breach(call: Call, tool: BoundTool, broken: Broken) -> ToolResult:
    """The tool or a wrapper broke the contract: never run again, and only the facts are told."""
    call.reason = f"{broken.path}: {broken.reason}"
    _record(call, tool, broken)
    if broken.wrapper is None:
        return refusal(ErrorCode.CONTRACT_ERROR, f"{tool.name} {WITHDRAWN}")
    ran = "has run once" if call.ran else "was not run"
    message = f"{tool.name} {ran}; a wrapper broke the result contract and is left out from now on"
    return refusal(ErrorCode.CONTRACT_ERROR, message, reason="wrapper")


def _record(call: Call, tool: BoundTool, broken: Broken) -> None:
    """Withdraw what broke the contract, before anybody else has a turn."""
    if broken.recorded:
        return
    broken.recorded = True
    if broken.wrapper is None:
        call.conversation.withdraw(tool)
    call.conversation.state.record(tool, broken)


def _cancelled(call: Call) -> ToolResult:
    tool = cast("BoundTool", call.tool)
    return refusal(ErrorCode.CANCELLED, f"{tool.name} was stopped.")


def _unsettled(tool: BoundTool) -> ToolResult:
    message = f"The settings of {tool.name} are not valid; `toolseam doctor` says why."
    return refusal(ErrorCode.UNAVAILABLE, message, reason="settings")


def _log(tool: BoundTool, error: BaseException) -> None:
    """Write what a tool raised to the host's log only: redacted, one record one line."""
    import traceback

    from toolseam.guards import mask_secrets

    # Twice what is kept is masked: a secret that the first cut beheads is not in the second.
    lines = "".join(traceback.format_exception(error))[-2 * _LOGGED :]
    text, _ = mask_secrets(lines)
    line = text.encode("unicode_escape").decode("ascii")[-_LOGGED:]
    LOGGER.error("%s raised %s", tool.name, line)


# -- finish ------------------------------------------------------------------------------------


def _effect(result: ToolResult) -> str:
    """Return what a write that ran has done to the world."""
    failure = result.failure
    if failure is None:
        return "done"
    return "none" if failure.code in NO_EFFECT else "unknown"


def _finish(call: Call, result: ToolResult) -> Call:
    """Bound both channels and leave exactly one step (§5, §7)."""
    conversation = call.conversation
    content = result.content
    limits = conversation.state.limits
    if not (
        result.failure is None
        and result.data is None
        and result.artifacts is NO_ARTIFACTS
        and result.metadata is EMPTY_OBJECT
        and not result._omitted  # noqa: SLF001 - a function costs a frame a call
        and content.isascii()
        and len(content) <= limits.content_bytes
        and not has_control(content)
    ):
        result, call.truncated, call.original_size, call.notes = bound_result(result, limits)
    tool = call.tool
    if tool is None:
        call.given_name = short(call.given_name)
    elif call.ran:
        if not tool.reads:
            call.effect = _effect(result)
        # A failure counts too: its message or output may be a line of a log.
        if tool.data_class is not conversation.mark:
            conversation.raise_mark(tool.data_class)
    call.result = result
    if call.for_wire:
        call.wire, call.masked = _wire(conversation, result)
    call.value = None  # the trace keeps the text that was recorded, and no second copy
    call.ended = perf_counter_ns()
    trace = conversation.trace
    trace.calls.append(call)
    if trace.listeners.told:
        trace.listeners.tell(step(call))
    return call


def _wire(conversation: Conversation, result: ToolResult) -> tuple[Any, int]:
    """Issue the provider's text: rendered, and masked for every zone but `local` (§6)."""
    text = render_tool_result(result)
    if conversation.zone is Zone.LOCAL:
        return issue(text), 0
    from toolseam.guards import mask_secrets

    text, masked = mask_secrets(text)
    # A mask may be longer than what it hides.
    return issue(bound(text, conversation.state.limits.content_bytes)[0]), masked
