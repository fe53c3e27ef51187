import unicodedata
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from toolseam import ErrorCode
from toolseam_builtin.files import search_files
from toolseam_builtin.workspace import TableSettings, Workspace

TOKEN = "ghp_" + "b7" * 18
SCRIPT = """
create table picture (id integer primary key, path text, title text, alt text, api_token text);
insert into picture values
  (1, 'sub/boat.jpg', 'The harbour', 'A red sail', 'Aster-9'),
  (2, '/plan.pdf', 'Floor plan', null, 'Aster-9'),
  (3, 'media:lost.png', 'Lost harbour', 'A grey quay', 'Aster-9'),
  (4, 'https://cdn.example/harbour.png', 'Elsewhere', null, null),
  (5, 'sub/key.png', 'ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', null, null)
"""


def gallery(folder: Path, **settings: Any) -> Workspace:
    """Make pictures and the table that describes them."""
    (folder / "media" / "sub").mkdir(parents=True)
    for name in ("sub/boat.jpg", "plan.pdf", "Harbour.svg", ".harbour", f"{TOKEN}.notes.txt"):
        (folder / "media" / name).write_bytes(b"12")
    tables = {"picture": TableSettings(files=("path",), alternative_text="alt")}
    return sqlite_workspace(folder, SCRIPT, storages={"media": "media"}, tables=tables, **settings)


def files(result: Any) -> list[str]:
    """Return the files that were found."""
    assert result.data is not None, result.content
    return [row[0] for row in result.data.value["rows"]]


def test_text_table_and_data_say_the_same(tmp_path: Path) -> None:
    """A file is found by name and by title; one that is gone is found by its row, last."""
    result = ask(search_files, gallery(tmp_path), query="harbour")

    assert result.content.splitlines() == [
        "3 files for 'harbour', 3 shown; 4 files looked at, titles and texts beside picture.path.",
        "- media:Harbour.svg (image/svg+xml, 2 bytes)",
        "- media:sub/boat.jpg (image/jpeg, 2 bytes)",
        "  picture:1 The harbour",
        "  alternative text: A red sail",
        "- media:lost.png (image/png, gone)",
        "  picture:3 Lost harbour",
        "  alternative text: A grey quay",
    ]
    assert result.artifacts[0].rows[1] == [
        *("media:sub/boat.jpg", "image/jpeg", "2 bytes", "picture:1", "The harbour", "A red sail")
    ]
    assert result.data is not None
    assert result.data["rows"][2] == [
        *("media:lost.png", "image/png", None, "picture:3", "Lost harbour", "A grey quay")
    ]
    assert (result.data["total"], result.data["complete"]) == (3, True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("BOAT", ["media:sub/boat.jpg"]),
        ("red SAIL", ["media:sub/boat.jpg"]),
        ("floor", ["media:plan.pdf"]),
        ("sub", []),
        ("sub/", ["media:sub/boat.jpg", "sub/key.png"]),
        ("%", []),
        ("_", []),
        ("Aster", []),
        ("elsewhere", []),
        ("ghp_a", []),
        ("aaaaa", []),
        ("b7b7", []),
        ("notes", ["media:[masked].notes.txt"]),
    ],
)
def test_what_is_shown_is_what_is_searched(tmp_path: Path, query: str, found: list[str]) -> None:
    """Names, titles and texts are searched as shown: no wildcard, no masked text, no address."""
    assert files(ask(search_files, gallery(tmp_path), query=query)) == found


def test_a_name_in_another_unicode_form_is_found(tmp_path: Path) -> None:
    """A query finds names and titles that are equal in NFC, whatever the case."""
    workspace = gallery(tmp_path)
    stored = unicodedata.normalize("NFD", "Été.png")
    (tmp_path / "media" / stored).touch()

    assert files(ask(search_files, workspace, query="ÉTÉ")) == [f"media:{stored}"]


def test_a_search_without_a_database_finds_names(tmp_path: Path) -> None:
    """Where no database is to be had, names are searched, and the answer says what was not."""
    (tmp_path / "boat.jpg").touch()

    result = ask(search_files, Workspace(folder=tmp_path), query="boat")

    assert files(result) == ["workspace:boat.jpg"]
    assert "Warning: titles and alternative texts were not searched: " in result.content


def test_more_than_the_limit_are_counted(tmp_path: Path) -> None:
    """The first files in order are shown, and how many there are in all is said."""
    for number in range(30):
        (tmp_path / f"a{number:02}.txt").touch()

    result = ask(search_files, Workspace(folder=tmp_path), query="a", limit=5)

    assert files(result) == [f"workspace:a{number:02}.txt" for number in range(5)]
    assert result.content.startswith("30 files for 'a', 5 shown; 30 files looked at")
    assert "More with a larger limit (at most 50), a longer query or one" in result.content


def test_a_search_ends_in_spite_of_link_cycles_and_shows_nothing_hidden(
    workspace: Workspace,
) -> None:
    """Links are not followed, and hidden files and keys are not found (P25)."""
    assert files(ask(search_files, workspace, query="plan")) == ["share:sub/plan.pdf"]
    for query in ("env", "id_rsa", "x.md"):
        assert files(ask(search_files, workspace, query=query)) == []


def test_only_the_storage_asked_for_is_searched(tmp_path: Path) -> None:
    """With `storage`, files and rows of another one are no hits."""
    workspace = gallery(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "harbour.txt").touch()
    both = Workspace(
        folder=tmp_path,
        storages={"media": "media", "other": "other"},
        tables=workspace.tables,
    )

    assert files(ask(search_files, both, query="harbour", storage="other")) == ["other:harbour.txt"]
    assert len(files(ask(search_files, both, query="harbour"))) == 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"query": "  "}, ErrorCode.INVALID_ARGUMENTS),
        ({"query": ""}, ErrorCode.INVALID_ARGUMENTS),
        ({"query": "x" * 101}, ErrorCode.INVALID_ARGUMENTS),
        ({"query": "x", "limit": 51}, ErrorCode.INVALID_ARGUMENTS),
        ({"query": "x", "storage": "none"}, ErrorCode.NOT_FOUND),
    ],
)
def test_a_blank_or_impossible_question_is_refused(
    workspace: Workspace, arguments: dict[str, Any], code: ErrorCode
) -> None:
    """Blank, over-long and out of range are `invalid_arguments`, an unknown storage `not_found`."""
    failure = ask(search_files, workspace, **arguments).failure

    assert failure is not None
    assert failure.code == code


def test_nothing_found_says_what_was_looked_at(tmp_path: Path) -> None:
    """An empty answer is a success that says what was searched."""
    result = ask(search_files, gallery(tmp_path), query="zebra")

    assert result.content == (
        "No file for 'zebra'; 4 files looked at, titles and texts beside picture.path."
    )
    assert "Aster-9" not in everything(result)


def test_a_row_that_points_to_two_files_describes_both(tmp_path: Path) -> None:
    """A title counts for each file of its row."""
    script = """
    create table p (id integer primary key, image text, thumbnail text, title text);
    insert into p values (1, 'a.jpg', 'b.jpg', 'Harbour'), (2, 'c.jpg', 'd.jpg', 'Quay')
    """
    for name in "abcd":
        (tmp_path / f"{name}.jpg").touch()

    result = ask(search_files, sqlite_workspace(tmp_path, script), query="harbour")

    assert files(result) == ["workspace:a.jpg", "workspace:b.jpg"]
