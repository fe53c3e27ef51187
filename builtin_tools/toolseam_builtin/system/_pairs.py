"""Answers that say facts by their names: a line, a pair of cells and a typed value each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ToolArtifact
from toolseam_builtin._answer import Answer
from toolseam_builtin._page import Page, excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_VALUE_CHARACTERS = 2_000


@attrs.frozen(eq=False, repr=False)
class Fact:
    """One fact: its name, its text, and its value for the host program (the text if unsaid)."""

    name: str
    text: str
    value: object = None


def told(
    label: str,
    facts: Iterable[Fact],
    *,
    heading: str,
    warnings: Iterable[str] = (),
    more: str = "",
) -> Answer:
    """Say facts in their order.

    Args:
        label: what the artifact shows.
        facts: at most as many as a page holds are said.
        heading: the first line.
        warnings: said below, each in a line of its own, and to the host program.
        more: how to get the rest, said where not all of them fit; `{shown}` is how many did.
    """
    facts = list(facts)
    page = page_of(facts)
    shown = len(page.lines)
    notes = [more.format(shown=shown)] if more and shown < len(facts) else []
    warned = [one_line(warning) for warning in warnings]
    return answer_of(label, page, heading, notes, warned)


def page_of(facts: Iterable[Fact]) -> Page:
    """Fill a page with as many facts as it holds."""
    page = Page()
    for fact in facts:
        text = excerpt(one_line(fact.text), _VALUE_CHARACTERS)
        value = text if fact.value is None else fact.value
        if not page.take([f"{fact.name}: {text}"], [fact.name, text], [fact.name, value]):
            break
    return page


def answer_of(
    label: str,
    page: Page,
    heading: str,
    notes: Sequence[str] = (),
    warnings: Sequence[str] = (),
    known: Mapping[str, object] | None = None,
) -> Answer:
    """Say a page of facts: heading above, notes and warnings below, `known` beside its rows."""
    lines = [heading, *page.lines, *notes, *(f"Warning: {warning}" for warning in warnings)]
    pairs = [(name, text) for name, text in page.cells]
    data: dict[str, object] = {**(known or {}), "columns": ["name", "value"], "rows": page.rows}
    return Answer("\n".join(lines), (ToolArtifact.key_value(label, pairs),), data, list(warnings))
