"""Entry points become records with a status; nothing of a plugin is imported here.

What was found is judged by the operator's selection, and what is left by name: a tool's name
belongs to one distribution or, if two claim it, to none until the operator prefers one.
"""

from __future__ import annotations

from toolseam._entrypoints import canonical, scan
from toolseam._selection import near_miss

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from toolseam._entrypoints import Record, Scan, Shadowed
    from toolseam._selection import Selection

FAULTS = frozenset({"conflict", "bad_metadata", "incompatible", "missing_extra", "broken"})
"""Statuses that `strict` turns into a start-up failure; the others are the operator's choice."""


class Discovery:
    """All `records`, sorted by name, the `shadowed` distributions, and `notes` for people.

    A note is a sentence about a setting that names something that is not there.
    """

    __slots__ = ("notes", "records", "shadowed")

    def __init__(
        self,
        records: tuple[Record, ...],
        shadowed: tuple[Shadowed, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.records: Final = records
        self.shadowed: Final = shadowed
        self.notes: Final = notes

    def faults(self) -> tuple[str, ...]:
        """List, one sentence each, what `strict` refuses to start with."""
        wrong = [
            f"{record.name or record.distribution} ({record.distribution} {record.version}): "
            f"{record.status}, {record.detail or record.reason}"
            for record in self.records
            if record.status in FAULTS
        ]
        return (*wrong, *self.notes)


def discover(
    selection: Selection,
    *,
    path: Iterable[str] | None = None,
    folder: str | None = None,
    found: Scan | None = None,
) -> Discovery:
    """Find every entry point and give each the status it has before an import.

    Args:
        selection: the operator's word.
        path: path entries, by default `sys.path`.
        folder: the workspace, whose own path entries never count.
        found: the result of an earlier scan, to make a second set without a second walk.
    """
    found = scan(path, folder=folder, places=selection.places) if found is None else found
    judged = [selection.verdict(record) for record in found.records]
    records = sorted(_settle(judged, selection), key=_order)
    return Discovery(tuple(records), found.shadowed, tuple(_notes(found.records, selection)))


def _order(record: Record) -> tuple[str, str, str, str]:
    return (record.name, record.kind, record.distribution, record.location)


def _settle(records: list[Record], selection: Selection) -> list[Record]:
    """Leave at most one record of a kind and name `found`."""
    claims: dict[tuple[str, str], list[int]] = {}
    for index, record in enumerate(records):
        if record.status == "found":
            claims.setdefault((record.kind, record.name), []).append(index)
    settled = list(records)
    for indexes in claims.values():
        if len(indexes) > 1:
            for index, verdict in zip(
                indexes, _contest([records[index] for index in indexes], selection), strict=True
            ):
                settled[index] = verdict
    return settled


def _contest(claims: list[Record], selection: Selection) -> list[Record]:
    name = claims[0].name
    builtin = next((record for record in claims if record.builtin), None)
    wanted = selection.preferred.get(canonical(name))
    chosen = [record for record in claims if record.distribution == wanted]
    # The builtin is known by its location; another distribution of that name is never `wanted`.
    if not chosen and builtin is not None:
        chosen = [builtin]
    if not chosen and len({record.value for record in claims}) == 1:
        chosen = [min(claims, key=_order)]
    if len({record.value for record in chosen}) != 1:
        return [_conflict(record, claims) for record in claims]
    winner = chosen[0]
    return [record if record is winner else _beaten(record, winner, claims) for record in claims]


def _beaten(record: Record, winner: Record, claims: list[Record]) -> Record:
    if record.value == winner.value:
        detail = f"the same target as in {winner.distribution}"
        return record.with_status("disabled", "same_target", detail)
    if winner.builtin:
        return _conflict(record, claims)
    detail = f"`prefer` gives {record.name} to {winner.distribution}"
    return record.with_status("disabled", "not_preferred", detail)


def _conflict(record: Record, claims: list[Record]) -> Record:
    offers = sorted({claim.distribution for claim in claims})
    rivals = [name for name in offers if name != record.distribution] or offers
    builtin = any(claim.builtin for claim in claims)
    choice = record.distribution if builtin else offers[0]
    detail = (
        f"{' and '.join(offers)} both offer {record.name}; "
        f'pick one in the operator\'s file: prefer = {{ {record.name} = "{choice}" }}'
    )
    if rivals == offers:
        detail = f"{offers[0]} offers {record.name} twice, with different targets"
    return record.with_status("conflict", "builtin" if builtin else "same_name", detail)


def _notes(records: Iterable[Record], selection: Selection) -> list[str]:
    """Say which names of the settings nothing answers to."""
    if not selection.named:
        return []
    known = {canonical(record.name) for record in records if record.name}
    known |= {record.distribution for record in records}
    known.add("toolseam")
    return [
        f"`{setting}` names '{name}', which is not installed{near_miss(name, known)}"
        for setting, name in dict.fromkeys(selection.named)
        if canonical(name) not in known
    ]
