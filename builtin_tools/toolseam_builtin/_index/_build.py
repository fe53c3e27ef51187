"""Building the index: into a new file, which then takes the old one's place."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._index._place import FILE, private_folder
from toolseam_builtin._index._sources import MOST, places_of
from toolseam_builtin._index._texts import passages
from toolseam_builtin._index._words import spread

if TYPE_CHECKING:
    from toolseam_builtin._index._sources import Place, Source
    from toolseam_builtin.workspace import Workspace

VERSION = 1
APPLICATION = 0x7453_6978

_PREFIX = ".building-"
_STALE_SECONDS = 86_400
_TABLES = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE about (folder TEXT, settings TEXT, built REAL);
CREATE TABLE place (
  id INTEGER PRIMARY KEY, kind TEXT, name TEXT, sources INTEGER, passages INTEGER, cut INTEGER,
  passed_over TEXT, complete INTEGER
);
CREATE TABLE source (
  id INTEGER PRIMARY KEY, place INTEGER, source_id TEXT UNIQUE, key TEXT, title TEXT, mark TEXT,
  cut INTEGER, text TEXT
);
CREATE TABLE passage (
  id INTEGER PRIMARY KEY, source INTEGER, heading TEXT, start INTEGER, stop INTEGER
);
CREATE VIRTUAL TABLE words USING fts5 (
  title, heading, body, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
"""


@attrs.frozen
class Built:
    """What a place came to; `complete` is False where it has more sources than are taken."""

    kind: str
    name: str
    sources: int
    passages: int
    cut: int
    passed_over: dict[str, int]
    complete: bool


def build_index(workspace: Workspace) -> list[Built]:
    """Build the index of a workspace anew and return what each folder and column came to.

    Until it is done the old one answers; one that fails leaves it as it is.

    Raises `ToolError`: `unavailable` where nothing is configured, SQLite has no FTS5, or the
    folder cannot be written, and whatever refuses a folder or a column.
    """
    places = places_of(workspace)
    if not places:
        raise ToolError("workspace.index names neither folders nor columns.", ErrorCode.UNAVAILABLE)
    folder = private_folder(workspace)
    _sweep(folder)
    number, name = tempfile.mkstemp(dir=folder, prefix=_PREFIX)
    os.close(number)
    file = Path(name)
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            built = _fill(connection, workspace, places)
        file.replace(folder / FILE)
    except (OSError, sqlite3.Error) as error:
        lacking = "fts5" in str(error)
        message = "This SQLite has no FTS5." if lacking else "The index cannot be written."
        raise ToolError(message, ErrorCode.UNAVAILABLE) from None
    finally:
        file.unlink(missing_ok=True)
    return built


def settings_text(workspace: Workspace) -> str:
    """Return what decides of the sources, to be compared with what the index was built from."""
    return json.dumps([[place.kind, place.name] for place in places_of(workspace)])


def _fill(connection: sqlite3.Connection, workspace: Workspace, places: list[Place]) -> list[Built]:
    connection.executescript(_TABLES)
    built = [_add(connection, workspace, number, place) for number, place in enumerate(places)]
    connection.execute("CREATE INDEX source_place ON source (place)")
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    about = (str(workspace.place), settings_text(workspace), time.time())
    connection.execute("INSERT INTO about VALUES (?, ?, ?)", about)
    connection.execute("COMMIT")
    return built


def _add(connection: sqlite3.Connection, workspace: Workspace, number: int, place: Place) -> Built:
    found = place.sources(workspace)
    sources = parts = cut = 0
    for source in islice(found, MOST):
        added = _add_source(connection, number, source)
        if added is None:
            place.left["named twice"] += 1
            continue
        sources += 1
        parts += added
        cut += source.cut
    complete = next(found, None) is None
    built = Built(place.kind, place.name, sources, parts, cut, dict(place.left), complete)
    row = (*attrs.astuple(built)[:-2], json.dumps(built.passed_over), complete)
    connection.execute("INSERT INTO place VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (number, *row))
    return built


def _add_source(connection: sqlite3.Connection, place: int, source: Source) -> int | None:
    """Add one text with its passages; None if its id is there already."""
    plain = source.plain
    row = (place, source.source_id, source.key, plain.title, source.mark, source.cut, plain.text)
    inserted = connection.execute(
        "INSERT OR IGNORE INTO source (place, source_id, key, title, mark, cut, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    if not inserted.rowcount:
        return None
    parts = passages(plain)
    for part in parts:
        passage = connection.execute(
            "INSERT INTO passage (source, heading, start, stop) VALUES (?, ?, ?, ?)",
            (inserted.lastrowid, part.heading, part.start, part.end),
        ).lastrowid
        words = (plain.title, part.heading, plain.text[part.start : part.end])
        connection.execute(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
            (passage, *map(spread, words)),
        )
    return len(parts)


def _sweep(folder: Path) -> None:
    """Remove what a build that was killed long ago left behind."""
    for left in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another build may be faster
            if time.time() - left.lstat().st_mtime > _STALE_SECONDS:
                left.unlink()
