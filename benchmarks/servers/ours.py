"""toolseam: `toolseam_plugins.mcp`, with the tool that everybody runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.servers.held import held
from benchmarks.subject import ARGUMENTS, CONTENT, LARGE
from toolseam import Host, ToolResult, tool

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


@tool(effect="read_only", data_class="public_content")
async def search(query: str, path: str, limit: int) -> ToolResult:  # noqa: ARG001
    """Search files."""
    return ToolResult.text(CONTENT)


@tool(effect="read_only", data_class="public_content")
async def large(query: str, path: str, limit: int) -> ToolResult:  # noqa: ARG001
    """Search files."""
    return ToolResult.text(LARGE)


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the calls that are compared, by a client in the same process."""
    from mcp import Client

    from toolseam_plugins.mcp import server

    host = Host(tools=[search, large])
    client = held(runner, Client(server(host, host.session(keep=256))))
    return {
        "search": lambda: client.call_tool("search", ARGUMENTS),
        "large": lambda: client.call_tool("large", ARGUMENTS),
    }


def main() -> None:
    """Serve over standard streams."""
    from toolseam_plugins.mcp import claim_stdio, serve_stdio

    wires = claim_stdio()
    with Host(tools=[search, large]) as host:
        serve_stdio(host, wires=wires)


if __name__ == "__main__":
    main()
