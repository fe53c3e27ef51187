from pathlib import Path

import pytest

from support.databases import ask, everything
from toolseam_builtin.files import list_storages
from toolseam_builtin.workspace import Workspace

SECRET = "s3://key-Aster-9:Tulip-77@bucket-Canary/base-Canary"


def test_storages_are_listed_in_the_order_of_the_workspace(tmp_path: Path) -> None:
    """Name, protocol and flags are told as text, as a table and typed; the first is the default."""
    (tmp_path / "media").mkdir()
    storages = {"pictures": "media", "scratch": "memory://box"}

    result = ask(list_storages, Workspace(folder=tmp_path, storages=storages, trusted=True))

    assert result.content.splitlines() == [
        "2 storages.",
        "- pictures (file; default, read only, on this machine)",
        "- scratch (memory; read only, on this machine)",
    ]
    assert result.artifacts[0].rows == [
        ["pictures", "file", "default, read only, on this machine"],
        ["scratch", "memory", "read only, on this machine"],
    ]
    assert result.data == {
        "total": 2,
        "columns": ["name", "protocol", "flags"],
        "rows": [
            ["pictures", "file", ["default", "read only", "on this machine"]],
            ["scratch", "memory", ["read only", "on this machine"]],
        ],
    }


def test_a_workspace_without_storages_has_its_own_folder(tmp_path: Path) -> None:
    """Where nothing is named, the plain files of the folder are one storage, and that is said."""
    result = ask(list_storages, Workspace(folder=tmp_path))

    assert "- workspace (file; default, read only, on this machine" in result.content
    assert "since it names no storage" in result.content


@pytest.mark.parametrize(
    ("url", "trusted", "said"),
    [
        (SECRET, False, "is not trusted"),
        (SECRET, True, "needs s3fs"),
        ("ftp://key-Aster-9:Tulip-77@host-Canary/", True, "one of the protocols"),
        ("zip://base-Canary.zip::s3://bucket-Canary", True, "chains protocols"),
        ("base-Canary", True, "names no folder"),
        ("../base-Canary", False, "leads out of a folder that is not trusted"),
        ("/base-Canary", False, "leads out of a folder that is not trusted"),
    ],
)
def test_a_storage_that_cannot_be_opened_says_why_and_not_where(
    tmp_path: Path, url: str, trusted: bool, said: str
) -> None:
    """A storage that is refused is listed with the reason, without credential or base path."""
    workspace = Workspace(folder=tmp_path, storages={"far": url}, trusted=trusted)

    result = ask(list_storages, workspace)

    assert result.data is not None
    assert "cannot be opened" in result.data["rows"][0][2]
    assert said in result.content
    assert not any(secret in everything(result) for secret in ("Canary", "Aster-9", "Tulip-77"))


def test_a_full_answer_says_how_many_are_shown(tmp_path: Path) -> None:
    """Very many storages are cut in sight."""
    storages = {f"{number:03}{'x' * 200}": "." for number in range(400)}

    result = ask(list_storages, Workspace(folder=tmp_path, storages=storages))

    assert result.data is not None
    shown = len(result.data["rows"])
    assert result.content.startswith("400 storages.")
    assert f"The first {shown:,} are shown; the answer is full." in result.content
    assert shown < 400
