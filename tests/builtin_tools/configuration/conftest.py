from pathlib import Path

import pytest

from support.configuration import FILES
from toolseam_builtin.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with configuration in each format, and a secret in each."""
    root = tmp_path / "site"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "outside.toml").write_text('a = "Tulip-77"\n')
    (root / "out.toml").symlink_to("../outside.toml")
    return root


@pytest.fixture
def workspace(folder: Path) -> Workspace:
    """A workspace that lists most of them."""
    return Workspace(
        folder=folder,
        config_files=(
            *("config/site.toml", "config/legacy.ini", "config/data.json", ".env"),
            *("compose.yaml", "out.toml"),
        ),
        settings_layers=("config/site.toml", "settings.py", "gone.toml", "config/site.local.toml"),
    )
