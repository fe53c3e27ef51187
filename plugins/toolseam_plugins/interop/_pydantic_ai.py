"""pydantic-ai: `Tool.from_schema`, failures as `ToolFailed`, writes deferred to people."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

from pydantic_ai import ApprovalRequired, RunContext, Tool, ToolFailed

from toolseam import ToolseamError
from toolseam.guards import read_json_object
from toolseam_plugins.interop._offers import offers, shown_to_people

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam import Actor, Approval, Session
    from toolseam._approval import Preview
    from toolseam_plugins.interop._offers import Offer

_AS_WRITTEN = "\0as written"


def tools(session: Session, approver: Actor | None) -> list[Tool[Any]]:
    """Return the session's tools as those of pydantic-ai."""
    shown: dict[str, Preview] = {}
    return [_made(offer, approver, shown) for offer in offers(session)]


def _made(offer: Offer, approver: Actor | None, shown: dict[str, Preview]) -> Tool[Any]:
    async def call(ctx: RunContext[Any], /, **arguments: Any) -> str:  # noqa: ANN401
        given = arguments.get(_AS_WRITTEN, arguments)
        approval = None
        if approver is not None and offer.needs_approval:
            approval = await _approval(offer, given, ctx, approver, shown)
        answer = await offer.acall(given, approval)
        if answer.code is not None:
            raise ToolFailed(answer.text)
        return answer.text

    made: Tool[Any] = Tool.from_schema(
        call, offer.name, offer.description, offer.parameters, takes_ctx=True
    )
    made.function_schema.validator = cast("Any", _AsWritten())
    return made


async def _approval(
    offer: Offer,
    given: str | Mapping[str, Any],
    ctx: RunContext[Any],
    approver: Actor,
    shown: dict[str, Preview],
) -> Approval | None:
    """Return the approval of what a person was shown; a call that nobody was shown is deferred."""
    call_id = ctx.tool_call_id or ""
    seen = shown.pop(call_id, None) if ctx.tool_call_approved else None
    if seen is None:
        # In a thread, as the tool itself: what it would do may take a look at a database.
        preview = await asyncio.to_thread(offer.preview, given)
        if preview is None:
            return None
        shown[call_id] = preview
        raise ApprovalRequired(shown_to_people(preview))
    return offer.approval(seen, approver)


class _AsWritten:
    """Stands where pydantic-ai judges arguments, and leaves the judgement to the seam.

    Its own would ask the model again, at most once, and end the run after that.
    """

    def validate_json(self, input: str | bytes | bytearray, **_: Any) -> dict[str, Any]:  # noqa: A002, ANN401
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        try:
            return read_json_object(text)
        except ToolseamError:
            return {_AS_WRITTEN: text}

    def validate_python(self, input: Any, **_: Any) -> dict[str, Any]:  # noqa: A002, ANN401
        if isinstance(input, dict):
            return cast("dict[str, Any]", input)
        return {_AS_WRITTEN: json.dumps(input)}
