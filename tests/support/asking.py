"""Providers asked once, in a stream, or in a run that may call `echo`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from support.tools import ADA, plugin
from toolseam import Host, ToolError, ToolResult
from toolseam.providers import Endpoint, Request, UserMessage
from toolseam_plugins.providers import make

if TYPE_CHECKING:
    from support.provider_recorder import Recorder
    from toolseam.providers import Provider, Reply
    from toolseam.runs import Run

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def say(arguments: Any) -> ToolResult:
    """Say a text again, or fail."""
    if arguments["text"] == "fail":
        raise ToolError("No such shelf.", "not_found")
    return ToolResult.text(f"said {arguments['text']}")


def provider_at(recorder: Recorder, kind: str, path: str = "", **more: Any) -> Any:
    """Return a provider that asks the recorder."""
    endpoint = Endpoint(f"{kind}:m", kind, "m", base_url=recorder.url + path, timeout_s=60, **more)
    provider = make(endpoint)
    assert provider is not None
    return provider


def run_of(provider: Provider | list[Any], question: str = "What?", **more: Any) -> Run:
    """Return a run that may call `echo`."""
    tool = plugin(say, name="echo", parameters=TEXT, parallel_safe=True)
    with Host(tools=[tool]) as host:
        return host.session(actor=ADA).run(provider, question, **more)


def streamed_run(provider: Provider, question: str = "What?") -> list[Any]:
    """Return all that a run shows while it goes on, and the run at the end."""

    async def whole() -> list[Any]:
        with Host(tools=[plugin(say, name="echo", parameters=TEXT)]) as host:
            return [each async for each in host.session(actor=ADA).astream(provider, question)]

    return asyncio.run(whole())


def asked(provider: Any, *messages: Any, **more: Any) -> Reply:
    """Ask once, without a loop."""
    reply: Reply = asyncio.run(provider.complete(Request(messages or (UserMessage("?"),), **more)))
    return reply


def streamed(provider: Any, *messages: Any) -> list[Any]:
    """Return all that a stream gives."""

    async def whole() -> list[Any]:
        request = Request(messages or (UserMessage("?"),))
        return [piece async for piece in provider.stream(request)]

    return asyncio.run(whole())
