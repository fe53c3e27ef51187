"""What the loop adds to a round: a run of 20 rounds with a provider that answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.bars import Effort, Measured
from benchmarks.ours import SCHEMA, spec
from benchmarks.subject import TOOLS
from benchmarks.timing import cpu, extra, interleave, repeated
from toolseam import Actor, Host, ToolResult, ToolSpec, hookimpl
from toolseam.providers import Finish, Reply, Request, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUNDS = 20
_ADA = Actor("ada", {"admin"})


class _Tool:
    """One of 46."""

    def __init__(self, number: int) -> None:
        self._spec = spec(SCHEMA, f"search_{number}")

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        return self._spec

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:  # noqa: ARG002
        return ToolResult.text("x")


class _Instant:
    """Asks for one call a round, each with other arguments, and for nothing at the end."""

    name = "instant"

    def __init__(self, rounds: int) -> None:
        self._left = rounds

    async def complete(self, request: Request) -> Reply:
        self._left -= 1
        if self._left < 0 or not request.tools:
            return Reply("done")
        arguments = {"query": f"q{self._left}", "path": "a"}
        return Reply(calls=(ToolCall("search_1", arguments, "1"),), finish=Finish.CALLS)


def measure(effort: Effort) -> Iterator[Measured]:
    """Compare runs of 20 rounds and of one: what lies between them is 19 rounds."""
    with Host(tools=[_Tool(number) for number in range(TOOLS)]) as host:
        session = host.session(actor=_ADA, zone="local")

        def run(rounds: int) -> object:
            return session.run(_Instant(rounds), "q", max_rounds=_ROUNDS)

        cases = {"long": repeated(lambda: run(_ROUNDS)), "short": repeated(lambda: run(1))}
        spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    each = extra(spent["long"], spent["short"]) / (_ROUNDS - 1) / 1e6
    first = cpu(spent["short"]) / 1e6
    beside = f"the tool's call and its thread included; a run of one round in all {first:.2g} ms"
    yield Measured("loop.round", each, beside)
