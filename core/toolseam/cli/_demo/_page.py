"""How the demo looks: numbered scenes, running text, and two channels side by side."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from toolseam.cli._table import measure, wrapped
from toolseam.cli._terminal import Shown, columns, joined, on_terminal, one_line, paint, safe, say

if TYPE_CHECKING:
    from collections.abc import Iterator

_WIDEST = 100
_NARROWEST = 60
_BAR = " │ "


def width() -> int:
    """Return how many columns the demo takes: at most 100."""
    return max(_NARROWEST, min(_WIDEST, columns())) if on_terminal() else _WIDEST


def scene(number: int, title: str) -> None:
    """Begin a scene."""
    start = f"── {number}  {title} "
    say("\n", paint(start + "─" * (width() - measure(start)), "bold", "cyan"), "\n")


def prose(text: str) -> None:
    """Write running text."""
    for line in wrapped(" ".join(text.split()), width()):
        say(line)


def called(what: str) -> None:
    """Show a call as it is made."""
    for number, line in enumerate(wrapped(what, width() - 2)):
        say(paint("> " if number == 0 else "  ", "dim"), paint(line, "bold"))


def answered(text: str, *, well: bool) -> None:
    """Show what a provider is told."""
    for line in safe(text).splitlines():
        for part in wrapped(line, width() - 2):
            say("  ", paint(part, "green" if well else "red"))


def side_by_side(left: tuple[str, str], right: tuple[str, str]) -> None:
    """Draw two titled texts beside each other; either wraps within its half."""
    half = (width() - len(_BAR)) // 2
    rest = width() - len(_BAR) - half
    say(_pair(paint(left[0], "bold"), paint(right[0], "bold"), half - measure(left[0])))
    say(paint("─" * (half + 1) + "┼" + "─" * (rest + 1), "dim"))
    for one, other in zip_longest(_lines(left[1], half), _lines(right[1], rest), fillvalue=""):
        say(_pair(one, other, half - measure(one)))


def _pair(one: str, other: str, blank: int) -> Shown:
    bar = _BAR if other else _BAR.rstrip()
    return joined(one, " " * blank, paint(bar, "dim"), other)


def _lines(text: str, size: int) -> Iterator[str]:
    for line in safe(text).splitlines():
        yield from wrapped(one_line(line), size)
