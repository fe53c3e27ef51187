"""Finding a text in cells: the database proposes, what an answer would show decides.

A pattern finds every cell that could hold the text, and more. Whether it is a hit is judged on the
masked text, outside of its masks: else the number of hits would tell what they cover.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from toolseam.guards import MASK, mask_secrets
from toolseam_builtin._database._cells import begins_json, mask_json
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_builtin._database._model import Column, Excerpt

SEARCH_CHARACTERS = 262_144
"""How much text of a cell is searched."""

_EXCERPT = 120
_BEFORE = _EXCERPT // 3
_TORN = 2_000
_NO_TEXT = re.compile(
    r"int(?!erval)|real|floa|doub|num|dec|bool|blob|bytea|date|time|bit|money|oid|serial"
)


def holds_text(column: Column) -> bool:
    """Tell by its type whether a column may hold text; one without a type may."""
    return _NO_TEXT.search(column.type.casefold()) is None


def like_pattern(text: str, most: int = 1_000) -> str:
    r"""Return a pattern of LIKE, with `\` as its escape, that finds at least what holds the text.

    Letters beyond ASCII stand for any character, since engines differ in what they fold.

    Args:
        text: what is looked for; what is behind a NUL is left to the judge.
        most: how many bytes the pattern may have; what is beyond is left to the judge.
    """
    parts: list[str] = []
    size = 2
    for letter in text.partition("\0")[0]:
        foreign = not letter.isascii() and letter.lower() != letter.upper()
        part = "_" if foreign else f"\\{letter}" if letter in "%_\\" else letter
        size += len(part.encode("utf-8", "replace"))
        if size > most:
            break
        parts.append(part)
    return f"%{''.join(parts)}%"


def hit(cell: Excerpt, text: str) -> str | None:
    """Return an excerpt of a cell round the place where the text is shown, `None` if nowhere.

    Args:
        cell: at least `SEARCH_CHARACTERS` of it.
        text: what is looked for, whatever its case.
    """
    wanted = re.compile(re.escape(text), re.IGNORECASE)
    # Most proposals are hits, but masking costs more than looking.
    if wanted.search(cell.text) is None:
        return None
    cut = cell.total > len(cell.text)
    if cut and begins_json(cell.text):
        return None
    structured = mask_json(cell.text)
    shown, _ = mask_secrets(structured)
    if cut:
        # A secret that was torn in two has lost its shape.
        shown = shown[:-_TORN]
    if structured != cell.text and not _told(structured, cell.text, wanted):
        return None
    place = next(_outside(shown, wanted), None)
    if place is None:
        return None
    start, end = place
    middle = start - max(0, _EXCERPT - (end - start)) // 2 + _BEFORE
    return excerpt(one_line(shown), _EXCERPT, middle, total=cell.total if cut else None)


def _outside(shown: str, wanted: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Give the places of the text between the masks."""
    start = 0
    for piece in shown.split(MASK):
        for match in wanted.finditer(piece):
            yield start + match.start(), start + match.end()
        start += len(piece) + len(MASK)


def _told(shown: str, stored: str, wanted: re.Pattern[str]) -> bool:
    """Tell whether a key or value that is shown as it is stored holds the text.

    Masked JSON is spelled anew; what only the new spelling holds was proposed for another reason.
    """
    try:
        leaves = _leaves(json.loads(shown))
    except ValueError:
        return False
    return any(MASK not in leaf and wanted.search(leaf) and leaf in stored for leaf in leaves)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in cast("dict[str, object]", value).items():
            yield key
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _leaves(each)
    else:
        yield value if isinstance(value, str) else json.dumps(value)
