"""One turn of a model: which of its calls wait for people, and how each is answered.

Every call is answered, in the model's order, by what the seam issued: executed, refused, denied.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from toolseam._approval import Approval, Preview
from toolseam._call import Place
from toolseam._consent import preview as preview_of
from toolseam._errors import ErrorCode
from toolseam._jsontext import decode
from toolseam._messages import ToolCall, ToolMessage
from toolseam._result import refusal
from toolseam._runs import Decision, PendingCall
from toolseam._seam import admitted_call, answer, aperform
from toolseam._steps import step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam._binding import BoundTool
    from toolseam._call import Call
    from toolseam._result import ToolResult
    from toolseam._run_state import RunState

EDITED = "(A person changed the arguments of this call before it was made.)"
REPEATS = 3
"""How often in a row the same call is made; the third time it is answered with a note."""


def scan(run: RunState, turn: tuple[ToolCall, ...]) -> tuple[PendingCall, ...]:
    """Look at every call of a turn before any of them runs."""
    return tuple(pending(run, position, call) for position, call in enumerate(turn))


def pending(run: RunState, position: int, asked: ToolCall) -> PendingCall:
    """Return what people see of one call, with its preview if it needs approval."""
    conversation = run.conversation
    call, refused = admitted_call(conversation, asked.name, asked.arguments)
    name = call.tool.name if call.tool is not None else str(asked.name)[:64]
    if refused is None and _is_cut_off(run, call):
        refused = _cut_off()
    if refused is not None:
        code = None if refused.failure is None else refused.failure.code.value
        return PendingCall(position, asked.id, name, {}, needs_approval=False, refused=code)
    tool = cast("BoundTool", call.tool)
    if not tool.requires_approval:
        shown = decode(cast("bytes", call.arguments))
        return PendingCall(position, asked.id, name, shown, needs_approval=False)
    seen = preview_of(call, run_id=run.id, position=position, round_number=run.round)
    return _told(asked, seen)


def _told(asked: ToolCall, seen: Preview) -> PendingCall:
    return PendingCall(
        seen.position,
        asked.id,
        seen.tool,
        seen.arguments,
        needs_approval=True,
        lines=seen.lines,
        failed=seen.failed,
        cut=seen.cut,
        digest=seen.digest,
    )


async def answer_turn(
    run: RunState, turn: tuple[ToolCall, ...], decided: Mapping[int, Decision]
) -> list[ToolMessage]:
    """Answer every call; those that are all `parallel_safe` run at once.

    Args:
        run: the run.
        turn: the calls, in the model's order.
        decided: what people said, by position.
    """
    tools = [run.conversation.state.registry.get(call.name) for call in turn]
    together = len(turn) > 1 and all(tool is not None and tool.spec.parallel_safe for tool in tools)
    if not together:
        return [
            await _answer(run, position, call, decided.get(position))
            for position, call in enumerate(turn)
        ]
    answers = [_answer(run, position, call, None) for position, call in enumerate(turn)]
    return list(await asyncio.gather(*answers))


async def _answer(
    run: RunState, position: int, asked: ToolCall, decision: Decision | None
) -> ToolMessage:
    edited = decision is not None and decision.verdict == "edit"
    place = Place(run.round, position, asked.alias, EDITED if edited else "")
    arguments: Any = asked.arguments
    refused = _refused(run, asked, decision)
    if refused is not None:
        call = answer(run.conversation, asked.name, arguments, refused, place)
        return _message(run, asked, call)
    approval = None
    if decision is not None and decision.digest is not None:
        approval = Approval(decision.digest, decision.actor, run.id, position, run.round)
        arguments = asked.arguments if decision.arguments is None else decision.arguments
    run.calls += 1
    call = await aperform(run.conversation, asked.name, arguments, approval, wire=place)
    return _message(run, asked, call)


def _message(run: RunState, asked: ToolCall, call: Call) -> ToolMessage:
    found = step(call)
    run.steps.append(found)
    run.emit(found)
    return ToolMessage(asked, cast("Any", call.wire), found.status != "ok")


def _refused(run: RunState, asked: ToolCall, decision: Decision | None) -> ToolResult | None:
    """Return the loop's own answer to a call, or None if it is to be made."""
    if decision is not None and decision.verdict == "deny":
        reason = f": {decision.reason}" if decision.reason else ""
        return refusal(ErrorCode.APPROVAL_DENIED, f"A person refused this call{reason}.")
    if run.budget.calls is not None and run.calls >= run.budget.calls:
        message = f"The run may make {run.budget.calls:,} calls, and has made them; answer now."
        return refusal(ErrorCode.UNAVAILABLE, message, reason="budget")
    tool = run.conversation.state.registry.get(asked.name)
    if run.cut_off and tool is not None and not tool.reads:
        return _cut_off()
    return _repeated(run, asked)


def _repeated(run: RunState, asked: ToolCall) -> ToolResult | None:
    """Count the same call in a row; the third is answered with a note instead."""
    key = repr((asked.name, asked.arguments))
    run.repeats = run.repeats + 1 if key == run.last else 1
    run.last = key
    if run.repeats < REPEATS:
        return None
    message = (
        "This call was made with the same arguments twice in a row, and answered above;"
        " it was not made again. Use those answers, or ask otherwise."
    )
    return refusal(ErrorCode.CONFLICT, message, reason="repeated")


def _is_cut_off(run: RunState, call: Call) -> bool:
    tool = call.tool
    return run.cut_off and tool is not None and not tool.reads


def _cut_off() -> ToolResult:
    message = "The answer ended in the middle of its calls; nothing that may write was run. Again."
    return refusal(ErrorCode.INVALID_ARGUMENTS, message, reason="cut_off")
