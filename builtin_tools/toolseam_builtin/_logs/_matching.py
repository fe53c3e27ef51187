"""Choosing records: by level, by logger or file, by what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._logs._heads import LEVELS
from toolseam_builtin._logs._records import Record
from toolseam_builtin._logs._shown import searching, shown_source, shown_text

if TYPE_CHECKING:
    from collections.abc import Iterable


@attrs.frozen
class Matching:
    """The newest matching records with their shown text, and how many match in all.

    `levelless` counts records that a wanted level left out because they have none.
    """

    records: list[tuple[Record, str]]
    total: int
    levelless: int


def matching(
    records: Iterable[Record],
    *,
    limit: int,
    level: str | None = None,
    source: str | None = None,
    search: str | None = None,
) -> Matching:
    """Keep the first records that match, and count all of them.

    Args:
        records: the newest first.
        limit: how many are kept.
        level: the lowest that is wanted.
        source: a logger, then those below it match too, or a file.
        search: what the shown text holds, whatever the case.
    """
    wanted = LEVELS[LEVELS.index(level) :] if level is not None else None
    holds = searching(search)
    kept: list[tuple[Record, str]] = []
    total = levelless = 0
    judged: dict[tuple[str, str | None], bool] = {}
    for record in records:
        if source is not None:
            origin = record.file, record.head.source
            if origin not in judged:
                judged[origin] = of_source(record, source)
            if not judged[origin]:
                continue
        if wanted is not None and record.head.level not in wanted:
            levelless += record.head.level is None
            continue
        if holds is not None and not holds(record):
            continue
        total += 1
        if len(kept) < limit:
            kept.append((record, shown_text(record)))
    return Matching(kept, total, levelless)


def of_source(record: Record, wanted: str) -> bool:
    """Tell whether a record is of a logger or one below it, or of a file or what it rotated to."""
    wanted = wanted.strip().casefold()
    source = shown_source(record).casefold()
    if source == wanted or source.startswith(f"{wanted}."):
        return True
    names = (record.file.casefold(), record.log.casefold())
    return any(name == wanted or name.endswith(f"/{wanted}") for name in names)
