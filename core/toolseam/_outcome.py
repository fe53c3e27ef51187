"""What a call comes to when its tool gives no result (contract §5)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from toolseam._call import Call, Refused
from toolseam._conversation import WITHDRAWN
from toolseam._errors import ErrorCode, SettingsError
from toolseam._judgement import Broken, as_broken
from toolseam._result import ToolError, ToolResult, copy_error, failed, refusal
from toolseam._text import short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from toolseam._binding import BoundTool

_LOGGED = 20_000


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
    _log(tool, error)
    kind = short(type(error).__name__)
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


def _log(tool: BoundTool, error: BaseException) -> None:
    """Write what a tool raised to the host's log only: redacted, one record one line."""
    import traceback

    from toolseam.guards import mask_secrets

    # Twice what is kept is masked: a secret that the first cut beheads is not in the second.
    lines = "".join(traceback.format_exception(error))[-2 * _LOGGED :]
    text, _ = mask_secrets(lines)
    line = text.encode("unicode_escape").decode("ascii")[-_LOGGED:]
    LOGGER.error("%s raised %s", tool.name, line)
