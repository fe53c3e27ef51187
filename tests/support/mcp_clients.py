"""The SDK's own clients, the same way for both of its majors."""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MAJOR = 2 if find_spec("mcp_types") is not None else 1
SCRIPT = Path(__file__).parent / "mcp_server.py"
MODES = ("auto", "legacy") if MAJOR > 1 else ("legacy",)
"""How a client can begin: with the newest revision of the protocol, or with a handshake."""

Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class Client:
    """A connected client; answers are plain JSON under the protocol's names."""

    def __init__(self, sdk: Any) -> None:
        self.sdk = sdk

    async def tools(self) -> dict[str, dict[str, Any]]:
        """Return the tools by name."""
        listed = _plain(await self.sdk.list_tools())
        return {tool["name"]: tool for tool in listed["tools"]}

    async def call(
        self, tool: str, /, *, progress: Progress | None = None, **arguments: object
    ) -> dict[str, Any]:
        """Call a tool."""
        answer = await self.sdk.call_tool(tool, arguments, progress_callback=progress)
        return _plain(answer)


def _plain(model: Any) -> dict[str, Any]:
    told: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return told


@asynccontextmanager
async def over_stdio(*words: str, mode: str = "legacy") -> AsyncGenerator[Client, None]:
    """Connect to a server that is started for it."""
    from mcp import StdioServerParameters

    command = StdioServerParameters(command=sys.executable, args=[str(SCRIPT), *words])
    if MAJOR > 1:
        from mcp import Client as Sdk

        async with Sdk(command, mode=mode) as client:
            yield Client(client)
        return
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    async with stdio_client(command) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield Client(session)


@asynccontextmanager
async def over_http(url: str, token: str, *, mode: str = "legacy") -> AsyncGenerator[Client, None]:
    """Connect to a server by its URL."""
    headers = {"Authorization": f"Bearer {token}"}
    from mcp.client.streamable_http import streamable_http_client

    if MAJOR > 1:
        import httpx2
        from mcp import Client as Sdk

        async with (
            httpx2.AsyncClient(headers=headers, verify=False) as http,
            Sdk(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            yield Client(client)
        return
    httpx: Any = import_module("httpx")  # which comes with the SDK before 2.0 alone
    from mcp import ClientSession

    async with (
        httpx.AsyncClient(headers=headers, verify=False) as http,
        streamable_http_client(url, http_client=http) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as session,
    ):
        await session.initialize()
        yield Client(session)


@asynccontextmanager
async def in_process(server: Any, *, mode: str = "legacy") -> AsyncGenerator[Client, None]:
    """Connect to a low-level server without any transport."""
    if MAJOR > 1:
        from mcp import Client as Sdk

        async with Sdk(server, mode=mode) as client:
            yield Client(client)
        return
    from mcp.shared.memory import create_connected_server_and_client_session

    async with create_connected_server_and_client_session(server) as session:
        yield Client(session)
