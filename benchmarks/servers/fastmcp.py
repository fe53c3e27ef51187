"""fastmcp: its server, called by its own client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.servers.held import held
from benchmarks.subject import ARGUMENTS, alarge, asearch

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def _server() -> Any:
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(asearch, name="search")
    server.tool(alarge, name="large")
    return server


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the calls that are compared, by a client in the same process."""
    from fastmcp import Client

    client = held(runner, Client(_server()))
    return {
        "search": lambda: client.call_tool("search", ARGUMENTS),
        "large": lambda: client.call_tool("large", ARGUMENTS),
    }


if __name__ == "__main__":
    _server().run(show_banner=False)
