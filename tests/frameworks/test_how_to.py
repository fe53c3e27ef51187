"""The page on other frameworks says what works: its programs run, against OpenAI's API recorded."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from support import openai_wire
from support.commands import toolseam
from support.provider_recorder import Answer, Heard, recording
from support.tools import plugin
from support.writes import EVE, OWNER
from toolseam import Host, ToolResult
from toolseam_plugins import interop

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-in-other-frameworks.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PROGRAMS = {
    block.splitlines()[0].split()[1].partition(".")[0]: block
    for block in BLOCKS
    if "from tides import" in block
}


NAME, ARGUMENTS = "high_water", '{"harbour": "Whitby"}'


def answer(heard: Heard) -> Answer:
    """Ask for a call, then repeat the tool's answer, in whichever way was asked for."""
    body = heard.body
    if heard.path.endswith("/responses"):
        told = [each["output"] for each in body["input"] if "output" in each]
        item = (
            openai_wire.said(f"It says {told[0]}.")
            if told
            else openai_wire.called(NAME, ARGUMENTS, "call_1")
        )
        return streamed(item) if body.get("stream") else openai_wire.responses(item)
    told = [each["content"] for each in body["messages"] if each["role"] == "tool"]
    if told:
        return openai_wire.chat(f"It says {told[0]}.")
    return openai_wire.chat(calls=[(NAME, ARGUMENTS, "call_1")])


def streamed(item: dict[str, Any]) -> Any:
    """Send one item as the responses API streams it."""
    place = {"output_index": 0, "content_index": 0, "item_id": item["id"]}
    delta = {**place, "type": "response.output_text.delta", "logprobs": []}
    words = [{**delta, "delta": part["text"]} for part in item.get("content", ())]
    begun, ended = (
        {"type": f"response.output_item.{when}", "output_index": 0, "item": item}
        for when in ("added", "done")
    )
    return openai_wire.response_events(begun, *words, ended, end=openai_wire.response(item))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the tool that the page's programs share."""
    (tmp_path / "tides.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


def write(program: str, place: Path) -> Path:
    """Write one of the page's programs where it runs."""
    path = place / "agent_of_the_page.py"
    path.write_text(program, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["langchain", "pydantic_ai", "agents", "llm"])
def test_the_programs_of_the_page_work(name: str, place: Path) -> None:
    """Each program asks its model, calls a tool through the seam and prints the answer."""
    path = write(PROGRAMS[name], place)
    with recording(answer) as recorder:
        environ = {
            "HOME": str(place),
            "LLM_USER_PATH": str(place),
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": f"{recorder.url}/v1",
        }
        ran = toolseam(cwd=place, program=(sys.executable, path), environ=environ)

    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == ["It says Whitby: 04:12 and 16:40."]


def test_the_server_of_the_page_works(place: Path) -> None:
    """The program is a server, and its client gets a tool's answer."""
    path = write(PROGRAMS["fastmcp"], place)
    transport = StdioTransport(sys.executable, [str(path)], cwd=str(place))

    async def asked() -> Any:
        async with Client(transport) as client:
            return await client.call_tool_mcp("high_water", {"harbour": "Whitby"})

    result = asyncio.run(asyncio.wait_for(asked(), 60))

    assert [block.text for block in result.content] == ["Whitby: 04:12 and 16:40"]


def test_every_example_of_the_page_is_python() -> None:
    """The pieces that people put into a program of their own compile."""
    for block in BLOCKS:
        compile(block, PAGE.name, "exec")


# -- the programs that ask a person ----------------------------------------------------------------


WRITES = ["one", "two"]


def langchain() -> dict[str, Any]:
    """Return what the page's program takes from the program around it."""
    from langchain.agents import create_agent
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    calls: Any = [{"name": "write", "args": {"row": row}, "id": row} for row in WRITES]
    model = Scripted(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))
    names = {"create_agent": create_agent, "InMemorySaver": InMemorySaver, "Command": Command}
    return {**names, "model": model, "to_langchain": interop.to_langchain}


def pydantic_ai() -> dict[str, Any]:
    """The same for pydantic-ai."""
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    calls = [ToolCallPart("write", {"row": row}, row) for row in WRITES]
    said: Any = iter([calls, [TextPart("done")]])
    model = FunctionModel(lambda messages, info: ModelResponse(parts=next(said)))
    names = {"DeferredToolRequests": DeferredToolRequests}
    names |= {"DeferredToolResults": DeferredToolResults, "Agent": Agent}
    return {**names, "model": model, "to_pydantic_ai": interop.to_pydantic_ai}


def openai_agents() -> dict[str, Any]:
    """The same for OpenAI's Agents SDK."""
    from agents import Agent, Runner
    from agents.testing import ScriptedModel, assistant_message, function_call

    calls = [function_call("write", {"row": row}, call_id=row) for row in WRITES]
    model = ScriptedModel([calls, [assistant_message("done")]])
    names = {"Agent": Agent, "Runner": Runner, "model": model}
    return {**names, "to_openai_agents": interop.to_openai_agents}


@pytest.mark.parametrize("around", [langchain, pydantic_ai, openai_agents])
def test_the_page_asks_about_every_write_of_a_turn(
    around: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writes of one turn are shown to a person both, and both run once he approved them."""
    ran: list[str] = []

    def execute(arguments: dict[str, Any]) -> ToolResult:
        ran.append(arguments["row"])
        return ToolResult.text("written")

    def preview(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.text(f"row {arguments['row']} would change")

    parameters = {"properties": {"row": {"type": "string"}}, "required": ["row"]}
    more = {"effect": "non_idempotent_write", "parameters": parameters, "preview": preview}
    (program,) = (b for b in BLOCKS if f"to_{around.__name__}(session, approver=eve" in b)
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")

    with Host(tools=[plugin(execute, name="write", **more)]) as host:
        session = host.session(actor=OWNER)
        known = {**around(), "session": session, "eve": EVE, "question": "q"}
        exec(compile(program, PAGE.name, "exec"), known)

    assert sorted(ran) == WRITES
    shown = capsys.readouterr().out
    assert all(f"row {row} would change" in shown for row in WRITES)
