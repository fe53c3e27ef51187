"""The adapters of other frameworks as ways out: what each sends, and what it keeps beside that.

A framework that speaks to OpenAI's API does so with a server of the loopback, in a whole run of
its agent. What frameworks keep of a run is looked through too: they store it, and trace it.
"""

from __future__ import annotations

import asyncio
import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolseam_plugins import interop
from toolseam_plugins.conformance._egress_wires import QUESTION, listening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolseam_plugins.conformance._egress_traffic import Traffic

_SECONDS = 60.0


def framework_sinks() -> dict[str, Callable[[Traffic], str]]:
    """Return a sink for each framework that is installed, with what it needs to speak."""
    return {name: _sink(run) for name, (run, needs) in _RUNS.items() if _are_there(needs)}


def _are_there(packages: tuple[str, ...]) -> bool:
    return all(find_spec(package) is not None for package in packages)


def _sink(run: Callable[[Traffic], Awaitable[str]]) -> Callable[[Traffic], str]:
    def heard(traffic: Traffic) -> str:
        return asyncio.run(asyncio.wait_for(run(traffic), _SECONDS))

    return heard


async def _langchain(traffic: Traffic) -> str:
    """Call each tool as an agent does, and put the messages in the words of a provider."""
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, convert_to_openai_messages
    from langchain_core.utils.function_calling import convert_to_openai_tool

    tools = interop.to_langchain(traffic.session())
    calls: list[Any] = [{"name": t.name, "args": {}, "id": f"call_{t.name}"} for t in tools]
    messages: list[Any] = [AIMessage("", tool_calls=calls)]
    for each, call in zip(tools, calls, strict=True):
        messages.append(await each.ainvoke({**call, "type": "tool_call"}))
        messages.append(each.invoke({**call, "type": "tool_call"}))
    told = [convert_to_openai_tool(each) for each in tools]
    sent = json.dumps([convert_to_openai_messages(messages), told])
    return f"{sent}{dumps(messages)}{messages!r}"


async def _pydantic_ai(traffic: Traffic) -> str:
    """Run an agent on the maker's own chat model."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    with listening("openai", traffic.names) as server:
        provider = OpenAIProvider(base_url=server.url, api_key="k")
        tools = interop.to_pydantic_ai(traffic.session())
        agent = Agent(OpenAIChatModel("m", provider=provider), tools=tools)
        result = await agent.run(QUESTION)
    kept = f"{result.all_messages_json().decode()}{result.all_messages()!r}"
    return server.said + kept


async def _openai_agents(traffic: Traffic) -> str:
    """Run an agent on chat completions, its state included."""
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
    from openai import AsyncOpenAI

    with listening("openai", traffic.names) as server:
        async with AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            tools: list[Any] = [*interop.to_openai_agents(traffic.session())]
            model = OpenAIChatCompletionsModel("m", client)
            agent = Agent("assistant", tools=tools, model=model)
            quiet = RunConfig(tracing_disabled=True)
            result = await Runner.run(agent, QUESTION, run_config=quiet)
    return f"{server.said}{result.to_state().to_json()}{result.new_items!r}"


async def _fastmcp(traffic: Traffic) -> str:
    """Ask for everything as a client of a server of FastMCP."""
    from fastmcp import Client, FastMCP

    server = FastMCP("tools")
    for each in interop.to_fastmcp(traffic.session()):
        server.add_tool(each)
    async with Client(server) as client:
        listed = await client.list_tools_mcp()
        answers: list[Any] = [await client.call_tool_mcp(name, {}) for name in traffic.names]
    answers.append(listed)
    return "\n".join(each.model_dump_json(by_alias=True) for each in answers) + repr(answers)


async def _llm(traffic: Traffic) -> str:
    """Run a chain on the model for whatever speaks as OpenAI does."""
    from llm.default_plugins.openai_models import AsyncChat

    with listening("openai", traffic.names) as server:
        more: Any = {"api_base": server.url, "can_stream": False, "supports_tools": True}
        model: Any = AsyncChat("m", key="k", **more)
        tools = interop.to_llm(traffic.session())
        chain = model.chain(QUESTION, tools=tools, stream=False, key="k")
        kept = ""
        async for response in chain.responses():
            kept += f"{await response.text()}{vars(response)!r}"
    return server.said + kept


_RUNS: dict[str, tuple[Callable[[Traffic], Awaitable[str]], tuple[str, ...]]] = {
    "langchain": (_langchain, ("langchain_core",)),
    "pydantic_ai": (_pydantic_ai, ("pydantic_ai", "openai")),
    "openai_agents": (_openai_agents, ("agents", "openai")),
    "fastmcp": (_fastmcp, ("fastmcp",)),
    "llm": (_llm, ("llm", "openai")),
}
"""By framework: how it is driven, and the packages without which it is not here."""
