"""A client made of the Python SDK of either major, as a program of its own.

`mcp_client.py URL TOKEN` or `mcp_client.py COMMAND...` lists the tools, calls some in each way, and
prints what came as one object of JSON.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("test_simple_text", {}),
    "data": ("typed", {"n": 3}),
    "failure": ("typed", {"n": 12}),
    "wrong": ("typed", {"n": -1}),
    "unknown": ("nope", {}),
}


@asynccontextmanager
async def _connected(words: list[str]) -> AsyncIterator[Any]:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    if not words[0].startswith("http"):
        parameters = StdioServerParameters(command=words[0], args=words[1:])
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            yield session
        return
    from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

    http = create_mcp_http_client(headers={"Authorization": f"Bearer {words[1]}"})
    async with (
        http,
        streamable_http_client(words[0], http_client=http) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        yield session


async def _main(words: list[str]) -> dict[str, Any]:
    seen: dict[str, Any] = {"progress": []}

    async def progress(done: float, total: float | None, _: str | None) -> None:
        seen["progress"].append([done, total])

    async with _connected(words) as session:
        await session.initialize()
        seen["tools"] = _plain(await session.list_tools())["tools"]
        for name, (tool, arguments) in CALLS.items():
            seen[name] = _plain(await session.call_tool(tool, arguments))
        await session.call_tool("test_tool_with_progress", {}, progress_callback=progress)
    return seen


def _plain(result: Any) -> dict[str, Any]:
    plain: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(sys.argv[1:]))))  # noqa: T201 - the program's answer
