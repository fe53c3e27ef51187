"""Preview and consent: a write runs only for an approval of exactly this call (§5)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, cast

from toolseam._approval import Approval, Preview, digest, preview_lines
from toolseam._call import context_of, given_to
from toolseam._errors import ErrorCode
from toolseam._jsontext import decode
from toolseam._result import ToolResult, refusal
from toolseam._text import short

if TYPE_CHECKING:
    from toolseam._binding import BoundTool
    from toolseam._call import Call


def preview(call: Call, *, run_id: str | None = None, position: int = 0) -> Preview:
    """Return what an approver sees of an admitted call, made under the owner's identity."""
    tool, arguments = cast("BoundTool", call.tool), cast("bytes", call.arguments)
    run = run_id or (uuid.uuid4().hex if call.conversation.own else call.conversation.run_id)
    failed, text = True, f"({tool.name} offers no preview)"
    if tool.preview is not None:
        try:
            made = tool.preview(arguments=given_to(call, tool), context=context_of(call, tool))
        except Exception as error:  # noqa: BLE001 - a failing preview says so
            text = f"(the preview raised {short(type(error).__name__)})"
        else:
            failed, text = _said(made)
    lines, cut = preview_lines(text)
    made_of = digest(
        tool, arguments, lines, run_id=run, owner=call.conversation.actor, position=position
    )
    shown = decode(arguments)
    return Preview(tool.name, shown, lines, failed, cut, run, position, made_of)


def _said(made: object) -> tuple[bool, str]:
    if type(made) is not ToolResult:
        return True, f"(the preview gave {short(type(made).__name__)}, expected ToolResult)"
    if made.failure is not None:
        return True, f"(the preview failed: {made.failure.code.value})"
    return False, made.content


def consent(call: Call, approval: Approval | None) -> ToolResult | None:
    """Return a refusal unless `approval` is for exactly this call; use it up."""
    tool = cast("BoundTool", call.tool)
    if type(approval) is not Approval:
        message = f"{tool.name} needs a person's approval, and none was given."
        return refusal(ErrorCode.APPROVAL_DENIED, message)
    conversation = call.conversation
    if not conversation.own and approval.run_id != conversation.run_id:
        return _conflict("The approval was given in another run.", "other_run")
    again = preview(call, run_id=approval.run_id, position=approval.position)
    if again.digest != approval.digest:
        return _conflict("This is not the call that was approved; ask again.", "changed")
    if not conversation.state.approvals.take(approval):
        return _conflict("The approval has been used.", "used")
    return None


def _conflict(message: str, reason: str) -> ToolResult:
    return refusal(ErrorCode.CONFLICT, message, reason=reason)
