"""How much work it is to prepare a view, judged before SQLite does it.

Views and common table expressions that name each other twice double the work with each level, and
SQLite can be stopped while it runs a statement but not while it prepares one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_builtin._database._ddl import Token, closing, fold, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT = 500
"""The largest number of SELECTs that one view may stand for."""

_NAMES = frozenset({"word", "quoted", "string"})


def expansion(view: str, texts: Mapping[str, str]) -> int:
    """Return how many SELECTs a view stands for, at most `LIMIT` + 1.

    Args:
        view: the folded name of the view.
        texts: the text of every view by folded name.
    """
    return _Estimate(texts).view(view)


class _Estimate:
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._known: dict[str, int] = {}

    def view(self, name: str) -> int:
        if name not in self._known:
            # A view that names itself fails in SQLite; here it must only come to an end.
            self._known[name] = LIMIT + 1
            self._known[name] = _Text(tokens(self._texts[name]), self).total()
        return self._known[name]

    def is_view(self, name: str) -> bool:
        return name in self._texts


class _Text:
    """One view's text: its own definitions (`name AS (...)`) in whatever order, then the rest."""

    def __init__(self, found: list[Token], estimate: _Estimate) -> None:
        self._found = found
        self._estimate = estimate
        self._bodies: dict[int, int] = {}
        self._named: dict[str, list[int]] = {}
        self._known: dict[str, int] = {}
        for index in range(len(found)):
            opening = _definition(found, index)
            if opening is not None:
                self._bodies[opening] = closing(found, opening)
                self._named.setdefault(_name(found[index]), []).append(opening)

    def total(self) -> int:
        # Behind CREATE VIEW stands the view's own name, up to the first AS.
        start = next((i for i, t in enumerate(self._found) if fold(t.text) == "as"), 0)
        return self._span(start + 1, len(self._found))

    def _span(self, start: int, end: int) -> int:
        total, index = 1, start
        while index < end and total <= LIMIT:
            name = _name(self._found[index])
            if index in self._bodies:
                index = self._bodies[index]
            elif name and _definition(self._found, index) is None:
                total += self._definition(name) + (
                    self._estimate.view(name) if self._estimate.is_view(name) else 0
                )
            index += 1
        return min(total, LIMIT + 1)

    def _definition(self, name: str) -> int:
        if name not in self._known:
            # Inside its own definition a recursive name stands for a row, not for the text.
            self._known[name] = 1
            openings = self._named.get(name, [])
            self._known[name] = sum(self._span(i + 1, self._bodies[i]) for i in openings)
        return self._known[name]


def _name(token: Token) -> str:
    return fold(token.name) if token.kind in _NAMES else ""


def _definition(found: list[Token], index: int) -> int | None:
    """Return where the parenthesis of `name [(columns)] AS [...] (` stands, if it is that."""
    if found[index].kind not in _NAMES:
        return None
    place, end = index + 1, len(found)
    if place < end and found[place].text == "(":
        place = closing(found, place) + 1
    if place >= end or fold(found[place].text) != "as":
        return None
    place += 1
    while place < end and fold(found[place].text) in {"not", "materialized"}:
        place += 1
    return place if place < end and found[place].text == "(" else None
