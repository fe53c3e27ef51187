import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.sftp import PASSWORD, serving
from toolseam import ErrorCode, ToolError
from toolseam_builtin import _storages as room
from toolseam_builtin.workspace import Workspace


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, Path]]:
    """A server whose key the user knows; give its port and the list of known hosts."""
    root = tmp_path / "served" / "base"
    (root / "sub").mkdir(parents=True)
    (root / "note.md").write_bytes(b"# Note\n")
    (root / "sub" / "plan.pdf").write_bytes(b"%PDF-1.7")
    (root / ".env").write_bytes(b"Aster-9")
    (root / "out").symlink_to("../outside.txt")
    (tmp_path / "served" / "outside.txt").write_bytes(b"Aster-9")
    known = tmp_path / "home" / ".ssh" / "known_hosts"
    known.parent.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with serving(tmp_path / "served") as (port, key):
        known.write_text(f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n")
        yield port, known


def workspace(folder: Path, port: int, password: str = PASSWORD) -> Workspace:
    """A workspace whose storage is on that server."""
    url = f"sftp://museum:{password}@127.0.0.1:{port}/base"
    return Workspace(folder=folder, storages={"far": url}, trusted=True)


def test_a_server_that_is_known_serves_its_files(tmp_path: Path, server: tuple[int, Path]) -> None:
    """Folders, walks, looks and bytes come over SFTP; hidden files and links are left out."""
    with room.open_storages(workspace(tmp_path, server[0])) as storages:
        far = storages.opened[0]
        listed = far.folder("/")
        names = list(far.walk())
        with far.open("sub/plan.pdf") as (look, stream):
            data = stream.read()

    assert (listed.folders, listed.files, listed.left_out) == (("sub",), ("note.md",), 2)
    assert names == ["note.md", "sub/plan.pdf"]
    assert (look.size, data) == (8, b"%PDF-1.7")
    assert look.modified is not None


@pytest.mark.parametrize("known", ["", "[127.0.0.1]:1 ssh-ed25519 AAAA\n", None])
def test_a_server_that_is_not_known_gets_no_password(
    tmp_path: Path, server: tuple[int, Path], known: str | None
) -> None:
    """Without its key in the list of known hosts a server is refused, and what to do is said."""
    if known is None:
        server[1].unlink()
    else:
        server[1].write_text(known)

    with pytest.raises(ToolError) as caught, room.open_storages(workspace(tmp_path, server[0])):
        pass

    assert caught.value.code == ErrorCode.UNAVAILABLE
    assert caught.value.message == (
        "The storage far cannot be opened; sftp needs fsspec 2026.9, and the server's key in"
        " ~/.ssh/known_hosts."
    )


def test_a_wrong_password_tells_nothing(tmp_path: Path, server: tuple[int, Path]) -> None:
    """A server that lets nobody in is unavailable, in words without the credential."""
    wrong = workspace(tmp_path, server[0], "Aster-9")

    with pytest.raises(ToolError) as caught, room.open_storages(wrong):
        pass

    assert caught.value.code == ErrorCode.UNAVAILABLE
    assert "Aster-9" not in caught.value.message


def test_a_server_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that accepts and is silent holds a tool for no longer than is waited."""
    monkeypatch.setattr("toolseam_builtin._storages._sftp._SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begin = time.monotonic()
        with (
            pytest.raises(ToolError) as caught,
            room.open_storages(workspace(tmp_path, silent.getsockname()[1])),
        ):
            pass

    assert caught.value.code == ErrorCode.UNAVAILABLE
    assert time.monotonic() - begin < 30
