from pathlib import Path

import pytest

from support.links import flipping
from toolseam import ErrorCode, ToolError
from toolseam.guards import READ_LIMIT, PathGuard, read_tree

CANARY = b"Canary-7"


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """A root with files at several depths, and what no walk gives out."""
    root = tmp_path / "share"
    (root / "a" / "b").mkdir(parents=True)
    (root / "out").mkdir()
    for name in ("a.txt", "a/b/deep.txt", "a/c.txt", "z.txt"):
        (root / name).write_bytes(name.encode())
    (tmp_path / "secret.txt").write_bytes(CANARY)
    (root / ".env").write_bytes(CANARY)
    (root / "out" / "link.txt").symlink_to(tmp_path / "secret.txt")
    return root


def read(root: Path, name: str = ".", **more: list[str]) -> list[tuple[str, bytes] | None]:
    """Read everything below a name."""
    files = read_tree(PathGuard(root), name, **more)
    return [None if file is None else (file.name, file.data) for file in files]


def test_files_come_in_the_order_of_a_walk(share: Path) -> None:
    """The same names as a walk gives, each with what a read of it gives."""
    guard = PathGuard(share)

    assert read(share) == [(name, guard.read(name).data) for name in guard.walk()]
    assert read(share, leave_out=["b"]) == [
        ("a/c.txt", b"a/c.txt"),
        ("a.txt", b"a.txt"),
        ("z.txt", b"z.txt"),
    ]
    assert read(share, "a/c.txt") == [("a/c.txt", b"a/c.txt")]


def test_what_a_read_refuses_is_none(share: Path, tmp_path: Path) -> None:
    """A second name of a file, a database and a pipe are told, and not read."""
    (share / "out" / "hard.txt").hardlink_to(tmp_path / "secret.txt")
    (share / "out" / "data.db").write_bytes(b"SQLite format 3\0 and more")

    assert read(share, "out") == [None, None]


def test_large_files_are_read_in_part(share: Path) -> None:
    """Of a file over the limit the beginning is given, with its size."""
    (share / "out" / "x.txt").write_bytes(b"x" * (READ_LIMIT + 5))

    (file,) = read_tree(PathGuard(share), "out")

    assert file is not None
    assert (len(file.data), file.size, file.complete) == (READ_LIMIT, READ_LIMIT + 5, False)


def test_a_folder_that_is_gone_meanwhile_gives_nothing(share: Path) -> None:
    """What vanishes during the walk is told file by file, and nothing is raised."""
    (share / "a" / "d.txt").write_bytes(b"d")
    files = read_tree(PathGuard(share))
    next(files)
    (share / "a" / "c.txt").unlink()
    (share / "z.txt").unlink()

    assert [None if file is None else file.name for file in files] == [
        None,
        "a/d.txt",
        "a.txt",
        None,
    ]


@pytest.mark.parametrize("name", ["../secret.txt", "nope", ".env"])
def test_a_start_is_judged_at_once(share: Path, name: str) -> None:
    """A start outside, hidden or absent is refused before anything is read."""
    with pytest.raises(ToolError) as caught:
        read_tree(PathGuard(share), name)

    assert caught.value.code in {ErrorCode.PERMISSION_DENIED, ErrorCode.NOT_FOUND}


def test_a_flipping_link_is_never_followed(share: Path, tmp_path: Path) -> None:
    """A folder that is now inside, now a link outside, gives what is inside or nothing."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "deep.txt").write_bytes(CANARY)

    with flipping(share / "flip", "a/b", "../outside"):
        found = [each for _ in range(100) for each in (*read(share), *read(share, "a"))]

    assert all(each is None or CANARY not in each[1] for each in found)


def test_no_folder_stays_open(share: Path) -> None:
    """A walk that is left in the middle closes what it opened."""
    before = len([*Path("/proc/self/fd").iterdir()])

    files = read_tree(PathGuard(share))
    next(files)
    files.close()

    assert len([*Path("/proc/self/fd").iterdir()]) == before
