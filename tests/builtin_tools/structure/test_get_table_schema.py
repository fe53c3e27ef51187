from pathlib import Path
from typing import Any

from support.databases import ask, everything, sqlite_workspace
from toolseam import ToolResult
from toolseam_builtin.structure import get_table_schema

SHOP = """
create table artist (id integer primary key, name text not null unique);
create table album (
  id integer primary key,
  title text not null default 'untitled',
  artist_id integer references artist(id),
  net numeric check (net > 0),
  gross numeric generated always as (net*1.2) virtual,
  tag text generated always as ('T'||id) stored,
  constraint long_title check (length(title) < 100)
);
create index album_artist on album (artist_id);
create index album_upper on album (upper(title)) where net > 1;
create table track (album integer references album, no integer, primary key (album, no));
create table odd (id integer primary key, shape GEOMETRY, anything);
"""


def columns(result: ToolResult) -> dict[str, dict[str, Any]]:
    """Return the described columns of a success by name."""
    assert result.data is not None, result.content
    return {column["name"]: column for column in result.data["columns"]}


def test_a_table_is_described_whole(tmp_path: Path) -> None:
    """Columns, keys both ways, unique, indexes and conditions are all told."""
    result = ask(get_table_schema, sqlite_workspace(tmp_path, SHOP), table="album")

    assert result.content.splitlines() == [
        "album: table, 6 columns.",
        "- id: INTEGER, primary key",
        "- title: TEXT, not null, default 'untitled'",
        "- artist_id: INTEGER",
        "- net: numeric",
        "- gross: numeric, generated as net*1.2",
        "- tag: TEXT, generated as 'T'||id",
        "- primary key: id",
        "- foreign key: artist_id → artist(id)",
        "- referenced by: id → track(album)",
        "- index album_artist: artist_id",
        "- partial index album_upper: an expression",
        "- check: net > 0",
        "- check long_title: length(title) < 100",
    ]
    assert [artifact.label for artifact in result.artifacts] == ["album columns", "album keys"]


def test_unique_and_composite_keys_are_told(tmp_path: Path) -> None:
    """A unique constraint shows its index, a key its columns in key order."""
    workspace = sqlite_workspace(tmp_path, SHOP)

    artist = ask(get_table_schema, workspace, table="ARTIST")
    track = ask(get_table_schema, workspace, table="track")

    assert "- unique sqlite_autoindex_artist_1: name" in artist.content
    assert "- primary key: album, no" in track.content


def test_generated_columns_are_counted_and_marked(tmp_path: Path) -> None:
    """Columns that `table_info` hides are there, marked, with their own expression only."""
    result = ask(get_table_schema, sqlite_workspace(tmp_path, SHOP), table="album")

    found = columns(result)
    assert len(found) == 6
    assert [name for name, column in found.items() if column["generated"]] == ["gross", "tag"]
    assert found["gross"]["expression"] == "net*1.2"


def test_unknown_types_are_told_as_declared(tmp_path: Path) -> None:
    """A type that SQLite does not know is shown, a missing one is unknown."""
    result = ask(get_table_schema, sqlite_workspace(tmp_path, SHOP), table="odd")

    types = {name: column["type"] for name, column in columns(result).items()}
    assert types == {"id": "INTEGER", "shape": "GEOMETRY", "anything": "unknown"}


def test_sensitive_columns_keep_what_the_engine_stores_for_them(tmp_path: Path) -> None:
    """What is stored for sensitive columns is not shown, nor are secret shapes."""
    vendor_key = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    script = f"""
    create table member (
      id integer primary key,
      password text default 'sesame' check (password <> 'sesame'),
      label text generated always as ('x' || password),
      label2 text generated always as (label || 'sesame'),
      plan text default '{vendor_key}' check (plan <> '{vendor_key}')
    );
    """

    result = ask(get_table_schema, sqlite_workspace(tmp_path, script), table="member")

    sensitive = [name for name, column in columns(result).items() if column["sensitive"]]
    assert sensitive == ["password", "label", "label2"]
    assert "check: a condition on a sensitive column" in result.content
    assert "sesame" not in everything(result)
    assert vendor_key not in everything(result)


def test_tables_behind_the_gate_stay_unnamed(tmp_path: Path) -> None:
    """Foreign keys from and to tables that are not readable do not tell their names."""
    script = """
    create table auth_user (id integer primary key, post integer references post);
    create table post (id integer primary key, author integer references auth_user);
    """

    result = ask(get_table_schema, sqlite_workspace(tmp_path, script), table="post")

    assert "foreign key: author → a table that is not readable" in result.content
    assert "auth_user" not in everything(result)


def test_long_definitions_are_told_by_their_length(tmp_path: Path) -> None:
    """Text of more than 16 KB is not read, whatever it holds."""
    script = (
        f"create table big (id integer primary key, a text default '{'CONSTRAINT x ' * 8000}');"
    )

    result = ask(get_table_schema, sqlite_workspace(tmp_path, script), table="big")

    assert "(104,002 characters)" in result.content
    assert "its conditions are not shown" in result.content
    assert "CONSTRAINT x" not in everything(result)


def test_too_many_columns_are_counted(tmp_path: Path) -> None:
    """A table with two thousand columns says how many do not fit."""
    names = ", ".join(f"column_{number:04} text" for number in range(2000))

    result = ask(
        get_table_schema, sqlite_workspace(tmp_path, f"create table w ({names});"), table="w"
    )

    left = 2000 - len(columns(result))
    assert left > 0
    assert f"{left:,} further columns do not fit." in result.content


def test_an_absent_table_is_not_found_with_near_misses(tmp_path: Path) -> None:
    """A misspelt name is refused, and readable tables like it are named."""
    result = ask(get_table_schema, sqlite_workspace(tmp_path, SHOP), table="albun")

    assert result.failure is not None
    assert result.failure.code == "not_found"
    assert "'album'" in result.content
