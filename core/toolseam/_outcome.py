"""What a call comes to when its tool gives no result (contract §5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from toolseam._body import Lost, NotStarted, Raised, line_of
from toolseam._call import Call, Refused
from toolseam._conversation import WITHDRAWN
from toolseam._errors import ErrorCode, SettingsError
from toolseam._judgement import Broken, as_broken
from toolseam._result import ToolError, ToolResult, copy_error, failed, refusal
from toolseam._text import short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from toolseam._binding import BoundTool

_KILLED = ("worker_died", "closed")
"""Reasons of what was ended under a tool, and by no doing of its own."""
_PASSES = ("worker_died", "worker_start", "executor", "closed", "cancelled")
"""Reasons of what did not begin and may begin the next time; any other is the operator's."""
_DETAIL = 1_000


def result_of(call: Call, error: BaseException) -> ToolResult:
    """Return the result that stands for what a tool raised; nothing of its text is told."""
    tool = cast("BoundTool", call.tool)
    broken = as_broken(error)
    if broken is not None:
        return breach(call, tool, broken)
    if isinstance(error, ToolError):
        return failed(copy_error(error))
    if isinstance(error, SettingsError):
        return _unsettled(tool)
    if isinstance(error, TimeoutError):
        return refusal(ErrorCode.TIMEOUT, f"{tool.name} timed out.")
    if isinstance(error, asyncio.CancelledError):
        return cancelled(call)
    if isinstance(error, NotStarted):
        return _not_started(tool, error)
    if isinstance(error, Lost):
        return _lost(call, tool, error)
    if isinstance(error, Raised):
        kind, line = error.kind, error.line
    else:
        kind, line = short(type(error).__name__), line_of(error)
    # To the host's log only: redacted, one record one line.
    LOGGER.error("%s raised %s", tool.name, line)
    return refusal(ErrorCode.EXECUTION_ERROR, f"{tool.name} raised {kind}.")


def breach(call: Call, tool: BoundTool, broken: Broken) -> ToolResult:
    """The tool or a wrapper broke the contract: never run again, and only the facts are told."""
    call.reason = f"{broken.path}: {broken.reason}"
    record(call, tool, broken)
    if broken.wrapper is None:
        return refusal(ErrorCode.CONTRACT_ERROR, f"{tool.name} {WITHDRAWN}")
    ran = "has run once" if call.ran else "was not run"
    message = f"{tool.name} {ran}; a wrapper broke the result contract and is left out from now on"
    return refusal(ErrorCode.CONTRACT_ERROR, message, reason="wrapper")


def record(call: Call, tool: BoundTool, broken: Broken) -> None:
    """Withdraw what broke the contract, before anybody else has a turn."""
    if broken.recorded:
        return
    broken.recorded = True
    if broken.wrapper is None:
        call.conversation.withdraw(tool)
    call.conversation.state.record(tool, broken)


def cancelled(call: Call) -> ToolResult:
    tool = cast("BoundTool", call.tool)
    return refusal(ErrorCode.CANCELLED, f"{tool.name} was stopped.")


def timed_out(call: Call, seconds: float) -> ToolResult:
    tool = cast("BoundTool", call.tool)
    message = f"{tool.name} did not answer within {seconds:g} s."
    if call.ran and not tool.reads:
        message += " The change may still apply."
    return refusal(ErrorCode.TIMEOUT, message)


def busy() -> ToolResult:
    message = "Too many calls are at work and waiting; try again later."
    return refusal(ErrorCode.UNAVAILABLE, message, retriable=True, reason="busy")


def given_up(tool: BoundTool) -> Refused:
    """Whoever gives a call up sets `abandoned`, then reads `ran`; here it is the other way round.

    So a tool never begins after its caller was told that it had not.
    """
    return Refused(refusal(ErrorCode.CANCELLED, f"{tool.name} was not run: nobody waited."))


def _unsettled(tool: BoundTool) -> ToolResult:
    message = f"The settings of {tool.name} are not valid; `toolseam doctor` says why."
    return refusal(ErrorCode.UNAVAILABLE, message, reason="settings")


def rose(task: asyncio.Task[Any] | None, before: int) -> bool:
    return task is not None and task.cancelling() > before


def _lost(call: Call, tool: BoundTool, lost: Lost) -> ToolResult:
    """Nobody knows what a body did that was lost; a read changed nothing, whatever it did."""
    message = f"{tool.name} was lost where it ran ({lost.reason})."
    told = _told(tool, "was lost where it ran", lost)
    if lost.reason in _KILLED and (tool.reads or not call.ran):
        return refusal(ErrorCode.UNAVAILABLE, message, **told)
    if call.ran and not tool.reads:
        message += " The change may still apply."
    return refusal(ErrorCode.EXECUTION_ERROR, message, **told)


def _not_started(tool: BoundTool, error: NotStarted) -> ToolResult:
    """Say to the model whether it is worth another try; why, is for whoever set it up."""
    told = _told(tool, "could not be started where it runs", error)
    if error.reason == "too_large":
        message = f"The arguments of {tool.name} are too large for where it runs."
    elif error.reason in _PASSES:
        message = f"{tool.name} could not be started where it runs ({error.reason})."
    else:
        message = (
            f"{tool.name} cannot run as it is set up here ({error.reason}): another call of it"
            " changes nothing."
        )
    return refusal(ErrorCode.UNAVAILABLE, message, **told)


def _told(tool: BoundTool, what: str, error: Lost | NotStarted) -> dict[str, Any]:
    """Return what only a run keeps of it, and say it in the log: it names paths and settings."""
    from toolseam.guards import mask_secrets  # a listing does without

    if not error.detail:
        return {"reason": error.reason}
    # It may end in what an interpreter or bubblewrap printed as it did not start.
    detail, _ = mask_secrets(error.detail)
    LOGGER.warning("%s %s (%s): %s", tool.name, what, error.reason, short(detail, _DETAIL))
    return {"reason": error.reason, "detail": detail}
