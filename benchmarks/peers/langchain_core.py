"""langchain-core: a `StructuredTool`, invoked with the tool call of a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, search, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:  # noqa: ARG001
    """Return the call that is compared with ours."""
    os.environ["LANGSMITH_TRACING"] = "false"
    from langchain_core.tools import StructuredTool

    tool = StructuredTool.from_function(search, name="search")
    asked = {"name": "search", "args": ARGUMENTS, "id": "call_1", "type": "tool_call"}
    assert tool.invoke(asked).content == CONTENT
    return {"invoke": lambda: tool.invoke(asked)}


def listing() -> None:
    """Make 46 tools and print their names."""
    from langchain_core.tools import StructuredTool

    show([StructuredTool.from_function(one).name for one in searches()])
