from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.files import browse_folder
from toolseam_builtin.workspace import Workspace


def names(result: ToolResult) -> list[str]:
    """Return the names of a page."""
    assert result.data is not None, result.content
    return [row[0] for row in result.data.value["rows"]]


def refusal(workspace: Workspace, **arguments: Any) -> tuple[ErrorCode, str]:
    """Return code and message of a call that must be refused."""
    failure = ask(browse_folder, workspace, **arguments).failure
    assert failure is not None
    return failure.code, failure.message


def test_text_tree_and_data_say_the_same_folders_first(workspace: Workspace) -> None:
    """A folder is told as text, as a tree and typed; what is left out is counted."""
    result = ask(browse_folder, workspace)

    assert result.content.splitlines() == [
        "share:/ holds 2 folders and 1 file, shown 1 to 3.",
        "- empty/",
        "- sub/",
        "- note.md (text/markdown, 7 bytes)",
        "Left out: 5 (hidden, links, keys, credentials or no plain files).",
    ]
    (tree,) = result.artifacts
    assert tree.type == "tree"
    assert tree.data.value == {
        "nodes": [
            [0, "share:/"],
            [1, "empty/"],
            [1, "sub/"],
            [1, "note.md (text/markdown, 7 bytes)"],
        ]
    }
    assert result.data == {
        "storage": "share",
        "folder": ".",
        "folders": 2,
        "files": 1,
        "left_out": 5,
        "next_offset": None,
        "columns": ["name", "kind", "type", "bytes"],
        "rows": [
            ["empty", "folder", None, None],
            ["sub", "folder", None, None],
            ["note.md", "file", "text/markdown", 7],
        ],
    }


def test_an_empty_folder_is_an_answer(workspace: Workspace) -> None:
    """A folder without entries is a success that says so."""
    assert ask(browse_folder, workspace, folder="/empty").content == "share:/empty is empty."


@pytest.mark.parametrize(
    "spelling", ["sub", "/sub", "/sub/", "./sub", "sub/deep/..", "share:sub", "share:/sub", "//sub"]
)
def test_a_folder_is_found_by_each_spelling(workspace: Workspace, spelling: str) -> None:
    """A slash in front, the storage's name and dots that stay inside mean the same folder."""
    result = ask(browse_folder, workspace, folder=spelling)

    assert names(result) == ["deep", "plan.pdf"]


