"""What one more tool costs a host: time, memory, and nothing before it is wanted."""

from __future__ import annotations

import subprocess
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import Effort, Measured
from benchmarks.ours import SCHEMA, spec
from benchmarks.place import make_place
from benchmarks.timing import cpu, interleave, repeated
from toolseam import Host, ToolResult, ToolSpec, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = 200
_EARLY = """
import sys
from toolseam import Host
host = Host.load()
assert sum(record.kind == "tool" for record in host.records) == {tools}, host.records
print(sum(name.startswith(("toolset.", "toolseam_builtin.")) for name in sys.modules))
"""


class _Plugin:
    """One of many; its specification is made beforehand, since that is the plugin's own work."""

    def __init__(self, number: int) -> None:
        self._spec = spec(SCHEMA, f"search_{number}")

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        return self._spec

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:  # noqa: ARG002
        return ToolResult.text("x")


def measure(effort: Effort) -> Iterator[Measured]:
    """Register many tools by code, and look at a host that only found its tools."""
    plugins = [_Plugin(number) for number in range(_TOOLS)]

    def register() -> list[object]:
        # A tool is made known to pluggy by its first call; that is part of the price.
        return [tool._registered() for tool in Host(tools=plugins).tools()]

    cases = {
        "registered": repeated(register),
        "bound": repeated(lambda: Host(tools=plugins)),
        "spec": repeated(lambda: spec(SCHEMA)),
    }
    spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    each, bound = (cpu(spent[name]) / 1e6 / _TOOLS for name in ("registered", "bound"))
    own = cpu(spent["spec"]) / 1e6
    beside = f"at load {bound:.2g} ms, the rest at first use; its author's ToolSpec {own:.2g} ms"
    yield Measured("registration.time", each, beside)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = register()
        after, _ = tracemalloc.get_traced_memory()
        kept.clear()
    finally:
        tracemalloc.stop()
    yield Measured("registration.memory", (after - before) / 1024 / _TOOLS)
    yield Measured("registration.early", _early(), "plugin modules after `Host.load()`")


def _early() -> int:
    from benchmarks.subject import TOOLS

    with tempfile.TemporaryDirectory() as folder:
        place = make_place(Path(folder))
        words = [str(place.python), "-c", _EARLY.format(tools=TOOLS)]
        said = subprocess.check_output(words, cwd=place.workspace, env=place.environ)
    return int(said)
