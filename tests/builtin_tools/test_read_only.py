"""A builtin that reads changes nothing: bytes, times and catalog are compared before and after."""

import hashlib
import os
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask
from support.demo import open_demo, opened_demo
from support.postgres import Postgres, postgres
from toolseam.cli._demo._everything import Everything, questions
from toolseam.cli._demo._questions import QUESTIONS
from toolseam_builtin.workspace import AccountSettings, TableSettings, Workspace

__all__ = ["open_demo", "opened_demo", "postgres"]

TARGETS = {tool: f"toolseam_builtin.{group}.{tool}" for group, tool in questions()}
READERS = [(group, tool) for group, tool in questions() if group != "editing"]
WRITERS = list(QUESTIONS["editing"])
ON_A_SERVER: dict[str, dict[str, Any]] = {
    "get_record_content": {"table": "page", "key": "1"},
    "get_record_history": {"table": "page", "key": "1"},
    "read_records": {"table": "page"},
    "count_records": {"table": "page", "group_by": "title"},
    "search_records": {"query": "home"},
    "list_tables": {},
    "get_table_schema": {"table": "page"},
    "get_json_column_schema": {"table": "page", "column": "meta"},
    "validate_schema": {},
    "get_record_tree": {"table": "page"},
    "search_files": {"query": "home"},
    "find_missing_files": {},
    "get_file_references": {"file": "home.txt"},
    "get_system_status": {},
    "list_users": {},
    "list_users_raw": {},
    "list_groups": {},
}
SERVER_TABLES = (
    """CREATE TABLE page (id int PRIMARY KEY, parent int REFERENCES page, title text, file text,
    meta jsonb)""",
    """CREATE TABLE page_history (id int PRIMARY KEY, page_id int REFERENCES page, field text,
    old text, new text, changed_by text, changed_at timestamptz)""",
    "CREATE TABLE person (id int PRIMARY KEY, name text, password text)",
    "CREATE TABLE team (id int PRIMARY KEY, name text)",
    """INSERT INTO page VALUES (1, NULL, 'home', 'home.txt', '{"a": 1}'),
    (2, 1, 'x', 'gone', '{}')""",
    "INSERT INTO page_history VALUES (1, 1, 'title', 'start', 'home', 'ada', now())",
    "INSERT INTO person VALUES (1, 'ada', 'made-up')",
    "INSERT INTO team VALUES (1, 'editors')",
    "CREATE ROLE watcher LOGIN",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO watcher",
)
SERVER_STATE = (
    "SELECT relname, relfilenode, relkind FROM pg_class WHERE relnamespace = 2200 ORDER BY 1",
    "SELECT ctid, xmin, * FROM page ORDER BY id",
    "SELECT ctid, xmin, * FROM page_history ORDER BY id",
    "SELECT ctid, xmin, * FROM person ORDER BY id",
    "SELECT ctid, xmin, * FROM team ORDER BY id",
)


def state_of(folder: Path) -> dict[str, object]:
    """Describe all that is in a folder, but for the side files that SQLite keeps by itself."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.name.endswith(("-wal", "-shm")):
            continue
        at = path.lstat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        # A folder's time changes with the side files.
        time = 0 if path.is_dir() else at.st_mtime_ns
        found[str(path.relative_to(folder))] = (at.st_mode, at.st_ino, time, digest)
    return found


def catalog_of(file: Path) -> list[object]:
    """Read the catalog of a SQLite file, and the numbers that a write would change."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        rows: list[object] = connection.execute("SELECT * FROM sqlite_schema").fetchall()
        numbers = ("user_version", "schema_version", "freelist_count", "page_count")
        rows += [connection.execute(f"PRAGMA {name}").fetchone() for name in numbers]
    return rows


@pytest.mark.parametrize(("group", "tool"), READERS, ids=[tool for _, tool in READERS])
def test_a_read_changes_no_byte(open_demo: tuple[Path, Everything], group: str, tool: str) -> None:
    """The workspace is the same after a good call and after one that is refused."""
    folder, asked = open_demo
    database = folder / "museum.sqlite"
    before = state_of(folder), catalog_of(database), dict(os.environ)

    step = asked.ask(group, tool).step
    _, refused = asked.session.call_wire(tool, {"no such argument": 1})

    assert (step.status, refused.status) == ("ok", "invalid_arguments"), step.wire
    assert (state_of(folder), catalog_of(database), dict(os.environ)) == before


@pytest.mark.parametrize("tool", WRITERS)
def test_a_preview_changes_no_byte(open_demo: tuple[Path, Everything], tool: str) -> None:
    """Saying what a write would do does none of it."""
    folder, asked = open_demo
    before = state_of(folder), catalog_of(folder / "museum.sqlite")

    preview = asked.session.preview(tool, asked.arguments("editing", tool))

    assert preview.lines
    assert not preview.failed
    assert (state_of(folder), catalog_of(folder / "museum.sqlite")) == before


@pytest.fixture(scope="module")
def served(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Workspace]:
    """A database on a server, and a workspace that names it for a role that may only read."""
    name, folder = postgres.database(*SERVER_TABLES), tmp_path_factory.mktemp("served")
    (folder / "home.txt").write_text("home")
    page = TableSettings(parent="parent", history="page_history", files=("file",))
    return name, Workspace(
        folder=folder,
        trusted=True,
        database=postgres.url(name, "watcher"),
        tables={"page": page},
        tables_allow=("page", "page_history"),
        accounts=AccountSettings(users="person", groups="team"),
    )


@pytest.mark.parametrize("tool", ON_A_SERVER)
def test_a_read_changes_no_row_of_a_server(
    postgres: Postgres, served: tuple[str, Workspace], tool: str
) -> None:
    """On PostgreSQL no row gets another version, and no relation another file."""
    name, workspace = served
    before = [postgres.execute(query, database=name) for query in SERVER_STATE]

    result = ask(import_module(TARGETS[tool]), workspace, **ON_A_SERVER[tool])

    assert result.failure is None, result.content
    assert [postgres.execute(query, database=name) for query in SERVER_STATE] == before
