"""The seam: every executed call passes here (contract §5).

`perform` and its async twin `aperform` share admission, judgement and finish; they differ only
in how they wait. Nothing in this module reads provider text to decide anything.
"""

from __future__ import annotations

import asyncio
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any, Literal, cast

import attrs

from toolseam._bounds import bound_result
from toolseam._call import Call, Place, Refused, begin
from toolseam._errors import ToolseamError
from toolseam._jsontext import encode, parse
from toolseam._levels import Zone
from toolseam._outcome import busy, cancelled, result_of, rose, timed_out
from toolseam._render import issue, render_bounded
from toolseam._result import ToolError, ToolResult, copy_error, failed
from toolseam._run_only import EMPTY_OBJECT, NO_ARTIFACTS
from toolseam._running import arun, arun_once, guarded, in_task, run, run_later, run_once, work
from toolseam._spec import DAY_S
from toolseam._steps import NO_EFFECT, step
from toolseam._text import bound, has_control, short
from toolseam._waiting import abandon, in_thread, overran
from toolseam._workers import Busy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolseam._approval import Approval
    from toolseam._binding import BoundTool
    from toolseam._conversation import Conversation
    from toolseam._watch import Flights


def perform(
    conversation: Conversation,
    name: str,
    arguments: str | bytes | Mapping[str, Any] | None = None,
    approval: Approval | None = None,
    timeout: float | None = None,
    *,
    wire: bool | Place = False,
) -> Call:
    """Make one call from synchronous code and return its finished attempt; see §5."""
    if timeout is not None:
        _refuse_uncounted(timeout)
    call = begin(conversation, name)
    if wire:
        call.for_wire = wire
    refused = _admit(call, name, arguments)
    if refused is not None:
        return _finish(call, refused)
    if approval is not None:
        call.approval = approval
    tool = cast("BoundTool", call.tool)
    seconds = tool.timeout_s if timeout is None else timeout
    if seconds is None and not tool.is_async:
        try:
            result = (run if tool.requires_approval else run_once)(call, tool)
        except BaseException as error:  # noqa: BLE001 - every outcome becomes a step
            return _failed(call, error)
        return _finish(call, result)
    if tool.is_async:
        _refuse_running_loop(tool)
    return _perform_waiting(call, tool, seconds)


async def aperform(  # noqa: C901, PLR0912 - in one piece: each coroutine more is paid by every call
    conversation: Conversation,
    name: str,
    arguments: str | bytes | Mapping[str, Any] | None = None,
    approval: Approval | None = None,
    timeout: float | None = None,
    *,
    wire: bool | Place = False,
) -> Call:
    """Make one call from an event loop, which never blocks; the same rules as `perform`."""
    if timeout is not None:
        _refuse_uncounted(timeout)
    call = begin(conversation, name)
    if wire:
        call.for_wire = wire
    refused = _admit(call, name, arguments)
    if refused is not None:
        return _finish(call, refused)
    if approval is not None:
        call.approval = approval
    tool = cast("BoundTool", call.tool)
    seconds = tool.timeout_s if timeout is None else timeout
    task = asyncio.current_task()
    cancels = 0 if task is None else task.cancelling()
    flights: Flights | None = None
    try:
        if not tool.is_async:
            result = await _arun_sync(call, tool, seconds)
        elif seconds is not None:
            result = await in_task(call, tool, seconds)
        else:
            state = conversation.state
            if task is not None:
                flights = state.watch.enter(task, state.timeout_s)
            result = await (arun if tool.requires_approval else arun_once)(call, tool)
    except BaseException as error:  # noqa: BLE001 - every outcome becomes a step
        if task is None or flights is None or not flights.leave(task):
            return _failed(call, error, host_cancelled=rose(task, cancels))
        result = _expired(call, error)
    else:
        if task is not None and flights is not None and flights.leave(task):
            result = _expired(call, None)
    if task is not None and task.cancelling() > cancels:
        # The tool swallowed the host's cancellation; the host meant it.
        _finish(call, cancelled(call))
        raise asyncio.CancelledError
    return _finish(call, result)


async def _arun_sync(call: Call, tool: BoundTool, seconds: float | None) -> ToolResult:
    """Run a sync tool beside the loop, or in it if it is `inline`."""
    if (
        tool.spec.inline
        and tool.place == "inline"  # what runs apart is waited for
        and seconds is None
        and not tool.requires_approval
    ):
        return run(call, tool)
    within = call.conversation.state.timeout_s if seconds is None else seconds
    if within <= 0:
        return timed_out(call, within)
    if tool.awaited is not None:
        return await in_task(call, tool.awaited, within)
    call.deadline = monotonic() + within
    result: ToolResult = await in_thread(call, lambda: run_later(call, tool), within)
    return result


def _expired(call: Call, error: BaseException | None) -> ToolResult:
    """Take back the watch's own cancellation of a call that overran the default deadline."""
    call.abandoned = True
    cast("asyncio.Task[Any]", asyncio.current_task()).uncancel()
    if error is not None and not isinstance(error, Exception | asyncio.CancelledError):
        _finish(call, cancelled(call))
        raise error
    return timed_out(call, call.conversation.state.timeout_s)


def admitted_call(
    conversation: Conversation, name: object, arguments: object
) -> tuple[Call, ToolResult | None]:
    """Return a call that was taken as far as its approval, and the refusal that it met."""
    call = begin(conversation, name)
    return call, _admit(call, name, arguments, look=True)


def answer(
    conversation: Conversation, name: object, arguments: object, result: ToolResult, place: Place
) -> Call:
    """Leave the one step of a call that is answered without being made; it ran no plugin code."""
    call = begin(conversation, name)
    call.for_wire = place
    refused = _admit(call, name, arguments, look=True)
    return _finish(call, result if refused is None else refused)


