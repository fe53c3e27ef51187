"""Records of what is installed, as the commands show them."""

from __future__ import annotations

import os
import sys

from toolseam._discovery import Discovery, discover
from toolseam._selection import read_selection
from toolseam.cli._terminal import Shown, note, paint, say

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolseam._binding import BoundTool
    from toolseam._entrypoints import Record
    from toolseam._selection import Selection

HOST_PLUGINS = "toolseam.plugins"

_STYLES = {
    "ready": "green",
    "found": "green",
    "disabled": "dim",
    "untrusted": "yellow",
}


class Listing:
    """What was found, the selection that judged it, and each loaded tool's group."""

    __slots__ = ("discovery", "groups", "selection")

    def __init__(
        self, discovery: Discovery, selection: Selection, groups: Mapping[str, str]
    ) -> None:
        self.discovery = discovery
        self.selection = selection
        self.groups = groups

    def remarks(self) -> list[str]:
        """Say what is not a record: shadowed distributions, names nothing answers to."""
        shadowed = [
            f"{each.distribution} {each.version} in {each.location} is shadowed by the one in"
            f" {each.kept}"
            for each in self.discovery.shadowed
        ]
        ignored = [f"ignored: {ignored_words(*pair)}" for pair in self.selection.ignored]
        return [*shadowed, *self.discovery.notes, *ignored]


def look(*, load: bool, left: Iterable[str] = ()) -> Listing:
    """Find every entry point for the current folder; `load` imports those that may be.

    `left` are entries of the workspace that were taken off the path: what offers tools there is
    listed, as untrusted.
    """
    folder = os.getcwd()  # noqa: PTH109 - `pathlib` costs a bare start
    selection = read_selection(folder)
    found = discover(selection, path=[*sys.path, *left], folder=folder)
    if not load:
        return Listing(found, selection, {})
    records, groups = _loaded(found.records)
    return Listing(Discovery(records, found.shadowed, found.notes), selection, groups)


def _loaded(records: Iterable[Record]) -> tuple[tuple[Record, ...], dict[str, str]]:
    """Import what may be imported, each under guard, and read the specifications."""
    from toolseam._registry import Registry

    records = list(records)
    registry = Registry([r for r in records if r.kind == "tool"], (), _as_it_is)
    groups = {tool.name: tool.spec.group for tool in registry.tools()}
    judged = [*registry.records, *(_judged(r) for r in records if r.kind != "tool")]
    return in_order(judged), groups


def _judged(found: Record) -> Record:
    """Load a host plugin that was named, and have its hooks verified."""
    from toolseam._errors import LoadError
    from toolseam._loading import load

    record, plugin = load(found)
    if plugin is None:
        return record
    from toolseam._wrappers import HostPlugins  # imports asyncio: only where there is one

    try:
        HostPlugins().add(plugin, record.distribution)
    except LoadError as error:
        return record.with_status("broken", "refused", str(error))
    return record


def in_order(records: Iterable[Record]) -> tuple[Record, ...]:
    """Sort records as discovery does: by name, then by where they come from."""
    return tuple(sorted(records, key=lambda r: (r.name, r.kind, r.distribution, r.location)))


def _as_it_is(tool: BoundTool) -> None:
    """Leave a tool's claims alone: a listing decides nothing."""


def ignored_words(file: str, words: str) -> str:
    """Name file and key; of a file that cannot be read at all, `words` are the whole complaint."""
    if words.startswith(file):
        return words
    return f"{file}: {words}: a workspace may not say this"


def group_of(record: Record, groups: Mapping[str, str]) -> str | None:
    """Return a tool's group, `toolseam.plugins` for a host plugin, None before it is known."""
    if record.kind == "plugin":
        return HOST_PLUGINS
    if record.name in groups and record.status == "ready":
        return groups[record.name]
    return record.value.split(".")[1] if record.builtin else None


def as_json(listing: Listing) -> list[dict[str, str | None]]:
    """Return the records as `list --json` prints them."""
    return [
        {
            "name": record.name,
            "status": record.status,
            "reason": record.reason,
            "distribution": record.distribution,
            "version": record.version,
            "group": group_of(record, listing.groups),
        }
        for record in listing.discovery.records
    ]


def why(record: Record) -> str:
    """Say the reason of a status: the slug, and the sentence that explains it."""
    return ": ".join(part for part in (record.reason, record.detail) if part)


def paint_status(text: str) -> Shown:
    """Colour a status by what it means."""
    return paint(text, _STYLES.get(text.strip(), "red"))


def say_remarks(listing: Listing, *, aside: bool) -> None:
    """Print the remarks below the records, or beside them on standard error."""
    for remark in listing.remarks():
        if aside:
            note("note: ", remark)
        else:
            say(paint("note: ", "yellow"), remark)
