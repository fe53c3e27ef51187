"""FastMCP: a `Tool` of one text block and the error flag; nothing that a host might pass on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastmcp.tools import Tool, ToolResult
from pydantic import PrivateAttr

from toolseam.providers import Dialect
from toolseam_plugins.interop._offers import Offer, offers

if TYPE_CHECKING:
    from toolseam import Session


def tools(session: Session) -> list[Tool]:
    """Return the session's tools as those of FastMCP."""
    return [_made(offer) for offer in offers(session, Dialect.MCP)]


def _made(offer: Offer) -> Tool:
    made = SeamTool(name=offer.name, description=offer.description, parameters=offer.parameters)
    made._offer = offer  # noqa: SLF001 - pydantic's constructor takes no private member
    return made


class SeamTool(Tool):
    """A tool behind the seam."""

    _offer: Offer = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Await the tool; a failure is flagged, never raised."""
        answer = await self._offer.acall(arguments)
        return ToolResult(answer.text, is_error=answer.code is not None)