@attrs.frozen
class Ended:
    """How a call ended that was made before, apart from its result."""

    ran: bool
    effect: str
    reason: str | None = None
    truncated: bool = False
    original_size: int | None = None
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, call: Call) -> Ended:
        """Return how it has ended."""
        facts = call.ran, call.effect, call.reason
        return cls(*facts, call.truncated, call.original_size, call.notes)


def replayed(
    conversation: Conversation,
    name: object,
    arguments: object,
    result: ToolResult,
    place: Place,
    ended: Ended,
) -> Call:
    """Leave the step of a call that was made before, as it ended then; no plugin code runs.

    The gate is not asked again: what happened has happened, also where the tool is gone by now.
    """
    call = begin(conversation, name)
    call.for_wire = place
    _admit(call, name, arguments, look=True)
    call.ran, call.effect, call.reason = ended.ran, ended.effect, ended.reason
    call.truncated, call.original_size = ended.truncated, ended.original_size
    call.notes = tuple(ended.notes)
    if call.arguments is None and ended.effect == "unknown":
        call.arguments = _as_asked(arguments)  # which people have to see
    return _finish(call, result)


def _as_asked(arguments: object) -> bytes | None:
    """Return arguments that no tool has read, None where they are no object."""
    try:
        given = parse(arguments) if isinstance(arguments, str) else arguments
        return encode(cast("object", given)) if isinstance(given, dict) else None
    except ToolseamError:
        return None


def _admit(call: Call, name: object, arguments: object, *, look: bool = False) -> ToolResult | None:
    """Take the steps that run no plugin code, in the order of §5; a result is a refusal."""
    conversation = call.conversation
    known = conversation.admitted.get(name) if type(name) is str else None
    if known is not None and known[1] == conversation.state.epoch:
        tool = known[0]
    else:
        given, refused = conversation.admit(name, look=look)
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


def _perform_waiting(call: Call, tool: BoundTool, seconds: float | None) -> Call:
    """Run a call that has a deadline, or an async tool, from synchronous code."""
    if seconds is None:
        return _perform_here(call, tool)
    if seconds <= 0:
        return _finish(call, timed_out(call, seconds))
    call.deadline = monotonic() + seconds
    try:
        job = call.conversation.state.workers.submit(lambda: work(call, tool, seconds))
    except Busy:
        return _finish(call, busy())
    try:
        done = job.wait(seconds)
    except BaseException as error:  # noqa: BLE001 - Ctrl-C while waiting: recorded, re-raised
        abandon(call, job)
        return _failed(call, error)
    if not done:
        return _finish(call, overran(call, job, seconds))
    if job.error is not None:
        return _failed(call, job.error)
    return _finish(call, job.value)


def _perform_here(call: Call, tool: BoundTool) -> Call:
    """Run an async tool to its end in a loop of its own; nothing but its value leaves the task."""

    async def whole() -> tuple[Any, BaseException | None]:
        outcome = await guarded(call, tool)
        if rose(asyncio.current_task(), 0):
            raise asyncio.CancelledError  # Ctrl-C, though the tool swallowed it
        return outcome

    try:
        result, error = asyncio.run(whole())
    except BaseException as error:  # noqa: BLE001 - Ctrl-C ends the loop: recorded, re-raised
        return _failed(call, error)
    return _finish(call, result) if error is None else _failed(call, error)


def _refuse_uncounted(timeout: object) -> None:
    """Refuse what no clock can wait for: later it would look like a fault of the tool."""
    if not isinstance(timeout, int | float) or not timeout < DAY_S:  # NaN is never less
        raise ValueError("timeout: expected seconds, below 86,400; None is no deadline")


def _refuse_running_loop(tool: BoundTool) -> None:
    """Anything else would block the loop that the tool needs (decisions, P35)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    message = f"{tool.name} is async and an event loop is running here: await acall() instead"
    raise RuntimeError(message)


def _failed(call: Call, error: BaseException, *, host_cancelled: bool = False) -> Call:
    """Turn what a call raised into its one step; re-raise what is not the tool's to keep."""
    if isinstance(error, Refused):
        return _finish(call, error.result)
    if host_cancelled:
        _finish(call, cancelled(call))
        raise error if isinstance(error, asyncio.CancelledError) else asyncio.CancelledError
    if not isinstance(error, Exception | SystemExit | asyncio.CancelledError):
        _finish(call, cancelled(call))
        raise error
    return _finish(call, result_of(call, error))


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
    ) and not (call.truncated or call.notes):  # as what was made before and bounded then
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
        call.wire, call.masked = _wire(conversation, result, call.for_wire)
    call.value = None  # the trace keeps the text that was recorded, and no second copy
    call.ended = perf_counter_ns()
    trace = conversation.trace
    trace.calls.append(call)
    if trace.listeners.told:
        made = step(call)
        if call.for_wire:
            call.step = made
        trace.listeners.tell(made)
    return call


def _wire(
    conversation: Conversation, result: ToolResult, place: Place | Literal[True]
) -> tuple[Any, int]:
    """Issue the provider's text: rendered, and masked for every zone but `local` (§6)."""
    text = render_bounded(result)
    if place is not True and place.note:
        text = bound(f"{place.note}\n{text}", conversation.state.limits.content_bytes)[0]
    if conversation.zone is Zone.LOCAL:
        return issue(text), 0
    from toolseam.guards import mask_secrets

    text, masked = mask_secrets(text)
    # A mask may be longer than what it hides; the content itself was bounded before.
    if text is not result.content:
        text = bound(text, conversation.state.limits.content_bytes)[0]
    return issue(text), masked
