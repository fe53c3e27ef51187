"""llm: the tool calls of a response, executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, search, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable, Iterator


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:  # noqa: ARG001
    """Return the call that is compared with ours."""
    from llm.models import Model, Prompt, Response, Tool, ToolCall

    class Silent(Model):
        model_id = "bench"
        supports_tools = True

        def execute(self, *_: Any, **__: Any) -> Iterator[str]:
            yield ""

    model = Silent()
    prompt = Prompt("x", model, tools=[Tool.function(search, name="search")])
    response = Response(prompt, model, False)
    asked = [ToolCall(name="search", arguments=ARGUMENTS, tool_call_id="call_1")]
    assert response.execute_tool_calls(tool_calls_list=asked)[0].output == CONTENT
    return {"execute_tool_calls": lambda: response.execute_tool_calls(tool_calls_list=asked)}


def listing() -> None:
    """Make 46 tools and print their names."""
    from llm import Tool

    show([Tool.function(one).name for one in searches()])
