"""pydantic-ai: the `ToolManager` of a run step, which is its own whole seam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, asearch, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the call that is compared with ours."""
    from pydantic_ai import FunctionToolset, RunContext
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.usage import RunUsage

    tools = FunctionToolset()
    tools.add_function(asearch, name="search")
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    step = runner.run(ToolManager(tools).for_run_step(context))
    asked = ToolCallPart("search", ARGUMENTS, "call_1")
    assert CONTENT in repr(runner.run(step.handle_call(asked)))
    return {"ToolManager.handle_call": lambda: step.handle_call(asked)}


def listing() -> None:
    """Make 46 tools and print their names."""
    from pydantic_ai import FunctionToolset

    tools = FunctionToolset()
    for one in searches():
        tools.add_function(one)
    show(list(tools.tools))
