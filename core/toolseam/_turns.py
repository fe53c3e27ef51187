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
from toolseam._journal import answered
from toolseam._jsontext import decode
from toolseam._messages import ToolCall, ToolMessage
from toolseam._result import ToolError, refusal
from toolseam._runs import Decision, PendingCall
from toolseam._seam import admitted_call, answer, aperform
from toolseam._steps import step
from toolseam._text import short

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from toolseam._binding import BoundTool
    from toolseam._call import Call
    from toolseam._result import ToolResult
    from toolseam._run_state import RunState

EDITED = "(A person changed the arguments of this call before it was made.)"
REPEATS = 3
"""How often in a row the same call is made; the third time it is answered with a note."""


def scan(run: RunState, turn: tuple[ToolCall, ...]) -> tuple[PendingCall, ...]:
    """Look at every call of a turn before any of them runs."""
    repeated = _repeated(run, turn)[0]
    return tuple(
        pending(run, position, call, repeated=position in repeated)
        for position, call in enumerate(turn)
    )


def pending(
    run: RunState, position: int, asked: ToolCall, *, repeated: bool = False
) -> PendingCall:
    """Return what people see of one call, with its preview if it needs approval.

    Nobody is asked about a call that will be refused whatever is decided.
    """
    call, refused = _judged(run, asked, repeated=repeated)
    name = call.tool.name if call.tool is not None else short(asked.name)
    if refused is not None:
        code = None if refused.failure is None else refused.failure.code.value
        return PendingCall(position, asked.id, name, {}, needs_approval=False, refused=code)
    tool = cast("BoundTool", call.tool)
    if not tool.requires_approval:
        shown = decode(cast("bytes", call.arguments))
        return PendingCall(position, asked.id, name, shown, needs_approval=False)
    call.for_wire = Place(run.round, position)
    seen = preview_of(call, run_id=run.id, position=position, round_number=run.round)
    return _told(asked, seen)


def refusal_text(run: RunState, asked: ToolCall) -> str:
    """Return what a model would read of the refusal of a call, "" if there is none."""
    _, refused = _judged(run, asked)
    return "" if refused is None or refused.failure is None else refused.failure.message


