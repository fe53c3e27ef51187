from pathlib import Path

import pytest

from support.databases import sqlite_workspace
from toolseam import ToolError
from toolseam_builtin._database import History, find_history, open_database
from toolseam_builtin.workspace import TableSettings

CHANGES = """
create table pages (id integer primary key, title text, body text);
create table pages_history (id integer primary key, page_id integer references pages (id),
  field text, old text, new text, changed_by text, changed_at text);
"""
VERSIONS = """
create table article (id integer primary key, title text, "group" text);
create table article_version (id integer, transaction_id integer, title text, "group" text,
  author text, modified_at text, primary key (id, transaction_id));
"""
ONE_FOR_ALL = """
create table film (id integer primary key, title text);
create table changes (id integer primary key, table_name text, record_id integer,
  column_name text, new_value text, who text);
"""


def found(folder: Path, script: str, name: str, *, history: str | None = None) -> History:
    """Return the history that is found for a table of a new database."""
    workspace = sqlite_workspace(folder, script)
    with open_database(workspace) as database:
        return find_history(database, database.table(name), TableSettings(history=history))


@pytest.mark.parametrize("named", ["pages_history", None])
def test_a_row_a_change_is_recognised(tmp_path: Path, named: str | None) -> None:
    """The foreign key tells the record, usual names tell field, values, person and time."""
    history = found(tmp_path, CHANGES, "pages", history=named)

    assert history.table.title == "pages_history"
    assert (history.record, history.target, history.table_name) == ("page_id", "id", None)
    assert (history.field, history.old, history.new) == ("field", "old", "new")
    assert (history.who, history.when) == ("changed_by", "changed_at")
    assert history.of("pages", 7) == (("page_id", 7),)


def test_a_row_a_version_is_recognised(tmp_path: Path) -> None:
    """Without a field, the columns that the record has too are its versions."""
    history = found(tmp_path, VERSIONS, "article")

    assert (history.record, history.target, history.field) == ("id", "id", None)
    assert history.copies == ("title", "group")
    assert (history.who, history.when) == ("author", "modified_at")


def test_one_history_may_serve_several_tables(tmp_path: Path) -> None:
    """Where no foreign key tells the table, a column that names it does."""
    history = found(tmp_path, ONE_FOR_ALL, "film", history="changes")

    assert (history.field, history.old, history.new) == ("column_name", None, "new_value")
    assert history.of("film", 3) == (("table_name", "film"), ("record_id", 3))


@pytest.mark.parametrize(
    ("table", "history"),
    [("pages", "gone"), ("pages_history", None), ("pages", "pages"), ("pages", "users")],
)
def test_what_is_no_history_is_said(tmp_path: Path, table: str, history: str | None) -> None:
    """Absent, denied and unsuitable tables are `unavailable`, and the setting is named."""
    script = CHANGES + "create table users (id integer primary key, page_id integer, field text);"

    with pytest.raises(ToolError) as refusal:
        found(tmp_path, script, table, history=history)

    assert refusal.value.code == "unavailable"
    assert refusal.value.metadata["reason"] == "no_history"
