"""The demo's database: pages as a tree, their history, files, events and people."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TABLES = """
CREATE TABLE pages (
  id INTEGER PRIMARY KEY,
  parent_id INTEGER REFERENCES pages (id),
  position INTEGER NOT NULL DEFAULT 0,
  title TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  language TEXT NOT NULL DEFAULT 'en',
  translation_of INTEGER REFERENCES pages (id),
  draft INTEGER NOT NULL DEFAULT 1 CHECK (draft IN (0, 1)),
  body TEXT NOT NULL DEFAULT '',
  updated_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX pages_parent ON pages (parent_id, position);
CREATE TABLE pages_history (
  id INTEGER PRIMARY KEY,
  page_id INTEGER NOT NULL REFERENCES pages (id),
  field TEXT NOT NULL,
  old TEXT,
  new TEXT,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
);
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  alternative_text TEXT,
  page_id INTEGER REFERENCES pages (id)
);
CREATE TABLE files_history (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files (id),
  field TEXT NOT NULL,
  old TEXT,
  new TEXT,
  changed_by TEXT NOT NULL,
  changed_at TEXT NOT NULL
);
CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  starts_at TEXT NOT NULL,
  price TEXT NOT NULL,
  page_id INTEGER REFERENCES pages (id),
  details TEXT
);
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  is_admin INTEGER NOT NULL DEFAULT 0,
  last_login TEXT
);
CREATE TABLE teams (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL
);
CREATE VIEW published AS SELECT id, title, slug, language FROM pages WHERE NOT draft;
"""

_PAGES = (
    (1, None, 0, "Harbour Museum", "home", "en", None, 0, "Ships, and the people who built them."),
    (2, 1, 1, "Plan your visit", "visit", "en", None, 0, "Tuesday to Sunday, 10:00 to 18:00."),
    (3, 2, 1, "Getting here", "getting-here", "en", None, 0, "Tram 4 stops at the old crane."),
    (4, 2, 2, "Tickets", "tickets", "en", None, 0, "Adults 12.50, children free."),
    (5, 1, 2, "Exhibitions", "exhibitions", "en", None, 0, "Three halls and a slipway."),
    (6, 5, 1, "The last riveters", "riveters", "en", None, 0, "Photographs from 1911 to 1934."),
    (7, 5, 2, "Charts of the North Sea", "charts", "en", None, 1, "Opens in autumn."),
    (8, 1, 3, "About us", "about", "en", None, 0, "Run by volunteers since 1987."),
    (9, None, 1, "Hafenmuseum", "start", "de", 1, 0, "Schiffe, und wer sie gebaut hat."),
    (10, 9, 1, "Ihr Besuch", "besuch", "de", 2, 0, "Dienstag bis Sonntag, 10 bis 18 Uhr."),
    (11, 9, 2, "Seekarten", "seekarten", "de", 7, 1, "Ab Herbst."),
)
_HISTORY = (
    (2, "body", "Daily, 10:00 to 18:00.", "Tuesday to Sunday, 10:00 to 18:00.", "ada"),
    (7, "title", "Charts", "Charts of the North Sea", "grace"),
    (8, "draft", "1", "0", "ada"),
)
_FILES = (
    ("harbour.svg", "The harbour", "A red sail on blue water", 1),
    ("opening-hours.txt", "Opening hours", None, 2),
    ("riveters-1911.jpg", "Riveters at the slipway", None, 6),
)
_EVENTS = (
    (
        "Night at the museum",
        "2026-03-21T19:00:00+01:00",
        "18.00",
        5,
        '{"places": 120, "halls": [1]}',
    ),
    ("Knots for beginners", "2026-03-28T14:00:00+01:00", "6.50", 8, '{"places": "12", "age": 8}'),
    ("Charts: the opening", "2026-09-12T18:00:00+02:00", "14,00", 7, None),
)
_USERS = (
    ("Ada", "ada@museum.example", "made-up-hash-1", 1, "2026-03-15T09:12:44+01:00"),
    ("Grace", "grace@museum.example", "made-up-hash-2", 0, None),
)
_TEAMS = (
    ("editors", "Write pages and events."),
    ("front desk", "Sell tickets, see bookings."),
)
_WRITTEN = "2026-03-15T10:00:00+01:00"


def write_database(file: Path) -> None:
    """Make the database; `file` must not be there."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(_TABLES)
        connection.executemany(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*page, _WRITTEN) for page in _PAGES],
        )
        connection.executemany(
            "INSERT INTO pages_history (page_id, field, old, new, changed_by, changed_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [(*change, _WRITTEN) for change in _HISTORY],
        )
        connection.executemany(
            "INSERT INTO files (path, title, alternative_text, page_id) VALUES (?, ?, ?, ?)", _FILES
        )
        connection.executemany(
            "INSERT INTO events (title, starts_at, price, page_id, details) VALUES (?, ?, ?, ?, ?)",
            _EVENTS,
        )
        connection.executemany(
            "INSERT INTO users (name, email, password_hash, is_admin, last_login)"
            " VALUES (?, ?, ?, ?, ?)",
            _USERS,
        )
        connection.executemany("INSERT INTO teams (name, description) VALUES (?, ?)", _TEAMS)
