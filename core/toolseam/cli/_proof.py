"""`toolseam check --egress`: sinks by canaries, and whether one came out anywhere."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from toolseam.cli._terminal import (
    Shown,
    columns,
    complain,
    on_terminal,
    one_line,
    paint,
    say,
    say_json,
)

if TYPE_CHECKING:
    from toolseam_plugins.conformance._egress import Cell

_OUT, _STAYS = "OUT", "stays"
_CRASHED = 3
_WHY = 300
_OUT_MARK, _STAYS_MARK = "X", "·"


def prove(*, as_json: bool) -> int:
    """Drive every sink with what must stay, print what came of it.

    Returns 1 if anything came out, and 3 where a sink could not be driven: then nothing is proved.
    """
    from toolseam.cli._check import progress
    from toolseam_plugins.conformance import egress

    driven: list[str] = []
    with redirect_stdout(sys.stderr), progress() as show:

        def heard(sink: str) -> None:
            driven.append(sink)
            if show is not None:
                show(sink)

        try:
            cells = egress(heard=heard)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any SDK's own, in one sentence
            fault: BaseException | None = error
            cells = ()
        else:
            fault = None
    if fault is not None:
        why = one_line(f"{type(fault).__name__}: {fault}")[:_WHY]
        complain(f"the sink {driven[-1]} could not be driven, so nothing is proved: {why}")
        return _CRASHED
    out = [cell for cell in cells if cell.hit]
    if as_json:
        say_json(_as_json(cells))
    elif on_terminal():
        _for_people(cells)
    else:
        for cell in cells:
            word = _OUT if cell.hit else _STAYS
            say(Shown("\t".join(one_line(text) for text in (cell.sink, cell.place, word))))
    if not as_json:
        sinks, places = _names(cells)
        line = f"{len(sinks)} sinks, {len(places)} canaries: {len(out)} came out"
        say("\n", paint(line, "bold", "red" if out else "green"))
    return 1 if out or not cells else 0


def _as_json(cells: tuple[Cell, ...]) -> dict[str, Any]:
    sinks, places = _names(cells)
    return {
        "ok": bool(cells) and not any(cell.hit for cell in cells),
        "sinks": sinks,
        "canaries": places,
        "cells": [{"sink": cell.sink, "canary": cell.place, "out": cell.hit} for cell in cells],
    }


def _for_people(cells: tuple[Cell, ...]) -> None:
    """Show a row a sink; the canaries are numbered, since their names would not fit above."""
    from toolseam.cli._table import table

    sinks, places = _names(cells)
    out = {(cell.sink, cell.place) for cell in cells if cell.hit}
    numbers = [str(number) for number in range(1, len(places) + 1)]
    rows = [
        (
            sink,
            *(_OUT_MARK if (sink, place) in out else _STAYS_MARK for place in places),
            ", ".join(place for place in places if (sink, place) in out) or "nothing",
        )
        for sink in sinks
    ]
    say(table(("SINK", *numbers, "CAME OUT"), rows, width=columns(), style=_styled))
    told = ", ".join(f"{number} {place}" for number, place in zip(numbers, places, strict=True))
    say("\n", paint(one_line(told), "dim"))


def _styled(_: int, text: str) -> Shown:
    return paint(text, "bold", "red") if text.strip() == _OUT_MARK else Shown(text)


def _names(cells: tuple[Cell, ...]) -> tuple[list[str], list[str]]:
    sinks = dict.fromkeys(cell.sink for cell in cells)
    return list(sinks), list(dict.fromkeys(cell.place for cell in cells))
