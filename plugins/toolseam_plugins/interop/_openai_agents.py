"""OpenAI's Agents SDK: `FunctionTool` with the raw text, writes that interrupt the run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from toolseam_plugins.interop._offers import offers

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from agents import RunContextWrapper
    from agents.tool_context import ToolContext

    from toolseam import Actor, Session
    from toolseam._approval import Preview
    from toolseam_plugins.interop._offers import Offer


def tools(
    session: Session, approver: Actor | None, waiting: MutableMapping[str, Preview] | None
) -> list[FunctionTool]:
    """Return the session's tools as function tools."""
    shown: MutableMapping[str, Preview] = {} if waiting is None else waiting
    return [_made(offer, approver, shown) for offer in offers(session)]


def _made(
    offer: Offer, approver: Actor | None, shown: MutableMapping[str, Preview]
) -> FunctionTool:
    async def invoke(context: ToolContext[Any], text: str) -> str:
        approval = None
        if asks and context.is_tool_approved(offer.name, context.tool_call_id):
            approval = offer.approval(shown.pop(context.tool_call_id, None), approver)
        return (await offer.acall(text, approval)).text

    async def must_wait(_: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        """Show the call to a person, unless the seam refuses it anyway."""
        preview = await asyncio.to_thread(offer.preview, arguments)
        if preview is None:
            return False
        seen = shown.get(call_id)
        # Asked again while it waits: what the person has seen stays what he approves.
        if seen is None or (seen.tool, seen.arguments) != (preview.tool, preview.arguments):
            shown[call_id] = preview
        return True

    asks = approver is not None and offer.needs_approval
    return FunctionTool(
        name=offer.name,
        description=offer.description,
        params_json_schema=offer.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,
        needs_approval=must_wait if asks else False,
    )
