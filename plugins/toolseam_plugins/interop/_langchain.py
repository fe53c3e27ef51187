"""LangChain: a `BaseTool` whose message has status and code, and writes that interrupt a graph."""

from __future__ import annotations

import asyncio
import contextlib
import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import attrs
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from toolseam_plugins.interop._offers import Answer, Offer, offers, shown_to_people

_runtimes: tuple[type, ...] = ()
with contextlib.suppress(ModuleNotFoundError):
    from langgraph.prebuilt import ToolRuntime

    _runtimes = (ToolRuntime,)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam import Actor, Approval, Session
    from toolseam._approval import Preview


@attrs.frozen
class _Asked:
    """What LangChain does not hand on to `_run` of a tool with a plain schema."""

    call_id: str | None
    text: str | None


_TURN = "seam_turn"
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_CUT = ("length", "max_tokens", "MAX_TOKENS", "model_length", "incomplete")
"""Where the makers say why a turn ended, and how they say that it was cut."""

_ASKED: ContextVar[_Asked] = ContextVar("toolseam_call")
_NOBODY = _Asked(None, None)


def tools(session: Session, approver: Actor | None) -> list[BaseTool]:
    """Return the session's tools as LangChain's."""
    return [_made(offer, approver) for offer in offers(session)]


def _made(offer: Offer, approver: Actor | None) -> BaseTool:
    made = SeamTool(name=offer.name, description=offer.description, args_schema=offer.parameters)
    made._offer = offer  # noqa: SLF001 - pydantic's constructor takes no private member
    made._approver = approver  # noqa: SLF001
    return made


class SeamTool(BaseTool):
    """A tool behind the seam; the same in a chain, a graph and an agent."""

    _offer: Offer = PrivateAttr()
    _approver: Actor | None = PrivateAttr(default=None)
    _shown: dict[str, dict[str, Preview]] = PrivateAttr(default_factory=dict)

    def func(self, seam_turn: ToolRuntime[Any, Any]) -> None:
        """Ask LangGraph for the turn that a call is of: it reads this signature of a tool."""

    def run(self, tool_input: str | dict[str, Any], *given: Any, **more: Any) -> Any:  # noqa: ANN401
        """Run the tool; a text is the model's own JSON, to be judged by the seam."""
        readable, asked = _asked(tool_input, more)
        token = _ASKED.set(asked)
        try:
            return super().run(readable, *given, **more)
        finally:
            _ASKED.reset(token)

    async def arun(self, tool_input: str | dict[str, Any], *given: Any, **more: Any) -> Any:  # noqa: ANN401
        """Await the tool; else like `run`."""
        readable, asked = _asked(tool_input, more)
        token = _ASKED.set(asked)
        try:
            return await super().arun(readable, *given, **more)
        finally:
            _ASKED.reset(token)

    def _run(self, /, **arguments: Any) -> ToolMessage | str:  # noqa: ANN401
        asked = _ASKED.get(_NOBODY)
        given = arguments if asked.text is None else asked.text
        preview = self._offer.preview(given) if self._waits() else None
        said = self._decided(preview, asked)
        return self._told(
            said if isinstance(said, Answer) else self._offer.call(given, said), asked
        )

    async def _arun(self, /, **arguments: Any) -> ToolMessage | str:  # noqa: ANN401
        asked = _ASKED.get(_NOBODY)
        given = arguments if asked.text is None else asked.text
        # In a thread, as the tool itself: what it would do may take a look at a database.
        preview = await asyncio.to_thread(self._offer.preview, given) if self._waits() else None
        said = self._decided(preview, asked)
        told = said if isinstance(said, Answer) else await self._offer.acall(given, said)
        return self._told(told, asked)

    def _told(self, answer: Answer, asked: _Asked) -> ToolMessage | str:
        if asked.call_id is None:
            return answer.text
        return ToolMessage(
            answer.text,
            name=self.name,
            tool_call_id=asked.call_id,
            status="success" if answer.code is None else "error",
            artifact=answer.off_wire,
        )

    def _waits(self) -> bool:
        """Tell whether a person has to be asked, and the graph that runs this can wait for him."""
        return self._approver is not None and self._offer.needs_approval and _can_wait()

    def _decided(self, preview: Preview | None, asked: _Asked) -> Approval | Answer | None:
        """Show a call to a person, and return the approval of what he says that he has seen.

        If he refuses it with a reason, that is the answer.
        """
        if preview is None:
            return None
        from langgraph.types import interrupt

        # A graph that goes on runs the whole node again, which makes another preview.
        call_id = asked.call_id or ""
        self._shown.setdefault(call_id, {})[preview.digest] = preview
        said = interrupt(shown_to_people(preview))
        shown = self._shown.pop(call_id, {})
        reason = _denied(said)
        if reason is not None:
            return self._offer.denied(preview, reason)
        return self._offer.approval(shown.get(_approved(said)), self._approver)


def _approved(said: object) -> str:
    """Return the digest that a person's answer approves, or what is no digest."""
    digest = cast("dict[str, object]", said).get("approve") if isinstance(said, dict) else None
    return digest if isinstance(digest, str) else ""


def _denied(said: object) -> str | None:
    """Return the reason with which a person's answer refuses a call, None if it gives none."""
    reason = cast("dict[str, object]", said).get("deny") if isinstance(said, dict) else None
    return reason if isinstance(reason, str) else None


def _asked(
    tool_input: str | dict[str, Any], more: Mapping[str, Any]
) -> tuple[dict[str, Any], _Asked]:
    """Return what LangChain may read of a call, and what the seam is to judge."""
    call_id = more.get("tool_call_id")
    if isinstance(tool_input, str):
        # LangChain raises where a text meets a plain schema.
        return {}, _Asked(call_id, tool_input)
    arguments = dict(tool_input)
    if not isinstance(arguments.get(_TURN), _runtimes) or not _was_cut(arguments.pop(_TURN)):
        return arguments, _Asked(call_id, None)
    # Of a stream that was cut LangChain mends the arguments: they go on as they came, cut.
    return arguments, _Asked(call_id, json.dumps(arguments, default=repr)[:-1])


def _was_cut(turn: ToolRuntime[Any, Any]) -> bool:
    """Tell whether the model's turn ended because it was too long."""
    state: object = turn.state
    newest = _last(state) or _last(_member(state, "messages"))
    told = _member(newest, "response_metadata")
    return any(_member(told, where) in _CUT for where in _REASONS)


def _last(held: object) -> object:
    """Return the last of a list, or None where there is none."""
    return cast("list[object]", held)[-1] if isinstance(held, list) and held else None


def _member(holder: object, name: str) -> Any:  # noqa: ANN401
    """Return what a state or a message holds under a name, as key or as attribute."""
    if isinstance(holder, dict):
        return cast("dict[str, Any]", holder).get(name)
    return getattr(holder, name, None)


def _can_wait() -> bool:
    """Tell whether this runs in a graph that keeps its state while people think."""
    try:
        from langgraph.config import get_config
    except ModuleNotFoundError:
        return False
    try:
        place = get_config().get("configurable", {})
    except RuntimeError:
        return False
    return place.get("__pregel_checkpointer") is not None
