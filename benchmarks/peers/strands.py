"""strands-agents: the stream of events of a decorated tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.subject import ARGUMENTS, CONTENT, asearch, searches, show

if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable


def calls(runner: Runner) -> dict[str, Callable[[], Any]]:
    """Return the call that is compared with ours."""
    from strands import tool as decorated

    tool = decorated(asearch)
    asked = {"toolUseId": "1", "name": "asearch", "input": ARGUMENTS}

    async def one() -> Any:
        return [event async for event in tool.stream(asked, {})]

    assert CONTENT in repr(runner.run(one()))
    return {"tool.stream": one}


def listing() -> None:
    """Make 46 tools and print their names."""
    from strands import tool as decorated

    show([decorated(one).tool_name for one in searches()])
