from pathlib import Path

import pytest

from toolseam_builtin.workspace import Workspace


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A source tree with ordinary code, secrets, and things that are no source."""
    root = tmp_path / "shop"
    (root / "app").mkdir(parents=True)
    (root / "app" / "models.py").write_text(
        "import os\n\n\nclass Order:\n    total = 5\n\n"
        "    def price(self):\n        return self.total\n"
    )
    (root / "app" / "settings.py").write_text(
        'DEBUG = True\nSECRET_KEY = "Aster-9"\nDATABASE = "postgresql://app:Tulip-77@db/shop"\n'
    )
    (root / "notes.md").write_text("price list\n\tprice: 5\n")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0price")
    (root / ".env").write_text("PRICE=Aster-9 price\n")
    (root / "id_rsa").write_text("price Aster-9\n")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x.js").write_text("price\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.py").write_text("price Aster-9\n")
    (root / "out").symlink_to("../outside")
    (root / "self").symlink_to(".")
    return root


@pytest.fixture
def workspace(sources: Path) -> Workspace:
    """A workspace whose folder is that tree."""
    return Workspace(folder=sources)
