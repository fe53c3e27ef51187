"""Whole agent runs of other frameworks over a session's tools, and all that left the process.

Each asks a recorder in the place of OpenAI's API, which wants the calls that a test wants.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import attrs

from support import openai_wire
from support.provider_recorder import recording
from toolseam_plugins.interop import (
    to_fastmcp,
    to_langchain,
    to_llm,
    to_openai_agents,
    to_pydantic_ai,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from toolseam import Session

    Turns = Iterable[list[tuple[str, str]]]


@attrs.frozen
class Talk:
    """What became of the calls of a run, in their order.

    `answers` is what the model was told, `flags` whether the framework holds each for a failure
    (None where it has no such flag), `raw` all bytes that the model's side was sent, `kept` what
    the framework keeps of the run beside that, as text.
    """

    answers: list[str]
    flags: list[bool | None]
    raw: bytes
    kept: str


def _asked(turns: Turns) -> list[Any]:
    """Return what the model answers: the calls of each turn, with ids of their own, then words."""
    number = 0
    answers = []
    for turn in turns:
        calls: list[tuple[str, str, str | None]] = []
        for name, arguments in turn:
            number += 1
            calls.append((name, arguments, f"call_{number}"))
        answers.append(openai_wire.chat(calls=calls))
    return [*answers, openai_wire.chat("done")]


def _told(recorder: Any) -> list[str]:
    """Return the tools' answers in the last request, in the order of the calls."""
    messages = [m for m in recorder.heard[-1].body["messages"] if m["role"] == "tool"]
    ordered = sorted(messages, key=lambda m: int(m["tool_call_id"].removeprefix("call_")))
    return [m["content"] for m in ordered]


async def langchain(session: Session, turns: Turns) -> Talk:
    """Run `create_agent` on the maker's own chat model."""
    from langchain.agents import create_agent
    from langchain_core.load import dumps
    from langchain_openai import ChatOpenAI

    with recording(*_asked(turns)) as recorder:
        url = f"{recorder.url}/v1"
        model = ChatOpenAI(model="m", base_url=url, api_key="k", max_retries=0)
        agent = create_agent(model, to_langchain(session))
        state = await agent.ainvoke({"messages": [("user", "q")]})
        answers = _told(recorder)
    told = [m for m in state["messages"] if m.type == "tool"]
    told.sort(key=lambda m: int(m.tool_call_id.removeprefix("call_")))
    kept = f"{dumps(state['messages'])}{state!r}"
    return Talk(answers, [m.status == "error" for m in told], recorder.raw, kept)


async def pydantic_ai(session: Session, turns: Turns) -> Talk:
    """Run an `Agent` on the maker's own chat model."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ToolReturnPart
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    with recording(*_asked(turns)) as recorder:
        provider = OpenAIProvider(base_url=f"{recorder.url}/v1", api_key="k")
        agent = Agent(OpenAIChatModel("m", provider=provider), tools=to_pydantic_ai(session))
        result = await agent.run("q")
        answers = _told(recorder)
    parts = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    parts.sort(key=lambda part: int(part.tool_call_id.removeprefix("call_")))
    kept = f"{result.all_messages_json().decode()}{result.all_messages()!r}"
    return Talk(answers, [part.outcome == "failed" for part in parts], recorder.raw, kept)


async def openai_agents(session: Session, turns: Turns) -> Talk:
    """Run an `Agent` of the SDK on chat completions."""
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
    from openai import AsyncOpenAI

    with recording(*_asked(turns)) as recorder:
        client = AsyncOpenAI(base_url=f"{recorder.url}/v1", api_key="k", max_retries=0)
        model = OpenAIChatCompletionsModel("m", client)
        agent = Agent("assistant", tools=list(to_openai_agents(session)), model=model)
        quiet = RunConfig(tracing_disabled=True)
        result = await Runner.run(agent, "q", run_config=quiet, max_turns=20)
        await client.close()
        answers = _told(recorder)
    kept = f"{result.to_state().to_json()}{result.new_items!r}"
    return Talk(answers, [None] * len(answers), recorder.raw, kept)


async def fastmcp(session: Session, turns: Turns) -> Talk:
    """Call by way of a FastMCP server and its own client."""
    from fastmcp import Client, FastMCP

    server = FastMCP("tools")
    for each in to_fastmcp(session):
        server.add_tool(each)
    results = []
    async with Client(server) as client:
        listed = await client.list_tools_mcp()
        for turn in turns:
            calls = [client.call_tool_mcp(name, json.loads(text)) for name, text in turn]
            results += await asyncio.gather(*calls)
    raw = "\n".join(each.model_dump_json(by_alias=True) for each in [listed, *results])
    answers = ["".join(block.text for block in each.content) for each in results]
    return Talk(answers, [each.is_error for each in results], raw.encode(), repr(results))


async def llm(session: Session, turns: Turns) -> Talk:
    """Run a chain of `llm` on its model for whatever speaks as OpenAI does, and log it."""
    import sqlite_utils
    from llm.default_plugins.openai_models import AsyncChat
    from llm.migrations import migrate

    logs = sqlite_utils.Database(memory=True)
    migrate(logs)
    with recording(*_asked(turns)) as recorder:
        url = f"{recorder.url}/v1"
        model = AsyncChat("m", key="k", api_base=url, can_stream=False, supports_tools=True)
        chain = model.chain("q", tools=list(to_llm(session)), stream=False, key="k")
        async for response in chain.responses():
            await response.text()
            (await response.to_sync_response()).log_to_db(logs)
        answers = _told(recorder)
    kept = "\n".join(logs.conn.iterdump())
    return Talk(answers, [None] * len(answers), recorder.raw, kept)


DRIVES: dict[str, Callable[[Session, Turns], Awaitable[Talk]]] = {
    "langchain": langchain,
    "pydantic_ai": pydantic_ai,
    "openai_agents": openai_agents,
    "fastmcp": fastmcp,
    "llm": llm,
}


def drive(framework: str, session: Session, *turns: list[tuple[str, str]]) -> Talk:
    """Run one of them to its end; each turn is a list of calls, with the JSON text of each."""

    async def whole() -> Talk:
        return await asyncio.wait_for(DRIVES[framework](session, turns), 60)

    return asyncio.run(whole())
