"""A site with pages that a tool may rename, an operator who allows it, and a model on loopback."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import attrs

from support.provider_recorder import Recorder

RENAME = '{"table": "pages", "key": 7, "values": {"title": "Tides"}}'
_OPERATOR = """\
trust = ["audit"]
enable = ["update_record_metadata"]

[tables]
allow = ["pages", "pages_history"]

[providers.openai]
base_url = "{url}/v1"
"""
_WORKSPACE = """\
[workspace.tables.pages]
label = "title"
editable = ["title"]
history = "pages_history"
"""
_SITE = """\
CREATE TABLE pages (id INTEGER PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE pages_history (
    id INTEGER PRIMARY KEY, page_id INTEGER REFERENCES pages (id), field TEXT, old TEXT,
    new TEXT, changed_by TEXT
);
INSERT INTO pages VALUES (7, 'Untitled');
"""


@attrs.frozen
class Museum:
    """The folder, and the environment in which a program finds model and settings."""

    folder: Path
    environ: dict[str, str]

    @property
    def title(self) -> str:
        """The title of page 7 now."""
        with closing(sqlite3.connect(self.folder / "site.sqlite")) as connection:
            found: str = connection.execute("SELECT title FROM pages WHERE id = 7").fetchone()[0]
        return found


def museum(folder: Path, recorder: Recorder) -> Museum:
    """Make the site in a folder, and the settings that lead to the recorder."""
    with closing(sqlite3.connect(folder / "site.sqlite")) as connection:
        connection.executescript(_SITE)
    (folder / "toolseam.toml").write_text(_WORKSPACE)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "toolseam" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(_OPERATOR.format(url=recorder.url))
    return Museum(folder, {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{recorder.url}/v1"})
