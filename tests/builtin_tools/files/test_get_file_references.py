from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.files import get_file_references
from toolseam_builtin.workspace import TableSettings, Workspace

__all__ = ["postgres"]

SITE = """
create table page (id integer primary key, title text, hero_image varchar(200), body text);
insert into page values (1, 'Home', '/sub/boat.jpg', 'sub/boat.jpg'), (2, 'About', null, ''),
  (3, 'Visit', 'other.jpg', '');
create table picture (id integer primary key, path text, title text,
  page_id integer references page (id));
insert into picture values (1, 'sub/boat.jpg', 'Boat', 2), (2, 'media:sub/boat.jpg', 'Twin', null),
  (3, 'old:sub/boat.jpg', 'Elsewhere', null), (4, 'boat.jpg', 'Another', null);
create view pictures as select id, path, title from picture;
create table slide (id integer primary key, name text, picture_id integer references picture (id));
insert into slide values (7, 'First', 1), (8, 'Second', 4)
"""


def site(folder: Path, **settings: Any) -> Workspace:
    """Make a storage with one picture, and rows that point to it in several ways."""
    (folder / "media" / "sub").mkdir(parents=True)
    (folder / "media" / "sub" / "boat.jpg").touch()
    (folder / "old").mkdir()
    storages = {"media": "media", "old": "old"}
    return sqlite_workspace(folder, SITE, **{"storages": storages, **settings})


def records(result: ToolResult) -> list[str]:
    """Return the records of a page."""
    assert result.data is not None, result.content
    return [row[0] for row in result.data.value["rows"]]


def test_text_table_and_data_say_the_same(tmp_path: Path) -> None:
    """Rows that hold the path are told first, then those that belong to them by a key."""
    result = ask(get_file_references, site(tmp_path), file="sub/boat.jpg")

    assert result.content.splitlines() == [
        (
            "3 rows point to media:sub/boat.jpg, 2 linked with them, shown 1 to 5; looked at"
            " page.hero_image, picture.path."
        ),
        "- page:1 (Home) hero_image = /sub/boat.jpg",
        "- picture:1 (Boat) path = sub/boat.jpg",
        "- picture:2 (Twin) path = media:sub/boat.jpg",
        "- page:2 (About), linked with picture:1 by id = 2",
        "- slide:7 (First), linked with picture:1 by picture_id = 1",
        "Not tracked: what free text, markup or JSON mentions, and tables that are not readable.",
    ]
    assert result.artifacts[0].rows[0] == ["page:1", "hero_image", "/sub/boat.jpg", "Home", ""]
    assert result.artifacts[0].rows[4] == ["slide:7", "picture_id", "1", "First", "picture:1"]
    assert result.data is not None
    assert result.data["rows"][0] == ["page:1", "hero_image", "/sub/boat.jpg", "Home", None]
    assert [result.data[key] for key in ("file", "there", "total", "complete", "next_offset")] == [
        *("media:sub/boat.jpg", True, 5, True, None)
    ]


def test_rows_are_found_in_postgres_too(tmp_path: Path, postgres: Postgres) -> None:
    """The same rows are found through the other engine."""
    site(tmp_path)
    address = postgres.url(postgres.database(*SITE.split(";")))
    workspace = Workspace(
        folder=tmp_path,
        database=address,
        storages={"media": "media", "old": "old"},
        trusted=True,
        allow_privileged_role=True,
    )

    result = ask(get_file_references, workspace, file="sub/boat.jpg")

    assert records(result) == ["page:1", "picture:1", "picture:2", "page:2", "slide:7"]


@pytest.mark.parametrize("file", ["old:sub/boat.jpg", "old:/sub/boat.jpg", "old:./sub/boat.jpg"])
def test_rows_that_point_to_a_file_that_is_gone_are_found(tmp_path: Path, file: str) -> None:
    """A missing file may be asked for, in the storage where rows expect it."""
    result = ask(get_file_references, site(tmp_path), file=file)

    assert "(which is gone)" in result.content.splitlines()[0]
    assert records(result)[:3] == ["page:1", "picture:1", "picture:3"]


def test_named_columns_count_for_their_table_and_others_are_guessed(tmp_path: Path) -> None:
    """A named column of any name is looked at, and in tables that name none those after files."""
    workspace = site(tmp_path, tables={"page": TableSettings(files=("body",))})

    result = ask(get_file_references, workspace, file="media:sub/boat.jpg")

    assert "looked at page.body, picture.path" in result.content
    assert records(result)[:3] == ["page:1", "picture:1", "picture:2"]


