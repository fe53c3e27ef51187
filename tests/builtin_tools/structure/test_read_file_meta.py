import hashlib
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything, sqlite_workspace
from support.pictures import PNG
from toolseam import ErrorCode
from toolseam_builtin import _storages as room
from toolseam_builtin.structure import read_file_meta
from toolseam_builtin.workspace import TableSettings, Workspace

SCRIPT = """
create table picture (id integer primary key, path text, title text, alt text);
insert into picture values (1, '/boat.png', 'Boat', 'A red sail'), (2, 'plan.pdf', 'Plan', null),
  (3, 'line.svg', 'Line', '')
"""


def gallery(folder: Path, **settings: Any) -> Workspace:
    """Make some files and the table that describes them."""
    (folder / "media").mkdir()
    (folder / "media" / "boat.png").write_bytes(PNG)
    (folder / "media" / "plan.pdf").write_bytes(b"%PDF-1.7")
    (folder / "media" / "line.svg").write_text("<svg viewBox='0 0 4 2'/>")
    for name in ("boat.png", "plan.pdf", "line.svg"):
        os.utime(folder / "media" / name, (1_700_000_000, 1_700_000_000))
    tables = {"picture": TableSettings(files=("path",), alternative_text="alt")}
    return sqlite_workspace(folder, SCRIPT, storages={"media": "media"}, tables=tables, **settings)


def test_lines_items_and_data_say_the_same(tmp_path: Path) -> None:
    """Everything that is known of a picture is told as lines, as keys with values, and typed."""
    result = ask(read_file_meta, gallery(tmp_path), file="boat.png")
    checksum = hashlib.sha256(PNG).hexdigest()

    assert result.content.splitlines() == [
        "file: media:boat.png",
        "type: image/png",
        f"size: {len(PNG)} bytes",
        "modified: 2023-11-14T22:13:20+00:00",
        f"SHA-256: {checksum}",
        "image size: 3 by 2 pixels",
        "record: picture:1",
        "title: Boat",
        "alternative text: A red sail",
    ]
    (artifact,) = result.artifacts
    assert artifact.type == "key_value"
    items = artifact.data.value["items"]
    assert [f"{key}: {value}" for key, value in items] == result.content.splitlines()
    assert result.data == {
        "file": "media:boat.png",
        "storage": "media",
        "name": "boat.png",
        "type": "image/png",
        "content_type": "image/png",
        "bytes": len(PNG),
        "modified": "2023-11-14T22:13:20+00:00",
        "sha256": checksum,
        "width": 3,
        "height": 2,
        "records": [
            {"record": "picture:1", "title": "Boat", "alternative_text": "A red sail"},
        ],
    }


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("plan.pdf", ["type: application/pdf", "alternative text: none"]),
        ("line.svg", ["image size: 4 by 2 pixels", "alternative text: empty, so decorative"]),
    ],
)
def test_no_text_and_an_empty_one_are_told_apart(
    tmp_path: Path, file: str, lines: list[str]
) -> None:
    """A picture without alternative text is not one that is meant to be decorative."""
    content = ask(read_file_meta, gallery(tmp_path), file=file).content.splitlines()

    assert set(lines) <= set(content)


def test_content_that_is_not_what_the_name_says_is_a_warning(tmp_path: Path) -> None:
    """A picture under another ending is said."""
    (tmp_path / "boat.jpg").write_bytes(PNG)

    result = ask(read_file_meta, Workspace(folder=tmp_path), file="boat.jpg")

    assert "Warning: the name says image/jpeg, the content begins like image/png" in result.content


def test_without_a_database_the_rest_is_told(tmp_path: Path) -> None:
    """A file is described without a database, with a warning about what it would add."""
    (tmp_path / "a.txt").write_bytes(b"abc")

    result = ask(read_file_meta, Workspace(folder=tmp_path), file="/a.txt")

    assert result.content.startswith("file: workspace:a.txt\ntype: text/plain\nsize: 3 bytes\n")
    assert "Warning: title and alternative text are not known: " in result.content


def test_many_rows_for_one_file_are_capped_and_said(tmp_path: Path) -> None:
    """Ten rows are shown, and the tool that has all of them is named."""
    values = ", ".join(f"({number}, 'a.txt')" for number in range(1, 15))
    workspace = sqlite_workspace(
        tmp_path,
        f"create table p (id integer primary key, file text); insert into p values {values}",
    )
    (tmp_path / "a.txt").touch()

    result = ask(read_file_meta, workspace, file="a.txt")

    assert result.content.count("record: p:") == 10
    assert "more than 10 rows point to the file; get_file_references has them" in result.content


def test_a_file_that_is_too_large_has_no_checksum(tmp_path: Path) -> None:
    """What the limits do not let be read to its end has no checksum, and that is said."""
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(300_000_000)

    result = ask(read_file_meta, Workspace(folder=tmp_path), file="large.bin")

    assert "size: 300,000,000 bytes" in result.content
    assert "SHA-256: not computed, only " in result.content
    assert result.data is not None
    assert result.data["sha256"] is None


def test_a_checksum_ends_with_its_time(tmp_path: Path) -> None:
    """When the time is up, what was read is told instead of a checksum of a part."""
    (tmp_path / "a.bin").write_bytes(b"x" * 3_000_000)
    clock = room.Clock(0.0, lambda: False)

    with room.open_storages(Workspace(folder=tmp_path)) as storages:
        facts = room.read_facts(storages, "a.bin", clock)

    assert (facts.checksum, facts.read, facts.look.size) == (None, 262_144, 3_000_000)


def test_an_archive_tells_no_time(tmp_path: Path) -> None:
    """What a storage does not know, such as a time with a zone in an archive, is left out."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("sub/boat.png", PNG)
    workspace = Workspace(folder=tmp_path, storages={"z": "zip://a.zip"}, trusted=True)

    result = ask(read_file_meta, workspace, file="z:sub/boat.png")

    assert "image size: 3 by 2 pixels" in result.content
    assert "modified" not in result.content


def test_an_empty_file_has_a_checksum(tmp_path: Path) -> None:
    """A file without a byte is read to its end at once."""
    (tmp_path / "a.txt").touch()

    result = ask(read_file_meta, Workspace(folder=tmp_path), file="a.txt")

    assert f"SHA-256: {hashlib.sha256(b'').hexdigest()}" in result.content


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("none.txt", ErrorCode.NOT_FOUND),
        ("gone", ErrorCode.NOT_FOUND),
        ("media", ErrorCode.INVALID_ARGUMENTS),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
        ("../x", ErrorCode.PERMISSION_DENIED),
        ("/etc/passwd", ErrorCode.PERMISSION_DENIED),
        (".env", ErrorCode.PERMISSION_DENIED),
        ("app.db", ErrorCode.PERMISSION_DENIED),
    ],
)
def test_what_may_not_be_read_is_refused(tmp_path: Path, file: str, code: ErrorCode) -> None:
    """Nothing, folders, outside, hidden files and databases are refused as reading refuses them."""
    (tmp_path / ".env").write_text("Aster-9")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "media").mkdir()
    workspace = sqlite_workspace(tmp_path, "create table t (a)")

    result = ask(read_file_meta, workspace, file=file)

    assert result.failure is not None
    assert result.failure.code == code
    assert "Aster-9" not in everything(result)
