import json
import math
import subprocess
import sys
import time
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pytest

from toolseam import ErrorCode, ToolError
from toolseam_builtin import _storages as room
from toolseam_builtin._storages._remote import RemoteStorage
from toolseam_builtin.workspace import Workspace

FILES = {
    "note.md": b"# Note\n",
    "sub/plan.pdf": b"%PDF-1.7",
    "sub/deep/x.txt": b"deep",
    ".env": b"Aster-9",
    "sub/.hidden/y": b"Aster-9",
    "id_rsa": b"Aster-9",
}
NEVER = room.Clock(math.inf, lambda: False)


@pytest.fixture(params=["file", "memory", "zip"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[room.Storage]:
    """The same files in a folder, in memory and in an archive."""
    place = {"file": "files", "memory": "memory://box/base", "zip": "zip://files.zip"}
    memory = fsspec.filesystem("memory")
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as archive:
        for name, data in FILES.items():
            (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "files" / name).write_bytes(data)
            memory.pipe(f"/box/base/{name}", data)
            archive.writestr(name, data)
    memory.pipe("/box/outside.txt", b"Aster-9")
    (tmp_path / "outside.txt").write_bytes(b"Aster-9")
    workspace = Workspace(folder=tmp_path, storages={"s": place[request.param]}, trusted=True)
    with room.open_storages(workspace) as storages:
        yield storages.opened[0]
    memory.rm("/box", recursive=True)


def refusal(storage: room.Storage, name: str) -> tuple[ErrorCode, str]:
    """Open a name that must be refused; give code and message."""
    with pytest.raises(ToolError) as caught, storage.open(name):
        pass
    return caught.value.code, caught.value.message


def test_a_folder_is_listed_in_each_storage(storage: room.Storage) -> None:
    """Folders and files are listed apart and sorted; hidden ones and keys are counted only."""
    root, sub = storage.folder("/"), storage.folder("sub")

    assert (root.folders, root.files, root.left_out) == (("sub",), ("note.md",), 2)
    assert (sub.name, sub.folders, sub.files, sub.left_out) == ("sub", ("deep",), ("plan.pdf",), 1)


def test_a_walk_gives_the_files_in_order(storage: room.Storage) -> None:
    """A walk gives what may be seen, sorted, and afterwards each name can still be looked at."""
    names = list(storage.walk())

    assert names == ["note.md", "sub/deep/x.txt", "sub/plan.pdf"]
    assert [storage.look(name).size for name in names] == [7, 4, 8]
    assert refusal(storage, "none")[0] == ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    "name", ["sub/plan.pdf", "/sub/plan.pdf", "sub//plan.pdf", "./sub/plan.pdf"]
)
def test_a_file_is_opened_by_each_spelling(storage: room.Storage, name: str) -> None:
    """Slashes in front, doubled ones and dots do not matter, and the stored name is told."""
    with storage.open(name) as (look, stream):
        data = stream.read()

    assert (look.name, look.size, look.is_folder, data) == ("sub/plan.pdf", 8, False, b"%PDF-1.7")


@pytest.mark.parametrize(
    "name",
    ["../outside.txt", "../none.txt", ".env", ".none", "sub/.hidden/y", "sub/.none/y", "id_rsa"],
)
def test_outside_and_denied_are_one_refusal(storage: room.Storage, name: str) -> None:
    """What is outside, hidden or a key is refused in the same words, existing or not."""
    assert refusal(storage, name) == refusal(storage, "../../etc/passwd")
    assert refusal(storage, name)[0] == ErrorCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none", ErrorCode.NOT_FOUND),
        ("sub/none", ErrorCode.NOT_FOUND),
        ("note.md/x", ErrorCode.NOT_FOUND),
        ("~", ErrorCode.NOT_FOUND),
        ("*.md", ErrorCode.NOT_FOUND),
        ("%2e%2e", ErrorCode.NOT_FOUND),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
        ("zip::note.md", ErrorCode.INVALID_ARGUMENTS),
        ("file://note.md", ErrorCode.INVALID_ARGUMENTS),
        ("sub", ErrorCode.INVALID_ARGUMENTS),
        ("/", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_names_are_literal(storage: room.Storage, name: str, code: ErrorCode) -> None:
    """No wildcard, variable, protocol or chain means anything in a name."""
    assert refusal(storage, name)[0] == code


def test_a_refusal_of_who_reads_stays_what_it_is(storage: room.Storage) -> None:
    """A refusal that is raised while a file is open goes on as it is."""
    refused = ToolError("enough", ErrorCode.CONFLICT)

    with pytest.raises(ToolError) as caught, storage.open("note.md"):
        raise refused

    assert caught.value is refused


def test_a_file_is_no_folder(storage: room.Storage) -> None:
    """Listing a file is `invalid_arguments`, listing nothing `not_found`."""
    for name, code in (("note.md", ErrorCode.INVALID_ARGUMENTS), ("no", ErrorCode.NOT_FOUND)):
        with pytest.raises(ToolError) as caught:
            storage.folder(name)
        assert caught.value.code == code


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("walked", [False, True])
def test_a_name_in_another_unicode_form_is_found_far_away(
    stored: str, asked: str, walked: bool
) -> None:
    """A name is found by NFC equality where no folder is, before and after a walk."""
    name = unicodedata.normalize(stored, "Gé/été.md")  # type: ignore[arg-type]
    memory = fsspec.filesystem("memory")
    memory.pipe(f"/forms/{name}", b"x")
    storage = RemoteStorage("s", memory, "/forms")
    if walked:
        list(storage.walk())

    assert storage.look(unicodedata.normalize(asked, "Gé/été.md")).name == name  # type: ignore[arg-type]
    memory.rm("/forms", recursive=True)


def test_a_time_is_told_where_the_driver_knows_one() -> None:
    """Times come as seconds since 1970 from whatever form the driver has, or not at all."""
    memory = fsspec.filesystem("memory")
    memory.pipe("/timed/a", b"x")
    before = time.time()

    modified = RemoteStorage("s", memory, "/timed").look("a").modified

    assert modified is not None
    assert abs(modified - before) < 60
    memory.rm("/timed", recursive=True)


class Broken:
    """A driver that fails with a text of its own; links and odd entries are listed too."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def info(self, path: str) -> dict[str, Any]:
        """Know the folder alone."""
        if path == "base":
            return {"name": path, "type": "directory", "mtime": 5.5}
        raise self.error

    def ls(self, path: str, detail: bool) -> list[dict[str, Any]]:
        """List a folder as object stores do, itself included."""
        if path != "base":
            raise self.error
        return [
            {"name": "base", "type": "directory"},
            {"name": "base/link", "type": "link"},
            {"name": "base/", "type": "other"},
            {"name": "base/a", "type": "file", "size": None},
        ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PermissionError("Aster-9"), ErrorCode.PERMISSION_DENIED),
        (FileNotFoundError("Aster-9"), ErrorCode.NOT_FOUND),
        (OSError("Aster-9"), ErrorCode.UNAVAILABLE),
        (RuntimeError("Aster-9"), ErrorCode.UNAVAILABLE),
    ],
)
def test_no_text_of_a_driver_leaves(error: Exception, code: ErrorCode) -> None:
    """What a driver raises becomes a refusal of ours, without its words and its cause."""
    storage = RemoteStorage("s", Broken(error), "base")

    with pytest.raises(ToolError) as caught:
        storage.look("b/c")

    assert caught.value.code == code
    assert "Aster-9" not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_listing_of_an_object_store_holds_its_files_alone() -> None:
    """The folder's own entry is passed over; links and odd kinds are counted as left out."""
    storage = RemoteStorage("s", Broken(OSError()), "base")

    listed = storage.folder("")

    assert (listed.folders, listed.files, listed.left_out) == ((), ("a",), 1)
    assert (storage.look("").modified, storage.look("a").size) == (5.5, 0)


def test_folders_nested_too_deep_end_a_walk() -> None:
    """A server whose folders have no end is given up, and what was seen is kept."""
    memory = fsspec.filesystem("memory")
    memory.pipe("/deep/a", b"x")
    memory.pipe(f"/deep/{'/'.join('d' * 70)}/x", b"x")
    storages = room.Storages((RemoteStorage("s", memory, "/deep"),), ("s",), {})

    stock = room.take_stock(storages, NEVER)

    assert list(stock.files["s"]) == ["a"]
    assert stock.unseen == {"s": "The storage s has folders nested deeper than 64."}
    storages.opened[0].close()
    memory.rm("/deep", recursive=True)


def test_a_refusal_on_the_way_is_no_reason_to_go_on() -> None:
    """A walk that is refused for another reason than a failing server refuses the call."""
    refused = failing(ErrorCode.PERMISSION_DENIED)
    far = SimpleNamespace(name="far", walk=lambda: refused)

    with pytest.raises(ToolError) as caught:
        room.take_stock(room.Storages((far,), ("far",), {}), NEVER)  # type: ignore[arg-type]
    assert caught.value.code == ErrorCode.PERMISSION_DENIED


def test_an_ambiguous_or_unlistable_name_is_not_found() -> None:
    """Of two stored names equal in NFC a third form finds neither, and a failing listing none."""
    memory = fsspec.filesystem("memory")
    for name in ("ệ", unicodedata.normalize("NFD", "ệ")):
        memory.pipe(f"/twice/{name}", b"x")

    for storage in (
        RemoteStorage("s", memory, "/twice"),
        RemoteStorage("s", Broken(FileNotFoundError()), "nowhere"),
    ):
        with pytest.raises(ToolError) as caught:
            storage.look("ê\u0323")
        assert caught.value.code == ErrorCode.NOT_FOUND
    memory.rm("/twice", recursive=True)


def test_a_broken_archive_is_unavailable(tmp_path: Path) -> None:
    """A file that is no archive cannot be opened, and no text of the library says so."""
    (tmp_path / "a.zip").write_bytes(b"Aster-9")
    workspace = Workspace(folder=tmp_path, storages={"z": "zip://a.zip"}, trusted=True)

    with pytest.raises(ToolError) as caught, room.open_storages(workspace):
        pass

    assert caught.value.code == ErrorCode.UNAVAILABLE
    assert caught.value.message == "The storage z cannot be opened."


def test_a_large_archive_is_walked_in_little_time(tmp_path: Path) -> None:
    """An archive of 5,000 files in 500 folders is listed from one pass over it."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(5_000):
            archive.writestr(f"{number // 10}/{number}.txt", b"")
    workspace = Workspace(folder=tmp_path, storages={"z": "zip://a.zip"}, trusted=True)

    begin = time.process_time()
    with room.open_storages(workspace) as storages:
        count = sum(1 for _ in storages.opened[0].walk())

    assert count == 5_000
    assert time.process_time() - begin < 1.5


@pytest.mark.parametrize(
    ("url", "trusted", "reason"),
    [
        ("memory://box", False, "untrusted_workspace"),
        ("zip://files.zip", False, "untrusted_workspace"),
        ("s3://bucket/x", False, "untrusted_workspace"),
        ("../elsewhere", False, "untrusted_workspace"),
        ("file:///etc", False, "untrusted_workspace"),
        ("s3://bucket/x", True, "missing_extra"),
        ("gs://bucket/x", True, "missing_extra"),
        ("az://container/x", True, "missing_extra"),
        ("simplecache://x", True, None),
        ("reference://x", True, None),
        ("zip://x::memory://y", True, None),
        ("s3://x::y", True, None),
        ("nowhere", True, None),
    ],
)
def test_what_may_not_be_opened_is_unavailable_with_a_reason(
    tmp_path: Path, url: str, trusted: bool, reason: str | None
) -> None:
    """Untrusted workspaces have plain folders inside, others a fixed list without chains (H03)."""
    workspace = Workspace(folder=tmp_path, storages={"s": url}, trusted=trusted)

    with pytest.raises(ToolError) as caught, room.open_storages(workspace):
        pass

    assert caught.value.code == ErrorCode.UNAVAILABLE
    assert caught.value.metadata == ({} if reason is None else {"reason": reason})


def test_a_link_that_leads_out_is_no_storage_of_an_untrusted_workspace(tmp_path: Path) -> None:
    """Links are resolved before a storage's folder is judged (H03, H47)."""
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "in" / "media").symlink_to("../secret")

    with (
        pytest.raises(ToolError) as caught,
        room.open_storages(Workspace(folder=tmp_path / "in", storages={"m": "media"})),
    ):
        pass

    assert caught.value.metadata == {"reason": "untrusted_workspace"}


def test_an_extra_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """Without fsspec a storage that is no folder says what to install; a folder needs nothing."""
    script = (
        "import json, sys\n"
        "sys.meta_path.insert(0, type('Gone', (), {'find_spec': staticmethod(\n"
        "    lambda name, path=None, target=None: None)}))\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'fsspec' else real(name, *a)\n"
        "from toolseam_builtin._storages import states\n"
        "from toolseam_builtin.workspace import Workspace\n"
        f"w = Workspace(folder={str(tmp_path)!r}, storages={{'a': '.', 'b': 'memory://x'}},"
        " trusted=True)\n"
        "print(json.dumps([s.fault for s in states(w)]), 'fsspec' in sys.modules)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    faults, _, loaded = done.stdout.rpartition(" ")
    assert json.loads(faults) == [
        None,
        "workspace.storages.b needs fsspec: pip install 'toolseam[files]'.",
    ]
    assert loaded.strip() == "False"


def test_a_walk_ends_with_its_time(tmp_path: Path) -> None:
    """Taking stock stops when the time is up, and says after how many files."""
    for number in range(300):
        (tmp_path / f"{number:03}").touch()
    clock = room.Clock(math.inf, iter([False, True, True]).__next__)

    with room.open_storages(Workspace(folder=tmp_path)) as storages:
        stock = room.take_stock(storages, clock)

    assert stock.unseen == {"workspace": "the time limit, after 256 files"}
    assert len(stock.files["workspace"]) == 256


def test_a_storage_that_fails_on_the_way_is_not_seen_whole() -> None:
    """A storage whose server stops answering is named with what was seen until then."""
    far = SimpleNamespace(name="far", walk=lambda: failing())
    storages = room.Storages((far,), ("far",), {})  # type: ignore[arg-type]

    stock = room.take_stock(storages, NEVER)

    assert (list(stock.files["far"]), stock.unseen) == (["a"], {"far": "The storage far failed."})


def failing(code: ErrorCode = ErrorCode.UNAVAILABLE) -> Iterator[str]:
    """Give one name, then fail as a remote storage does."""
    yield "a"
    raise ToolError("The storage far failed.", code)


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("one.txt", "a:one.txt"),
        ("b:one.txt", "b:one.txt"),
        ("two.txt", "b:two.txt"),
        ("/two.txt", "b:two.txt"),
        ("b:/two.txt", "b:two.txt"),
        ("c:three.txt", "a:c:three.txt"),
    ],
)
def test_a_file_is_found_in_the_first_storage_that_has_it(
    tmp_path: Path, file: str, found: str
) -> None:
    """A storage is chosen by its name before a colon, else by the workspace's order."""
    for name in ("a/one.txt", "a/c:three.txt", "b/one.txt", "b/two.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    workspace = Workspace(folder=tmp_path, storages={"a": "a", "b": "b"})

    with room.open_storages(workspace) as storages:
        storage, look = storages.locate(file)

    assert f"{storage.name}:{look.name}" == found


def test_a_file_in_a_storage_that_is_not_open_says_why(tmp_path: Path) -> None:
    """What another storage might hold is refused with that storage's own reason."""
    workspace = Workspace(folder=tmp_path, storages={"a": ".", "c": "none", "b": "none"})

    with room.open_storages(workspace) as storages:
        for file, code in (("a:x", ErrorCode.NOT_FOUND), ("b:x", ErrorCode.UNAVAILABLE)):
            with pytest.raises(ToolError) as caught:
                storages.locate(file)
            assert caught.value.code == code
        assert caught.value.message == "workspace.storages.b names no folder."
        with pytest.raises(ToolError) as caught:
            storages.choose("/", "b")
    assert caught.value.message == "workspace.storages.b names no folder."


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.JPG", "image/jpeg"),
        ("a.webp", "image/webp"),
        ("a.md", "text/markdown"),
        ("a.tar.gz", "application/gzip"),
        ("a.svgz", "application/octet-stream"),
        ("none", "application/octet-stream"),
        ("data:,a", "application/octet-stream"),
        ("a.", "application/octet-stream"),
    ],
)
def test_a_type_is_told_by_the_ending(name: str, kind: str) -> None:
    """The MIME type comes from the name alone, the same on each machine."""
    assert room.mime_type(name) == kind
