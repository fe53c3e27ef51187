from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.files import find_missing_files
from toolseam_builtin.workspace import TableSettings, Workspace

PICTURES = """
create table picture (id integer primary key, path text, title text);
insert into picture values (1, 'here.jpg', 'Here'), (2, 'gone.jpg', 'Gone'), (3, null, 'None'),
  (4, '/sub/../here.jpg', 'Roundabout'), (5, 'media:gone.png', 'Gone too'), (6, '', 'Empty'),
  (7, 'https://cdn.example/x.jpg', 'Address'), (8, '../secret.txt', 'Outside'),
  (9, '.env', 'Hidden'), (10, 'linked.jpg', 'Link'), (11, './/here.jpg', 'Slashes'),
  (12, '["here.jpg"]', 'List'), (13, '../none.txt', 'Outside')
"""
NAMED = {"picture": TableSettings(files=("path",))}


def gallery(folder: Path, script: str = PICTURES, **settings: Any) -> Workspace:
    """Make a storage with one file and a link to it, and rows that point there and elsewhere."""
    (folder / "media" / "sub").mkdir(parents=True)
    (folder / "media" / "here.jpg").touch()
    (folder / "media" / ".env").touch()
    (folder / "media" / "linked.jpg").symlink_to("here.jpg")
    (folder / "secret.txt").touch()
    return sqlite_workspace(folder, script, **{"storages": {"media": "media"}, **settings})


def records(result: ToolResult) -> list[str]:
    """Return the records of a page."""
    assert result.data is not None, result.content
    return [row[0] for row in result.data.value["rows"]]


def test_text_table_and_data_say_the_same(tmp_path: Path) -> None:
    """Rows that point to nothing are told in key order; what is no such path is counted apart."""
    result = ask(find_missing_files, gallery(tmp_path, tables=NAMED))

    assert result.content.splitlines() == [
        "2 references to missing files, shown 1 to 2; 13 rows of picture.path read.",
        "- picture:2 path: gone.jpg (Gone)",
        "- picture:5 path: media:gone.png (Gone too)",
        "Passed over, no paths of such files: 2.",
        "Not judged, since outside, denied or in a storage that cannot be read: 3.",
    ]
    assert result.artifacts[0].rows == [
        ["picture:2", "path", "gone.jpg", "Gone"],
        ["picture:5", "path", "media:gone.png", "Gone too"],
    ]
    assert result.data == {
        "total": 2,
        "complete": True,
        "rows_read": 13,
        "unjudged": 3,
        "next_offset": None,
        "columns": ["record", "column", "file", "label"],
        "rows": [
            ["picture:2", "path", "gone.jpg", "Gone"],
            ["picture:5", "path", "media:gone.png", "Gone too"],
        ],
    }


def test_what_is_outside_is_not_told_apart(tmp_path: Path) -> None:
    """A row that points out of the storage is never missing, whether or not a file is there."""
    result = ask(find_missing_files, gallery(tmp_path, tables=NAMED))

    assert not {"picture:8", "picture:13"} & set(records(result))


def test_columns_are_guessed_by_name_and_values_by_their_ending(tmp_path: Path) -> None:
    """Text columns called after files count, and of their values those with an ending."""
    script = """
    create table page (id integer primary key, image text, url text, image_alt text, profile text);
    insert into page values (1, 'a.jpg', '/about', 'b.jpg', 'c.jpg'),
      (2, 'here.jpg', '/d.pdf', '', '')
    """

    result = ask(find_missing_files, gallery(tmp_path, script))

    assert result.data is not None
    assert [row[:3] for row in result.data["rows"]] == [
        ["page:1", "image", "a.jpg"],
        ["page:2", "url", "/d.pdf"],
    ]
    assert "Warning: the columns were guessed by name; name them: files = " in result.content


def test_named_columns_alone_count_where_there_are_some(tmp_path: Path) -> None:
    """A table that the workspace does not name is left alone once another is named."""
    script = PICTURES + "; create table page (image text); insert into page values ('x.jpg')"

    result = ask(find_missing_files, gallery(tmp_path, script, tables=NAMED))

    assert records(result) == ["picture:2", "picture:5"]


