"""mcp, the reference SDK: its server that checks arguments, and the bare one that does not."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.servers.held import held
from benchmarks.subject import ARGUMENTS, CONTENT, LARGE, alarge, asearch

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable

_TEXTS = {"query": {"type": "string"}, "path": {"type": "string"}, "limit": {"type": "integer"}}
_SCHEMA = {"type": "object", "properties": _TEXTS, "required": [*_TEXTS]}


def _checked() -> Any:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("bench")
    server.tool(name="search")(asearch)
    server.tool(name="large")(alarge)
    return server


def _bare() -> Any:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    tools = [types.Tool(name=name, input_schema=_SCHEMA) for name in ("search", "large")]

    async def list_tools(_: Any, __: Any) -> Any:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: Any, asked: Any) -> Any:
        text = CONTENT if asked.name == "search" else LARGE
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("bench", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the calls that are compared, by a client in the same process."""
    from mcp import Client

    checked, bare = held(runner, Client(_checked())), held(runner, Client(_bare()))
    return {
        "search": lambda: checked.call_tool("search", ARGUMENTS),
        "large": lambda: checked.call_tool("large", ARGUMENTS),
        "bare": lambda: bare.call_tool("search", ARGUMENTS),
    }


async def _serve_bare() -> None:
    from mcp.server.stdio import stdio_server

    server = _bare()
    async with stdio_server() as (inward, outward):
        await server.run(inward, outward, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1:] == ["bare"]:
        asyncio.run(_serve_bare())
    else:
        _checked().run()
