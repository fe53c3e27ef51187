"""From a question to evidence: words, hits, and whether each may still be shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._index._access import Access
from toolseam_builtin._index._build import settings_text
from toolseam_builtin._index._reader import Stored, open_index
from toolseam_builtin._index._words import place_of, wanted_words
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from toolseam_builtin._index._reader import About, Hit, Index
    from toolseam_builtin._index._words import Wanted
    from toolseam_builtin.workspace import Workspace

_MARGIN = 0.3
_DAY = 86_400
_COMMON = "it has only words that are in nearly every text"
_NO_WORDS = "it has no words"


@attrs.frozen
class Found:
    """One source with the passage that fits best; `place` is where that shows a word."""

    source_id: str
    title: str
    text: str
    place: int
    score: float
    changed: bool


@attrs.frozen
class Evidence:
    """What a question came to.

    `total` counts the sources with any of the words, None where counting took too long;
    `silence` says why there were no words to look for; `built` is when the index was.
    """

    built: str
    words: Sequence[str]
    hits: Sequence[Found] = ()
    total: int | None = 0
    silence: str = ""
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()


@attrs.frozen
class Fetched:
    """One source in full."""

    source: Stored
    text: str
    changed: bool
    notes: Sequence[str]


def find_evidence(workspace: Workspace, question: str, limit: int, end: float) -> Evidence:
    """Look a question up in the index.

    Args:
        workspace: whose index, settings and gate.
        question: in plain language; nothing in it is syntax.
        limit: how many sources at most.
        end: a moment of the monotonic clock.

    Raises `ToolError`: `unavailable` without an index, `timeout` where it takes too long.
    """
    with open_index(workspace, end) as index, Access(workspace, end + _MARGIN) as access:
        about = index.about()
        wanted = wanted_words(question)
        built, notes = _age(about), _notes(workspace, about)
        if not wanted.terms:
            silence = _COMMON if wanted.spoken else _NO_WORDS
            return Evidence(built, (), silence=silence, notes=notes)
        held = index.places()
        places = access.places(held)
        kept: list[Found] = []
        gone = 0
        hits, whole = index.search(wanted, places) if places else ([], True)
        for hit in hits:
            if len(kept) == limit:
                break
            if access.allows(hit.source):
                kept.append(_found(hit, wanted, changed=access.changed(hit.source)))
            else:
                gone += 1
        total = _total(index, wanted, places)
    if not whole:
        access.faults.append("stopped at the time limit: only texts with all words are here.")
    if gone:
        notes.append(f"{gone} sources are left out: they are gone, or may not be read any more.")
    notes += [
        f"{one_line(place['name'])} has more texts than the {place['sources']:,} that an index"
        " takes of it: the others are not found."
        for place in held
        if place["id"] in places and not place["complete"]
    ]
    left = None if total is None else max(total - gone, len(kept))
    return Evidence(built, wanted.terms, kept, left, notes=notes, warnings=access.faults)


def fetch_source(workspace: Workspace, source_id: str, end: float) -> Fetched:
    """Return the text of a source that may be read now.

    Raises `ToolError`: `not_found` with one text for what is not in the index, is gone, or may not
    be read any more; `unavailable` without an index.
    """
    with open_index(workspace, end) as index, Access(workspace, end + _MARGIN) as access:
        stored = index.source(source_id)
        places = access.places(index.places())
        if stored is None or stored[0].place not in places or not access.allows(stored[0]):
            raise ToolError("No source of the index has this id.", ErrorCode.NOT_FOUND)
        notes = _notes(workspace, index.about())
        return Fetched(*stored, access.changed(stored[0]), notes)


def _found(hit: Hit, wanted: Wanted, *, changed: bool) -> Found:
    title = hit.source.title
    if hit.heading and hit.heading != title:
        title = f"{title} / {hit.heading}"
    text = " ".join(hit.text.split())
    place = place_of(text, wanted.terms)
    return Found(hit.source.source_id, title, text, place, hit.score, changed)


def _total(index: Index, wanted: Wanted, places: list[int]) -> int | None:
    with suppress(ToolError):  # it says how much there is, and nothing hangs on it
        return index.count(wanted, places)
    return None


def _age(about: About) -> str:
    return datetime.fromtimestamp(about.built, UTC).isoformat(timespec="seconds")


def _notes(workspace: Workspace, about: About) -> list[str]:
    built = datetime.fromtimestamp(about.built, UTC)
    days = int((time.time() - about.built) // _DAY)
    old = f", {days} day{'' if days == 1 else 's'} ago" if days else ""
    notes = [f"The index was built at {built:%Y-%m-%d %H:%M} UTC{old}."]
    if about.settings != settings_text(workspace):
        notes.append("Its settings have changed since; build it anew with `toolseam index build`.")
    return notes