def test_a_column_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    """A setting that names no readable table or column is said, and the others are looked at."""
    tables = {
        **NAMED,
        "none": TableSettings(files=("path",)),
        "Picture": TableSettings(files=("nope", "path")),
    }
    del tables["picture"]

    result = ask(find_missing_files, gallery(tmp_path, tables=tables))

    assert len(records(result)) == 2
    assert "workspace.tables.picture.files: no readable column 'nope'" in result.content
    assert "workspace.tables.none: No readable table 'none'." in result.content


@pytest.mark.parametrize(
    ("script", "start"),
    [
        (
            "create table page (image text); insert into page values ('here.jpg')",
            "No missing file; 1 row of page.image read.",
        ),
        (
            "create table page (id integer primary key, body text)",
            "No readable table has columns that point to files; name them: files = ",
        ),
    ],
)
def test_nothing_missing_says_what_was_looked_at(tmp_path: Path, script: str, start: str) -> None:
    """An empty answer is a success with a sentence on the rows and columns that were read."""
    assert ask(find_missing_files, gallery(tmp_path, script)).content.startswith(start)


def test_pages_join_without_gap_or_repetition(tmp_path: Path) -> None:
    """Following `next_offset` visits every missing file once."""
    values = ", ".join(f"({number}, 'x{number}.jpg')" for number in range(1, 121))
    script = f"create table p (id integer primary key, image text); insert into p values {values}"
    workspace = gallery(tmp_path, script)
    offset: object = 0
    seen: list[str] = []

    while offset is not None:
        result = ask(find_missing_files, workspace, limit=50, offset=offset)
        seen += records(result)
        offset = result.data["next_offset"]  # type: ignore[index]

    assert seen == [f"p:{number}" for number in range(1, 121)]


def test_a_path_without_a_storage_may_be_in_any(tmp_path: Path) -> None:
    """A file is gone if no storage has it; with `storage`, rows that name another are left out."""
    workspace = gallery(tmp_path, tables=NAMED)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "gone.jpg").touch()
    both = Workspace(
        folder=tmp_path, storages={"media": "media", "old": "old"}, tables=workspace.tables
    )

    assert records(ask(find_missing_files, both)) == ["picture:5"]
    assert records(ask(find_missing_files, both, storage="old")) == []


def test_a_storage_that_cannot_be_read_leaves_its_rows_unjudged(tmp_path: Path) -> None:
    """Where one storage is not open, no file that it may hold is called missing."""
    storages = {"media": "media", "far": "s3://bucket/base"}

    result = ask(find_missing_files, gallery(tmp_path, tables=NAMED, storages=storages))

    assert records(result) == ["picture:5"]
    assert "Not judged, since outside, denied or in a storage that cannot be read: 4." in (
        result.content
    )


def test_sensitive_columns_are_never_read(tmp_path: Path) -> None:
    """A column of a sensitive name is no file column, named or not."""
    script = """
    create table p (id integer primary key, token_file text, secret_path text);
    insert into p values (1, 'Aster-9.jpg', 'Aster-9.png')
    """
    tables = {"p": TableSettings(files=("token_file",))}

    result = ask(find_missing_files, gallery(tmp_path, script, tables=tables))

    assert "Aster-9" not in everything(result)
    assert "no readable column 'token_file'" in result.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"storage": "none"}, ErrorCode.NOT_FOUND),
        ({"limit": 0}, ErrorCode.INVALID_ARGUMENTS),
        ({"limit": 51}, ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_an_impossible_question_is_refused(
    tmp_path: Path, arguments: dict[str, Any], code: ErrorCode
) -> None:
    """An unknown storage is `not_found`, a limit out of range `invalid_arguments`."""
    failure = ask(find_missing_files, gallery(tmp_path), **arguments).failure

    assert failure is not None
    assert failure.code == code


def test_without_a_database_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A workspace without a database is `unavailable`, naming the setting."""
    failure = ask(find_missing_files, Workspace(folder=tmp_path)).failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert "database" in failure.message