@pytest.mark.parametrize(
    "outside",
    [
        *("../share-secret", "../none", "out", "out/none", "/srv/share-secret", "/etc/none"),
        *("/etc", ".git", ".none", "self/out", "sub/../../share-secret", "share:../share-secret"),
    ],
)
def test_outside_and_denied_are_one_refusal(
    workspace: Workspace, share: Path, outside: str
) -> None:
    """What is outside or hidden is refused in the same words, existing or not (P25)."""
    absolute = str(share.parent / "share-secret")

    if outside == "/etc":
        assert refusal(workspace, folder=outside)[0] == ErrorCode.NOT_FOUND
    else:
        assert refusal(workspace, folder=outside) == refusal(workspace, folder=absolute)
        assert refusal(workspace, folder=outside)[0] == ErrorCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("folder", "code"),
    [
        ("gone", ErrorCode.NOT_FOUND),
        ("none", ErrorCode.NOT_FOUND),
        ("/none", ErrorCode.NOT_FOUND),
        ("~", ErrorCode.NOT_FOUND),
        ("%2e%2e", ErrorCode.NOT_FOUND),
        ("note.md", ErrorCode.INVALID_ARGUMENTS),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
        ("zip::sub", ErrorCode.INVALID_ARGUMENTS),
        ("file://sub", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_what_is_no_folder_inside_is_told_apart(
    workspace: Workspace, folder: str, code: ErrorCode
) -> None:
    """Nothing, a dangling link, a file and what is no path have the codes of the contract."""
    assert refusal(workspace, folder=folder)[0] == code


def test_an_absolute_path_inside_is_the_folder_itself(workspace: Workspace, share: Path) -> None:
    """The machine's own path of a folder inside is as good as a relative one."""
    assert names(ask(browse_folder, workspace, folder=str(share / "sub"))) == ["deep", "plan.pdf"]


def test_nothing_hidden_is_shown(workspace: Workspace) -> None:
    """Neither hidden files nor keys nor what lies beside the root are in any channel."""
    said = everything(ask(browse_folder, workspace))

    assert not any(word in said for word in (".env", "id_rsa", "share-secret", "Aster-9"))


def test_pages_join_without_gap_or_repetition(tmp_path: Path) -> None:
    """Following `next_offset` visits every entry once, folders first, each page within 100."""
    for number in range(150):
        (tmp_path / f"folder{number:03}").mkdir()
        (tmp_path / f"file{number:03}").touch()
    workspace = Workspace(folder=tmp_path)
    offset: object = 0
    seen: list[str] = []
    pages = 0

    while offset is not None:
        result = ask(browse_folder, workspace, offset=offset)
        assert len(names(result)) <= 100
        seen += names(result)
        pages += 1
        offset = result.data["next_offset"]  # type: ignore[index]

    ordered = [f"folder{n:03}" for n in range(150)] + [f"file{n:03}" for n in range(150)]
    assert seen == ordered
    assert pages == 3


def test_an_offset_past_the_end_says_how_many_there_are(workspace: Workspace) -> None:
    """A page behind the last entry is empty and says so."""
    result = ask(browse_folder, workspace, offset=7)

    assert result.content.splitlines()[0] == (
        "share:/ holds 2 folders and 1 file, none shown; offset 7 is past the end."
    )


def test_a_storage_is_chosen_by_name(workspace: Workspace, share: Path) -> None:
    """Another storage is browsed by its name, and an unknown name is `not_found` with the known."""
    workspace = Workspace(folder=workspace.folder, storages={"a": "srv/share/sub", "b": "srv"})

    assert names(ask(browse_folder, workspace, storage="b")) == ["share", "share-secret"]
    assert names(ask(browse_folder, workspace)) == ["deep", "plan.pdf"]
    assert names(ask(browse_folder, workspace, folder="b:/")) == ["share", "share-secret"]
    code, message = refusal(workspace, storage="c")
    assert code == ErrorCode.NOT_FOUND
    assert "a, b" in message


def test_names_that_forge_lines_or_hold_secrets_are_shown_harmless(tmp_path: Path) -> None:
    """A line break in a name is a sign, and what has a secret's shape is masked."""
    token = "ghp_" + "a1B2" * 9
    (tmp_path / "a\n- b").touch()
    (tmp_path / f"{token}.txt").touch()

    result = ask(browse_folder, Workspace(folder=tmp_path))

    assert "- a↵- b (" in result.content
    assert token not in everything(result)


def test_a_second_name_of_a_file_has_no_size(tmp_path: Path) -> None:
    """A hard link is named, but what it stands for is not told."""
    (tmp_path / "one").write_bytes(b"12345")
    (tmp_path / "two").hardlink_to(tmp_path / "one")

    result = ask(browse_folder, Workspace(folder=tmp_path))

    assert "- one (application/octet-stream, size unknown)" in result.content


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_page_that_is_full_goes_on_where_it_ended(tmp_path: Path, kind: str) -> None:
    """Names that take much room make pages shorter than 100, and none is lost."""
    for number in range(90):
        path = tmp_path / (f"{number:03}" + "\x01" * 200)
        if kind == "folder":
            path.mkdir()
        else:
            path.touch()
    offset: object = 0
    seen: list[str] = []

    while offset is not None:
        result = ask(browse_folder, Workspace(folder=tmp_path), offset=offset)
        seen += names(result)
        offset = result.data["next_offset"]  # type: ignore[index]
        assert result.artifacts[0].type == "tree"

    assert [name[:3] for name in seen] == [f"{number:03}" for number in range(90)]
