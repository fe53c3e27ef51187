"""`llm`: a `Tool` that answers with text, since an exception would be put in words by `llm`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm import Tool

from toolseam_plugins.interop._offers import offers

if TYPE_CHECKING:
    from toolseam import Session
    from toolseam_plugins.interop._offers import Offer


def tools(session: Session) -> list[Tool]:
    """Return the session's tools as those of `llm`."""
    return [_made(offer) for offer in offers(session)]


def _made(offer: Offer) -> Tool:
    # Async: `llm` runs it in a loop of its own, or beside the others of an async model.
    async def call(**arguments: Any) -> str:  # noqa: ANN401
        return (await offer.acall(arguments)).text

    return Tool(
        name=offer.name,
        description=offer.description,
        input_schema=offer.parameters,
        implementation=call,
        plugin="toolseam",
    )
