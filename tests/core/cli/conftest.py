"""A workspace with a small database, and a distribution of tools that a test can trust."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.lab import Lab, make_lab


@pytest.fixture
def config() -> Path:
    """The operator's file of this test; it is not there yet."""
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "toolseam"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "config.toml"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A distribution outside the workspace, not trusted."""
    return make_lab(tmp_path / "lab")


@pytest.fixture
def trusted_lab(lab: Lab, config: Path) -> Lab:
    """The same, trusted, and its write enabled."""
    config.write_text('trust = ["acme-lab"]\nenable = ["writes"]\n')
    return lab


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with one small SQLite database."""
    folder = tmp_path / "work"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "app.sqlite")) as connection, connection:
        connection.executescript(
            "CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT);"
            "INSERT INTO album (title) VALUES ('Kind of Blue'), ('Größenwahn');"
            "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);"
        )
    return folder
