"""A client that gives up what it asked for, at the moments that matter, under either SDK."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from support.mcp_server import HELLO, READY, call, given_up
from toolseam import Host, ToolResult, tool
from toolseam_plugins.mcp import server
from toolseam_plugins.mcp._sdk import find_sdk, run

WAIT_S = 60


@tool(effect="read_only", data_class="public_content")
def echo(text: str = "") -> ToolResult:
    """Give the text back."""
    return ToolResult.text(text)


class Line:
    """A client whose every message is taken when the test says so."""

    def __init__(self, to_server: Any, from_server: Any) -> None:
        self._to = to_server
        self._from = from_server

    async def send(self, *messages: dict[str, Any]) -> None:
        """Send, and wait until nobody has anything more to do."""
        for message in messages:
            await self._to.send(find_sdk().message(message, None))
        await anyio.wait_all_tasks_blocked()

    async def answers_until(self, id_: int) -> list[int]:
        """Take messages up to the answer to `id_`; return what they answer."""
        ids: list[int] = []
        while id_ not in ids:
            ids.append(find_sdk().encoded(await self._from.receive())[1])
        return ids


@asynccontextmanager
async def connected(*tools: Any) -> AsyncGenerator[Line, None]:
    """Serve the tools to a client that reads nothing unasked."""
    to_server, incoming = anyio.create_memory_object_stream[Any](16)
    outgoing, from_server = anyio.create_memory_object_stream[Any](0)
    with Host(tools=tools) as host, anyio.fail_after(WAIT_S):
        served = server(host, host.session())
        async with to_server, from_server, anyio.create_task_group() as group:
            group.start_soon(run, served, incoming, outgoing)
            line = Line(to_server, from_server)
            await line.send(HELLO)
            await line.answers_until(0)
            await line.send(READY)
            yield line
            group.cancel_scope.cancel()


def test_an_answer_given_up_on_its_way_out_ends_no_session() -> None:
    """What the client did not take yet is not missed, and its next call is answered."""

    async def drive() -> list[int]:
        async with connected(echo) as line:
            await line.send(call(1, "echo"))
            await asyncio.sleep(0.5)
            await line.send(given_up(1))
            await line.send(call(2, "echo"))
            return await line.answers_until(2)

    assert asyncio.run(drive()) in ([2], [1, 2])


def test_a_call_given_up_before_it_began_stops() -> None:
    """A word that comes with the call itself ends it as one that comes later does."""
    begun: list[str] = []
    ended: list[str] = []

    @tool(effect="read_only", data_class="public_content")
    async def waits(name: str) -> ToolResult:
        """Wait until somebody cancels."""
        begun.append(name)
        try:
            await asyncio.sleep(WAIT_S)
        finally:
            ended.append(name)
        return ToolResult.text("")

    async def drive() -> None:
        async with connected(waits, echo) as line:
            await line.send(call(1, "waits", name="early"), given_up(1), call(2, "echo"))
            assert await line.answers_until(2) in ([2], [1, 2])
            await line.send(call(3, "waits", name="late"))
            await line.send(given_up(3), given_up(3), given_up(4), call(5, "echo"))
            assert set(await line.answers_until(5)) <= {3, 5}
            assert ended == begun
            assert "late" in ended

    asyncio.run(drive())
