"""Preview and consent: a write runs only for an approval of exactly this call (§5)."""

from __future__ import annotations

import uuid
from asyncio import CancelledError
from typing import TYPE_CHECKING, cast

from toolseam._approval import Approval, Preview, digest, preview_lines
from toolseam._body import Lost, NotStarted, Raised
from toolseam._call import Refused, context_of, given_to
from toolseam._errors import ErrorCode
from toolseam._jsontext import decode
from toolseam._judgement import as_broken, fault_of
from toolseam._result import ToolError, refusal
from toolseam._text import short

if TYPE_CHECKING:
    from toolseam._binding import BoundTool
    from toolseam._call import Call
    from toolseam._context import Actor
    from toolseam._conversation import Conversation
    from toolseam._result import ToolResult
    from toolseam._state import HostState

_OWN = ":"
"""Between the run of the host's own code and the one call that a preview is of."""
_BROKE = "(the preview broke the contract: {}: {})"


def preview(
    call: Call,
    *,
    run_id: str | None = None,
    position: int = 0,
    round_number: int = 0,
    again: bool = False,
) -> Preview:
    """Return what an approver sees of an admitted call, made under the owner's identity.

    Looked at `again`, a preview that was lost or came too late is no other preview: it raises.
    """
    tool, arguments = cast("BoundTool", call.tool), cast("bytes", call.arguments)
    run = run_id or _run_of(call)
    failed, text = _said(call, tool, again=again)
    lines, cut = preview_lines(text)
    owner = call.conversation.actor
    made_of = digest(
        tool,
        arguments,
        lines,
        run_id=run,
        owner=owner,
        round_number=round_number,
        position=position,
    )
    return Preview(
        tool.name,
        decode(arguments),
        lines,
        failed,
        cut,
        run,
        position,
        made_of,
        round_number,
        None if owner is None else owner.name,
    )


def _run_of(call: Call) -> str:
    """Return the run that an approval is for; each call of the host's own code is one."""
    run = call.conversation.run_id
    return f"{run}{_OWN}{uuid.uuid4().hex}" if call.conversation.own else run


def _said(call: Call, tool: BoundTool, *, again: bool) -> tuple[bool, str]:
    """Ask the tool what it would do; return whether that failed, and the text."""
    if tool.preview is None:
        return True, f"({tool.name} offers no preview)"
    try:
        made = tool.preview(arguments=given_to(call, tool), context=context_of(call, tool))
    except Refused as refused:
        return True, f"(the arguments are refused: {refused.result.content})"
    except (Exception, SystemExit, CancelledError) as error:  # no loop cancels a sync hook
        if again and isinstance(error, Lost | NotStarted | TimeoutError):
            raise
        return True, _why(error)
    finally:
        # The preview had its arguments; what runs gets a copy that nobody has held.
        call.value = decode(cast("bytes", call.arguments))
    fault = fault_of(made)
    if fault is not None:
        return True, _BROKE.format(*fault)
    result = cast("ToolResult", made)
    return (False, result.content) if result.failure is None else (True, _why(result.failure))


def _why(error: BaseException) -> str:
    """Say how a preview failed, in the same words wherever it was made."""
    broken = as_broken(error)
    if broken is not None:
        return _BROKE.format(broken.path, broken.reason)
    if isinstance(error, ToolError):
        return f"(the preview is refused: {error.code.value}: {error.message})"
    if isinstance(error, Lost | NotStarted):
        return f"(the preview could not be made where it runs: {error.reason})"
    kind = error.kind if isinstance(error, Raised) else short(type(error).__name__)
    return f"(the preview raised {kind})"


def approve(state: HostState, shown: Preview, actor: Actor) -> Approval:
    """Return a person's approval of a call, if that person may give it.

    A call of the host's own code, of which each is a run, is that code's to answer for.
    """
    if state.four_eyes and actor.name == shown.owner and _OWN not in shown.run_id:
        raise ToolError("Somebody else has to approve (four_eyes).", ErrorCode.PERMISSION_DENIED)
    if not state.policy.may_approve(state.registry.get(shown.tool), actor):
        message = f"{actor.name} may not approve {shown.tool}."
        raise ToolError(message, ErrorCode.PERMISSION_DENIED)
    return Approval(shown.digest, actor, shown.run_id, shown.position, shown.round)


def is_of(run_id: str, conversation: Conversation) -> bool:
    """Tell whether a preview or an approval belongs to this conversation."""
    return run_id.partition(_OWN)[0] == conversation.run_id


def consent(call: Call) -> ToolResult | None:
    """Return a refusal unless the approval is for exactly this call; use it up."""
    tool, approval = cast("BoundTool", call.tool), call.approval
    if type(approval) is not Approval:
        message = (
            f"{tool.name} needs a person's approval, and none was given; a person can make this"
            f" call on a terminal, with `toolseam run {tool.name}`."
        )
        return refusal(ErrorCode.APPROVAL_DENIED, message)
    conversation = call.conversation
    if not is_of(approval.run_id, conversation):
        return _conflict("The approval was given in another run.", "other_run")
    again = preview(
        call,
        run_id=approval.run_id,
        position=approval.position,
        round_number=approval.round,
        again=True,
    )
    if again.digest != approval.digest:
        return _conflict("This is not the call that was approved; ask again.", "changed")
    if not conversation.state.approvals.take(approval):
        return _conflict("The approval has been used.", "used")
    return None


def _conflict(message: str, reason: str) -> ToolResult:
    return refusal(ErrorCode.CONFLICT, message, reason=reason)
