"""llm: the tool calls of a response, executed; a listing goes through its plugins, as ours does."""

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
    """Register 46 tools by a plugin and print what `llm tools list` goes through."""
    from llm import get_tools, hookimpl
    from llm.plugins import pm

    class Plugin:
        @hookimpl
        def register_tools(self, register: Callable[[Any], None]) -> None:
            for one in searches():
                register(one)

    pm.register(Plugin(), "bench")
    show([name for name in get_tools() if name.startswith("search_")])
