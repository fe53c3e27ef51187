"""fastmcp: `call_tool` of a server, in the server's own event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, asearch, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the call that is compared with ours."""
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(asearch, name="search")
    answer = runner.run(server.call_tool("search", ARGUMENTS))
    assert answer.content[0].text == CONTENT
    return {"server.call_tool": lambda: server.call_tool("search", ARGUMENTS)}


def listing() -> None:
    """Make 46 tools and print their names."""
    import asyncio

    from fastmcp import FastMCP

    server = FastMCP("bench")
    for one in searches():
        server.tool(one)
    show([tool.name for tool in asyncio.run(server.list_tools())])