def test_no_reference_says_what_was_looked_at(tmp_path: Path) -> None:
    """An empty answer is a success that names the columns, and says what is not tracked."""
    result = ask(get_file_references, site(tmp_path), file="none.jpg")

    assert result.content.splitlines() == [
        "No row points to none.jpg (which is gone); looked at page.hero_image, picture.path.",
        "Not tracked: what free text, markup or JSON mentions, and tables that are not readable.",
    ]


def test_a_schema_without_file_columns_says_how_to_name_them(tmp_path: Path) -> None:
    """Where nothing shows a file column, the setting is named."""
    workspace = sqlite_workspace(tmp_path, "create table page (id integer, body text)")
    (tmp_path / "a.txt").touch()

    result = ask(get_file_references, workspace, file="a.txt")

    assert result.content.startswith("No readable table has columns that point to files, so none")
    assert "[workspace.tables.<table>]" in result.content


def test_pages_join_without_gap_or_repetition(tmp_path: Path) -> None:
    """Following `next_offset` visits every row once."""
    values = ", ".join(f"({number}, 'a.txt')" for number in range(1, 251))
    script = f"create table p (id integer primary key, file text); insert into p values {values}"
    workspace = sqlite_workspace(tmp_path, script)
    (tmp_path / "a.txt").touch()
    offset: object = 0
    seen: list[str] = []

    while offset is not None:
        result = ask(get_file_references, workspace, file="a.txt", offset=offset)
        seen += records(result)
        offset = result.data["next_offset"]  # type: ignore[index]

    assert seen == [f"p:{number}" for number in range(1, 251)]
    assert "What belongs to the rows was followed for the first 20 alone." in result.content


def test_a_table_with_very_many_references_is_read_in_part_and_said(tmp_path: Path) -> None:
    """A thousand rows of a table are kept, and the answer warns that there are more."""
    script = """
    create table p (id integer primary key, file text);
    insert into p with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
      select i, 'a.txt' from n
    """
    workspace = sqlite_workspace(tmp_path, script)
    (tmp_path / "a.txt").touch()

    result = ask(get_file_references, workspace, file="a.txt")

    assert result.data is not None
    assert (result.data["total"], result.data["complete"]) == (1000, False)
    assert "Warning: a limit ended the search; not read to their end: p" in result.content


def test_denied_tables_and_sensitive_columns_show_nothing(tmp_path: Path) -> None:
    """Neither a denied table nor a sensitive column points to a file or is linked with a row."""
    script = """
    create table account (id integer primary key, avatar text);
    insert into account values (1, 'a.txt');
    create table picture (id integer primary key, path text, token_file text,
      account_id integer references account (id));
    insert into picture values (1, 'a.txt', 'Aster-9', 1), (2, 'x', 'a.txt', 1)
    """
    workspace = sqlite_workspace(tmp_path, script)
    (tmp_path / "a.txt").touch()

    result = ask(get_file_references, workspace, file="a.txt")

    assert records(result) == ["picture:1"]
    assert not any(word in everything(result) for word in ("account:", "Aster-9", "avatar"))


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("../x", ErrorCode.PERMISSION_DENIED),
        ("media:../x", ErrorCode.PERMISSION_DENIED),
        (".env", ErrorCode.PERMISSION_DENIED),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
        ("zip::a", ErrorCode.INVALID_ARGUMENTS),
        ("sub", ErrorCode.INVALID_ARGUMENTS),
        ("/", ErrorCode.INVALID_ARGUMENTS),
        ("", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_what_is_no_file_inside_is_refused(tmp_path: Path, file: str, code: ErrorCode) -> None:
    """What is outside or hidden is `permission_denied`, what names no file `invalid_arguments`."""
    failure = ask(get_file_references, site(tmp_path), file=file).failure

    assert failure is not None
    assert failure.code == code


def test_a_key_that_is_text_is_followed_and_one_that_is_no_key_is_not(tmp_path: Path) -> None:
    """Rows are linked by keys of text and numbers, not by fractions, nulls or sensitive columns."""
    script = """
    create table album (slug text primary key, size real unique, note text);
    insert into album values ('sea', 1.5, 'x');
    create table picture (id integer primary key, path text, album text references album (slug),
      size real references album (size), other text references album (slug),
      token text references album (slug), thumbnail text);
    insert into picture values (1, 'a.txt', 'sea', 1.5, null, 'sea', 'b.txt')
    """
    workspace = sqlite_workspace(tmp_path, script)
    (tmp_path / "a.txt").touch()

    result = ask(get_file_references, workspace, file="a.txt")

    assert result.data is not None
    assert [row[:3] for row in result.data["rows"]] == [
        ["picture:1", "path", "a.txt"],
        ["album:sea", "slug", "sea"],
    ]
