from pathlib import Path

import pytest

from toolseam_builtin.workspace import Workspace


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """The root of P25 in a workspace's folder, and beside it a sibling with a secret."""
    root = tmp_path / "srv" / "share"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "note.md").write_text("# Note\n")
    (root / "sub" / "plan.pdf").write_bytes(b"%PDF-1.7")
    (root / ".env").write_text("Aster-9")
    (root / "id_rsa").write_text("Aster-9")
    secret = tmp_path / "srv" / "share-secret"
    secret.mkdir()
    (secret / "x.md").write_text("Aster-9")
    (root / "out").symlink_to("../share-secret")
    (root / "self").symlink_to(".")
    (root / "gone").symlink_to("nowhere")
    return root


@pytest.fixture
def workspace(share: Path) -> Workspace:
    """A workspace with that root as its one storage."""
    return Workspace(folder=share.parent.parent, storages={"share": "srv/share"})
