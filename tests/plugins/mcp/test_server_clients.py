"""The MCP server and the SDK's own clients, of either major, on every transport."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from support.mcp_clients import MODES, Client, in_process, over_http, over_stdio
from support.mcp_http import TOKEN, serving
from support.mcp_server import CANARY, host
from toolseam import Actor
from toolseam_plugins.mcp import asgi, server

Transport = Callable[[str], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def by_http(mode: str) -> AsyncGenerator[Client, None]:
    """Connect over HTTP to a server of its own."""
    with host() as tools, serving(asgi(tools, token=TOKEN, actor=Actor("client"))) as served:
        async with over_http(served.url, TOKEN, mode=mode) as client:
            yield client


@asynccontextmanager
async def by_hand(mode: str) -> AsyncGenerator[Client, None]:
    """Connect in this process."""
    with host() as tools:
        low_level = server(tools, tools.session(actor=Actor("client")))
        async with in_process(low_level, mode=mode) as client:
            yield client


@pytest.fixture(params=["stdio", "http", "process"])
def transport(request: pytest.FixtureRequest) -> Transport:
    """Return what connects a client."""
    ways = {"stdio": lambda mode: over_stdio(mode=mode), "http": by_http, "process": by_hand}
    way: Transport = ways[request.param]
    return way


@pytest.mark.parametrize("mode", MODES)
def test_a_client_lists_and_calls(transport: Transport, mode: str) -> None:
    """Tools, success, failure, progress, cancelling and twenty calls at once are alike on all."""

    async def drive() -> None:
        noted: list[tuple[float, float | None, str | None]] = []

        async def progress(done: float, total: float | None, text: str | None) -> None:
            noted.append((done, total, text))

        async with transport(mode) as client:
            tools = await client.tools()
            assert tools["echo"]["inputSchema"]["properties"]["text"] == {
                "type": "string",
                "default": "",
            }
            full = await client.call("full")
            assert full["content"] == [{"type": "text", "text": "plain"}]
            assert CANARY not in str(full)
            failed = await client.call("echo", count="many")
            assert failed["isError"] is True
            assert failed["_meta"]["toolseam/code"] == "invalid_arguments"
            assert (await client.call("steps", progress=progress))["isError"] is False
            await asyncio.sleep(0.05)
            assert noted == [(1, 3, "at 1"), (2, 3, "at 2"), (3, 3, "at 3")]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.call("waits", seconds=30), 0.3)
            assert (await client.call("echo", text="on"))["content"][0]["text"] == "on"
            told = await asyncio.gather(
                *(client.call("echo", text=str(number)) for number in range(20))
            )
            assert [each["content"][0]["text"] for each in told] == [str(n) for n in range(20)]

    asyncio.run(asyncio.wait_for(drive(), 60))
