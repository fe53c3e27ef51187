from pathlib import Path

import pytest

from support.databases import ask, everything, sqlite_workspace
from toolseam_builtin.structure import list_tables

SHOP = """
create table album (id integer primary key, title text);
insert into album (title) values ('a'), ('b');
create table "Track Log" (id integer primary key);
create view titles as select title from album;
create virtual table notes using fts5(title, body);
"""


def test_tables_and_views_are_listed_with_kind_and_rows(tmp_path: Path) -> None:
    """Text, table and data list the same tables by name, helpers of virtual tables left out."""
    result = ask(list_tables, sqlite_workspace(tmp_path, SHOP))

    assert result.content.splitlines() == [
        "SQLite: 4 readable tables and views.",
        "- Track Log: table, 0 rows",
        "- album: table, 2 rows",
        "- notes: virtual table",
        "- titles: view",
    ]
    assert result.artifacts[0].rows == [
        ["Track Log", "table", "0", ""],
        ["album", "table", "2", ""],
        ["notes", "virtual table", "", ""],
        ["titles", "view", "", ""],
    ]
    assert result.data is not None
    assert result.data["rows"][1] == ["album", "table", 2, None]


def test_the_filter_sees_names_in_any_case(tmp_path: Path) -> None:
    """A filter keeps the names that hold it and says how many there are in all."""
    result = ask(list_tables, sqlite_workspace(tmp_path, SHOP), filter="TRACK")

    assert result.content.splitlines() == [
        "SQLite: 4 readable tables and views, 1 with 'TRACK' in the name.",
        "- Track Log: table, 0 rows",
    ]


def test_another_schema_is_an_empty_answer(tmp_path: Path) -> None:
    """A schema without tables is a success that names it."""
    result = ask(list_tables, sqlite_workspace(tmp_path, SHOP), schema="other")

    assert result.content == "SQLite: 0 readable tables and views in schema 'other'."


def test_large_tables_are_estimated(tmp_path: Path) -> None:
    """Counting stops at ten thousand rows and says so."""
    script = SHOP + (
        "with recursive n(x) as (select 1 union all select x + 1 from n limit 10005)"
        " insert into album (title) select 'x' from n;"
    )

    result = ask(list_tables, sqlite_workspace(tmp_path, script), filter="album")

    assert "- album: table, more than 10,000 rows" in result.content


def test_denied_tables_and_what_shows_them_are_not_listed(tmp_path: Path) -> None:
    """Accounts, denied tables, and views over them stay unnamed."""
    script = SHOP + (
        "create table auth_user (id integer primary key, name text);"
        "create view people as select name from auth_user;"
        "create table ledger (id integer);"
        "create view books as select id from ledger;"
    )

    result = ask(list_tables, sqlite_workspace(tmp_path, script, tables_deny=("ledger",)))

    for name in ("auth_user", "people", "ledger", "books"):
        assert name not in everything(result)


def test_a_broken_view_spoils_nothing(tmp_path: Path) -> None:
    """The others are served, with one warning for the view that cannot be read."""
    script = SHOP + "create table gone (a); create view broken as select a from gone;"
    script += "drop table gone;"

    result = ask(list_tables, sqlite_workspace(tmp_path, script))

    assert result.success
    assert "- album: table, 2 rows" in result.content
    (warning,) = result.metadata.value["warnings"]
    assert "broken" in warning
    assert warning in result.content


def test_a_list_that_is_full_says_how_to_see_the_rest(tmp_path: Path) -> None:
    """Hundreds of long names are cut between tables, with the way to the others."""
    names = [f"t{number:03}_{'x' * 190}" for number in range(400)]
    script = "".join(f"create table {name} (id integer);" for name in names)

    result = ask(list_tables, sqlite_workspace(tmp_path, script))

    shown = len(result.artifacts[0].rows)
    assert 100 < shown < 400
    assert f"The first {shown} are shown. More with a narrower filter." in result.content


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0garbage"])
def test_what_is_no_database_is_unavailable(tmp_path: Path, content: bytes) -> None:
    """A file that is no database is refused without a word of the driver."""
    workspace = sqlite_workspace(tmp_path, "", database="app.db")
    (tmp_path / "app.db").write_bytes(content)

    result = ask(list_tables, workspace)

    assert result.failure is not None
    assert result.failure.code == "unavailable"
