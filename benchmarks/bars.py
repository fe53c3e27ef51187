"""What was promised: each measured thing with what it must keep and what it should reach."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from benchmarks.size_questions import QUESTIONS

Unit: TypeAlias = Literal["times", "share", "us", "ms", "s", "KiB", "MB", "count"]


@attrs.frozen
class Bar:
    """One row of the table.

    `must` and `goal` are limits from above, or from below where `least` is set. A value of the
    unit ``times`` is so many times something else, a ``share`` so small a part of it (1/40).
    """

    key: str
    what: str
    must: float
    goal: float | None = None
    unit: Unit = "times"
    least: bool = False

    @property
    def group(self) -> str:
        """The part of the benchmark that measures it."""
        return self.key.partition(".")[0]

    def shown(self, value: float | None) -> str:
        """Write a value in the row's unit."""
        if value is None:
            return ""
        if self.unit == "share":
            return f"1/{1 / value:.3g}" if value < 1 else f"{value:.2f} ×"
        if self.unit == "count":
            return f"{value:.0f}"
        return f"{value:.3g} ×" if self.unit == "times" else f"{value:.3g} {self.unit}"

    def verdict(self, value: float | None) -> Verdict:
        """Judge a value."""
        if value is None:
            return "not measured"
        if self.goal is not None and self._within(value, self.goal):
            return "goal"
        return "pass" if self._within(value, self.must) else "MISSED"

    def _within(self, value: float, limit: float) -> bool:
        return value >= limit if self.least else value <= limit


Verdict: TypeAlias = Literal["goal", "pass", "MISSED", "not measured"]


@attrs.frozen
class Measured:
    """A value for a row, and what is worth knowing beside it; None if it could not be measured."""

    key: str
    value: float | None
    beside: str = ""


PEERS = {
    "langchain-core": ("invoke", 1 / 40, 1 / 80),
    "fastmcp": ("server.call_tool", 1 / 30, 1 / 60),
    "mcp": ("server.call_tool", 1 / 4, 1 / 8),
    "pydantic-ai": ("ToolManager", 1 / 5, 1 / 9),
    "llm": ("execute_tool_calls", 1 / 2, 1 / 4),
    "openai-agents": ("on_invoke_tool", 1 / 1.2, 1 / 2),
    "strands": ("tool.stream", 1 / 1.2, 1 / 2),
}
SERVING = {"inside": "in process (CPU time)", "stdio": "over stdio (by the wall)"}

BARS = (
    Bar(
        "instructions.schema", "a call, JSON Schema tool, in raw hook calls (instructions)", 3, 2.3
    ),
    Bar("instructions.attrs", "a call, attrs tool, in raw hook calls (instructions)", 3.5, 2.8),
    *(
        Bar(f"peers.{peer}", f"a call, against {peer} {call} (CPU time)", must, goal, "share")
        for peer, (call, must, goal) in PEERS.items()
    ),
    Bar("seam.acall", "`acall` of an async tool, against `call` (CPU time)", 1.3, 1.15),
    Bar("seam.content", "40 KB of ASCII content, more than 100 bytes", 60, 20, "us"),
    Bar("seam.table", "a 200 × 8 table built and bounded, in `orjson.dumps` of it", 12, 6),
    Bar("hostile.worst", "the dearest refusal, against accepting the largest legal value", 15, 3),
    Bar("threads.trivial", "8 threads against one, trivial tool", 0.85, least=True),
    Bar("threads.sleeping", "8 threads against one, 1 ms sleeps", 7.5, least=True),
    Bar("start.import", "`import toolseam`, against `python -c pass`", 5, 2),
    Bar("start.list", "`toolseam list`, against `python -c pass`", 8, 4),
    Bar("start.load", "`toolseam list --load`, against `python -c pass`", 12, 8),
    Bar("start.peer", "`list --load`, against the quickest peer's listing", 1 / 4, 1 / 7, "share"),
    Bar("discovery.slope", "discovery, per further distribution", 45, 30, "us"),
    Bar("discovery.share", "the same, against `importlib.metadata`", 1 / 2, None, "share"),
    Bar("registration.time", "registering one tool", 0.3, None, "ms"),
    Bar("registration.memory", "memory of one registered tool", 4, None, "KiB"),
    Bar("registration.early", "tools of 46 built before first use", 0, None, "count"),
    Bar("loop.round", "what a run adds to a round at 46 offered tools", 1, 0.3, "ms"),
    *(
        Bar(f"serving.{way}.{peer}", f"a call of our MCP server {how}, against {peer}'s", 1)
        for way, how in SERVING.items()
        for peer in ("fastmcp", "mcp")
    ),
    Bar("page.first", "the inspector's page, until its first byte", 50, None, "ms"),
    Bar("audit.step", "a step stored, in bare `sqlite3` inserts of the same durability", 2, 1.5),
    *(
        Bar(
            f"apart.{place}_{size}",
            f"a warm call in a {place} over inline, {words}",
            must,
            None,
            "ms",
        )
        for place in ("process", "sandbox")
        for size, words, must in (("small", "1 KB", 0.5), ("large", "1 MB", 10))
    ),
    Bar(
        "apart.fan_out",
        "1,000 sleeps of 50 ms over 4 × 4 threads of Dask, in parts of the ideal",
        0.85,
        least=True,
    ),
    Bar("endurance.memory", "memory that a million calls add to the first tenth", 4, 1, "MB"),
    Bar("endurance.descriptors", "descriptors that they add", 0, None, "count"),
    Bar("endurance.threads", "threads that they add", 0, None, "count"),
    *(Bar(f"sizes.{tool}", f"`{tool}` on real sizes", 2, None, "s") for tool in QUESTIONS),
    Bar("sizes.memory", "the most memory that one of them took", 300, None, "MB"),
)
GROUPS = tuple(dict.fromkeys(bar.group for bar in BARS))


@attrs.frozen
class Effort:
    """How long to measure, and where peers' environments are (None: measure without peers)."""

    rounds: int = 15
    span_ms: float = 25.0
    starts: int = 21
    instructions: tuple[int, int] = (1000, 4000)
    calls: int = 1_000_000
    calls_apart: int = 1_000
    peers: str | None = None


QUICK = Effort(
    rounds=2, span_ms=3.0, starts=1, instructions=(100, 300), calls=2_000, calls_apart=16
)