def _judged(
    run: RunState, asked: ToolCall, *, repeated: bool = False
) -> tuple[Call, ToolResult | None]:
    call, refused = admitted_call(run.conversation, asked.name, asked.arguments)
    return call, _refused(run, call.tool, repeated=repeated) if refused is None else refused


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

    After a call that holds the run none is made, and none is answered.

    Args:
        run: the run.
        turn: the calls, in the model's order.
        decided: what people said, by position.
    """
    repeated, run.last, run.repeats = _repeated(run, turn)
    answers = [
        _answer(run, position, call, decided.get(position), repeated=position in repeated)
        for position, call in enumerate(turn)
    ]
    # A journal is asked in the same order each time.
    at_once = len(turn) > 1 and run.journal is None
    if at_once and all(_is_parallel_safe(run, call) for call in turn):
        return list(await asyncio.gather(*answers))
    messages: list[ToolMessage] = []
    try:
        for each in answers:
            messages.append(await each)
            if run.held:
                # Whoever goes on makes the rest; made now, each would be one more to ask about.
                break
        return messages
    finally:
        for each in answers:
            each.close()  # those that were never begun


def _is_parallel_safe(run: RunState, call: ToolCall) -> bool:
    tool = run.conversation.state.registry.get(call.name)
    # The operator may hold a tool to be a write that says of itself that it reads.
    return tool is not None and tool.spec.parallel_safe and not tool.requires_approval


async def _answer(
    run: RunState,
    position: int,
    asked: ToolCall,
    decision: Decision | None,
    *,
    repeated: bool,
) -> ToolMessage:
    place = Place(run.round, position, asked.alias)
    refused = _denied(decision)
    if refused is None:
        tool = run.conversation.state.registry.get(asked.name)
        refused = _refused(run, tool, repeated=repeated)
    if refused is not None:
        return _unmade(run, asked, refused, place)
    arguments: Any = asked.arguments
    approval = None
    if decision is not None and decision.digest is not None:
        approval = Approval(decision.digest, decision.actor, run.id, position, run.round)
        if decision.arguments is not None:
            arguments = decision.arguments
            place = Place(run.round, position, asked.alias, EDITED)
    run.calls += 1

    def make() -> Coroutine[Any, Any, Call]:
        return aperform(run.conversation, asked.name, arguments, approval, wire=place)

    if run.journal is None:
        call = await make()
    else:
        call = await answered(run, run.journal, asked, arguments, place, make)
    if not call.ran:
        run.calls -= 1
    return _message(run, asked, call)


def refuse_turn(run: RunState, turn: tuple[ToolCall, ...]) -> list[ToolMessage]:
    """Answer the calls of a turn that cannot wait for people; none of them runs."""
    message = "People have to approve this turn, and nothing can keep it while they do."
    result = refusal(ErrorCode.APPROVAL_DENIED, message, reason="not_kept")
    return [
        _unmade(run, call, result, Place(run.round, position, call.alias))
        for position, call in enumerate(turn)
    ]


def _unmade(run: RunState, asked: ToolCall, result: ToolResult, place: Place) -> ToolMessage:
    call = answer(run.conversation, asked.name, asked.arguments, result, place)
    return _message(run, asked, call)


def _message(run: RunState, asked: ToolCall, call: Call) -> ToolMessage:
    found = step(call)
    run.steps.append(found)
    run.emit(found)
    return ToolMessage(asked, cast("Any", call.wire), found.status != "ok")


def denied(reason: str) -> ToolResult:
    """Return what a model is told of a call that a person has refused."""
    why = f": {reason}" if reason else ""
    return refusal(ErrorCode.APPROVAL_DENIED, f"A person refused this call{why}.")


def _denied(decision: Decision | None) -> ToolResult | None:
    if decision is None or decision.verdict != "deny":
        return None
    return denied(decision.reason)


def _refused(run: RunState, tool: BoundTool | None, *, repeated: bool) -> ToolResult | None:
    """Return the loop's own answer to a call, or None if it is to be made."""
    if repeated:
        message = (
            "The same call was asked for twice in a row, and answered above; it was not made"
            " again. Use those answers, or ask otherwise."
        )
        return refusal(ErrorCode.CONFLICT, message, reason="repeated")
    if run.budget.calls is not None and run.calls >= run.budget.calls:
        message = f"The run may make {run.budget.calls:,} calls, and has made them; answer now."
        return refusal(ErrorCode.UNAVAILABLE, message, reason="budget")
    return _cut_off() if run.cut_off and tool is not None and not tool.reads else None


def _repeated(run: RunState, turn: tuple[ToolCall, ...]) -> tuple[set[int], str, int]:
    """Return the positions of calls asked for a third time in a row, and how it stands then."""
    last, count = run.last, run.repeats
    found: set[int] = set()
    for position, call in enumerate(turn):
        key = _key(run, call)
        count = count + 1 if key == last else 1
        last = key
        if count >= REPEATS:
            found.add(position)
    return found, last, count


def _key(run: RunState, call: ToolCall) -> str:
    """Return what two calls have in common that are the same one, however they are written."""
    tool = run.conversation.state.registry.get(call.name)
    if tool is None:
        return repr((call.name, call.arguments))
    try:
        return repr((tool.name, tool.read(call.arguments)[0]))
    except ToolError:
        return repr((tool.name, call.arguments))


def _cut_off() -> ToolResult:
    message = "The answer ended in the middle of its calls; nothing that may write was run. Again."
    return refusal(ErrorCode.INVALID_ARGUMENTS, message, reason="cut_off")
