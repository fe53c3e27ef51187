"""The tools of a session in the hands of other frameworks, one line each.

`to_langchain(session)` and its kin return the framework's own tools. What they call passes the
seam; what they answer is its wire text and the framework's own error flag, and nothing else of a
result: artifacts, data and metadata stay in the session's steps. One session is one conversation,
so what was withdrawn stays withdrawn. None of the frameworks is a dependency: who adapts has it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from toolseam import ToolseamError

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    import agents
    import fastmcp.tools
    import llm
    import pydantic_ai
    from langchain_core.tools import BaseTool

    from toolseam import Actor, Session
    from toolseam._approval import Preview

__all__ = ["to_fastmcp", "to_langchain", "to_llm", "to_openai_agents", "to_pydantic_ai"]


def to_langchain(session: Session, *, approver: Actor | None = None) -> list[BaseTool]:
    """Return the session's tools as LangChain tools.

    A call that needs approval interrupts the LangGraph that runs it: the interrupt's value is
    `{"tool", "arguments", "preview", "failed", "cut", "digest"}`, and
    `Command(resume={interrupt.id: {"approve": digest}})` approves exactly that; any other answer
    denies. Writes of one turn wait together, and are answered together.

    Args:
        session: whose tools, one for each conversation of the agent.
        approver: who gives the approvals that the graph is resumed with; without one every write
            is `approval_denied`.

    Raises `ToolseamError` where langchain-core is not installed.
    """
    return cast("list[BaseTool]", _room("_langchain").tools(session, approver))


def to_pydantic_ai(
    session: Session, *, approver: Actor | None = None
) -> list[pydantic_ai.Tool[Any]]:
    """Return the session's tools as tools of pydantic-ai.

    A call that needs approval is deferred: `DeferredToolRequests.metadata` shows its preview by
    call id, and `DeferredToolResults(approvals={call_id: True})` approves exactly that.

    Args:
        session: whose tools, one for each conversation of the agent.
        approver: who gives the approvals of the deferred results; without one every write is
            `approval_denied`, and nothing is deferred.

    Raises `ToolseamError` where pydantic-ai is not installed.
    """
    return cast("list[pydantic_ai.Tool[Any]]", _room("_pydantic_ai").tools(session, approver))


def to_openai_agents(
    session: Session,
    *,
    approver: Actor | None = None,
    waiting: MutableMapping[str, Preview] | None = None,
) -> list[agents.FunctionTool]:
    """Return the session's tools as function tools of OpenAI's Agents SDK.

    A call that needs approval interrupts the run: `waiting[item.call_id]` is the preview of an
    interruption, and `state.approve(item)` approves exactly that.

    Args:
        session: whose tools, one for each conversation of the agent.
        approver: who gives the approvals of the run's state; without one every write is
            `approval_denied`, and nothing interrupts the run.
        waiting: where the previews of the calls that wait are put, by call id.

    Raises `ToolseamError` where openai-agents is not installed.
    """
    room = _room("_openai_agents")
    return cast("list[agents.FunctionTool]", room.tools(session, approver, waiting))


def to_fastmcp(session: Session) -> list[fastmcp.tools.Tool]:
    """Return the session's tools as tools of FastMCP, for `server.add_tool`.

    All clients of the server share the session; `toolseam serve mcp` gives each one of its own.
    Nobody can be asked here, so every write is `approval_denied`.

    Args:
        session: whose tools.

    Raises `ToolseamError` where fastmcp is not installed.
    """
    return cast("list[fastmcp.tools.Tool]", _room("_fastmcp").tools(session))


def to_llm(session: Session) -> list[llm.Tool]:
    """Return the session's tools as tools of `llm`, for `model.chain(..., tools=...)`.

    Nobody can be asked here, so every write is `approval_denied`.

    Args:
        session: whose tools, one for each conversation.

    Raises `ToolseamError` where llm is not installed.
    """
    return cast("list[llm.Tool]", _room("_llm").tools(session))


_FRAMEWORKS = {
    "_fastmcp": ("fastmcp", "fastmcp"),
    "_langchain": ("langchain_core", "langchain-core"),
    "_llm": ("llm", "llm"),
    "_openai_agents": ("agents", "openai-agents"),
    "_pydantic_ai": ("pydantic_ai", "pydantic-ai-slim"),
}
"""The room that speaks to a framework: its package, and what to install."""


def _room(name: str) -> Any:  # noqa: ANN401
    """Import a room when its framework is first asked for: some take seconds."""
    package, distribution = _FRAMEWORKS[name]
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
    message = f"{package} is not installed here: pip install {distribution}"
    raise ToolseamError(message)
