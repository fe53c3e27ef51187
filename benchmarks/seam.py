"""What a call costs beyond the tiny one: awaited, with much content, with a table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import orjson

from benchmarks.bars import Effort, Measured
from benchmarks.ours import Search, caller, calls
from benchmarks.timing import awaited, cpu, extra, extra_ratio, interleave, ratio, repeated
from toolseam import ToolArtifact, ToolResult
from toolseam._bounds import bound_result
from toolseam._settings_keys import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = ("The quick brown fox jumps over the lazy dog 0123456789. " * 720)[:40_000]
_COLUMNS = [f"c{n}" for n in range(8)]
_ROWS = [
    [n, f"name-{n}", n * 1.25, n % 2 == 0, "-", f"city {n % 17}", n * 7919, n / 3]
    for n in range(200)
]
_TEXTS = [[str(cell) for cell in row] for row in _ROWS]


def measure(effort: Effort) -> Iterator[Measured]:
    """Measure all of them in one interleaved run."""

    def table(rows: list[list[str]] | list[list[object]]) -> ToolResult:
        return ToolResult.text("200 rows", ToolArtifact.table("rows", _COLUMNS, rows))

    limits = Limits()
    with asyncio.Runner() as runner:
        ours = calls(runner)
        cases = {
            "call": repeated(ours["schema"]),
            "acall": awaited(ours["acall"], runner),
            "short": repeated(caller(Search(lambda: ToolResult.text("x" * 100)))),
            "long": repeated(caller(Search(lambda: ToolResult.text(_LONG)))),
            "cells": repeated(lambda: bound_result(table(_ROWS), limits)),
            "texts": repeated(lambda: bound_result(table(_TEXTS), limits)),
            "whole": repeated(caller(Search(lambda: table(_TEXTS)))),
            "dumps": repeated(lambda: orjson.dumps({"columns": _COLUMNS, "rows": _ROWS})),
            "dumps texts": repeated(lambda: orjson.dumps({"columns": _COLUMNS, "rows": _TEXTS})),
        }
        spent = interleave(cases, rounds=effort.rounds, span_ms=effort.span_ms)
    call = cpu(spent["call"]) / 1e3
    yield Measured("seam.acall", ratio(spent["acall"], spent["call"]), f"`call` {call:.3g} µs")
    yield Measured("seam.content", extra(spent["long"], spent["short"]) / 1e3)
    dumps = cpu(spent["dumps texts"]) / 1e3
    texts, cells = (
        ratio(spent[kind], spent[unit])
        for kind, unit in (("texts", "dumps texts"), ("cells", "dumps"))
    )
    whole = extra_ratio(spent["whole"], spent["short"], spent["dumps texts"])
    mixed = cpu(spent["dumps"]) / 1e3
    beside = f"text cells, `dumps` {dumps:.3g} µs; a whole call with it, and its step kept: "
    beside += f"{whole:.3g} × more than without; mixed cells, each `str` of it: {cells:.3g} × of "
    beside += f"{mixed:.3g} µs"
    yield Measured("seam.table", texts, beside)
