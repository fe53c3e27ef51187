"""The state folder: one place for each workspace, private, and never inside of it."""

import os
from pathlib import Path

import pytest

from toolseam.guards import UnsafePlace, make_private, state_folder


def test_each_workspace_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Named after it, with digits of its whole path; a relative setting is ignored."""
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    one, two = state_folder(Path("/a/my site")), state_folder(Path("/b/my site"))

    assert (one.parent, one.name[:8]) == (Path("/state/toolseam"), "my-site-")
    assert one != two
    assert state_folder() == Path("/state/toolseam")
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", "/home/ada")
    assert state_folder() == Path("/home/ada/.local/state/toolseam")


@pytest.mark.parametrize("name", ["", "...", "日本", "x" * 300, "a/b"])
def test_any_name_gives_one_folder(name: str) -> None:
    """Whatever the workspace is called, the folder is one segment of a sane length."""
    found = state_folder(Path("/place") / name)

    assert found.parent == state_folder()
    assert 0 < len(found.name) <= 63


def test_the_whole_chain_is_made_private() -> None:
    """The folder and ours above it are 0700; what is above them is left alone."""
    state_folder().parent.mkdir(parents=True)
    state_folder().parent.chmod(0o755)

    made = make_private(state_folder(Path("/site")))

    modes = [each.stat().st_mode & 0o777 for each in (made, made.parent, made.parent.parent)]
    assert modes == [0o700, 0o700, 0o755]


def test_a_link_a_file_and_the_workspace_are_refused(tmp_path: Path) -> None:
    """Each says why, and none names a path."""
    folder = state_folder(Path("/site"))
    with pytest.raises(UnsafePlace, match="in the workspace"):
        make_private(folder, outside=folder.parent)
    assert not folder.parent.exists()

    folder.parent.mkdir(parents=True)
    folder.symlink_to(tmp_path)
    with pytest.raises(UnsafePlace, match="own"):
        make_private(folder)
    folder.unlink()
    folder.write_text("")
    with pytest.raises(UnsafePlace, match="cannot be made") as refused:
        make_private(folder)
    assert os.sep not in str(refused.value)
