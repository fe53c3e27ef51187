"""What is known of the index: its age, its sources, and what has changed since."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ToolError
from toolseam_builtin import _database as db
from toolseam_builtin._index._build import Built, settings_text
from toolseam_builtin._index._place import FILE, index_folder
from toolseam_builtin._index._reader import open_index
from toolseam_builtin._index._sources import FOLDER, file_mark, folder_guard, indexed_column
from toolseam_builtin._index._texts import KINDS, ending

if TYPE_CHECKING:
    from toolseam_builtin._index._reader import Index
    from toolseam_builtin.workspace import Workspace


@attrs.frozen
class Status:
    """The index of a workspace as it stands.

    `built` is a moment in seconds since 1970, `size` in bytes; `stale` says in words what is no
    longer as it was indexed.
    """

    file: Path
    built: float
    size: int
    places: tuple[Built, ...]
    stale: tuple[str, ...]


def index_file(workspace: Workspace) -> Path:
    """Return where the index of a workspace is, or would be."""
    return index_folder(workspace) / FILE


def index_status(workspace: Workspace) -> Status:
    """Return what is known of the index, compared with the folders and columns of now.

    Raises `ToolError` `unavailable` if there is none that can be used.
    """
    file = index_file(workspace)
    with open_index(workspace, math.inf) as index:
        about = index.about()
        stored = index.places()
        stale: list[str] = []
        if about.settings != settings_text(workspace):
            stale.append("workspace.index names other folders or columns than it did")
        for place in stored:
            stale += _changes(workspace, index, place)
    places = tuple(_built(place) for place in stored)
    return Status(file, about.built, file.stat().st_size, places, tuple(stale))


def age(status: Status) -> float:
    """Return how many seconds ago the index was built."""
    return max(0.0, time.time() - status.built)


def _built(place: dict[str, Any]) -> Built:
    passed_over: dict[str, int] = json.loads(place["passed_over"])
    facts = {name: place[name] for name in ("kind", "name", "sources", "passages", "cut")}
    return Built(**facts, passed_over=passed_over, complete=bool(place["complete"]))


def _changes(workspace: Workspace, index: Index, place: dict[str, Any]) -> list[str]:
    try:
        if place["kind"] == FOLDER:
            return _changed_files(workspace, place["name"], index.marks(place["id"]))
        return _changed_rows(workspace, place)
    except ToolError as failure:
        return [f"{place['name']} cannot be looked up: {failure}"]


def _changed_files(workspace: Workspace, name: str, marks: dict[str, str]) -> list[str]:
    guard = folder_guard(workspace, name)
    now = {each: file_mark(guard, each) for each in guard.walk() if ending(each) in KINDS}
    counts = {
        "new": len(now.keys() - marks.keys()),
        "gone": len(marks.keys() - now.keys()),
        "changed": sum(now[each] != marks[each] for each in now.keys() & marks.keys()),
    }
    said = [f"{count:,} {word}" for word, count in counts.items() if count]
    return [f"{name}: {', '.join(said)}"] if said else []


def _changed_rows(workspace: Workspace, place: dict[str, Any]) -> list[str]:
    with db.open_database(workspace) as database:
        table, _ = indexed_column(database, place["name"])
        now = database.count(db.Query(table, ()))
    passed_over = json.loads(place["passed_over"]).values()
    then = place["sources"] + sum(passed_over)
    if now is None or now == then or not place["complete"]:
        return []
    return [f"{place['name']}: {now:,} records, {then:,} when it was built"]
