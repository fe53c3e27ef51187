"""openai-agents: a function tool, invoked with the text that a model wrote."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, asearch, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the call that is compared with ours."""
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
    from agents import function_tool
    from agents.tool_context import ToolContext

    raw = json.dumps(ARGUMENTS)
    tool = function_tool(asearch, name_override="search")
    context = ToolContext(
        context=None, tool_name="search", tool_call_id="call_1", tool_arguments=raw
    )
    assert runner.run(tool.on_invoke_tool(context, raw)) == CONTENT
    return {"on_invoke_tool": lambda: tool.on_invoke_tool(context, raw)}


def listing() -> None:
    """Make 46 tools and print their names."""
    from agents import function_tool

    show([function_tool(one).name for one in searches()])
