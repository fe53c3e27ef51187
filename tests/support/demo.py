"""The demo's workspace for tests over all builtins: open, everything allowed, a question each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolseam.cli._demo._everything import Everything, everything
from toolseam.cli._demo._workspace import make_workspace


@pytest.fixture(scope="module")
def opened_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Everything]]:
    """The demo's workspace, with a host that offers everything in it."""
    folder = make_workspace(str(tmp_path_factory.mktemp("place") / "museum"))
    with everything(folder) as asked:
        yield folder, asked


@pytest.fixture
def open_demo(
    opened_demo: tuple[Path, Everything], monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Everything]:
    """The same, with the state folder in which its index lies."""
    monkeypatch.setenv("XDG_STATE_HOME", str(opened_demo[1].state))
    return opened_demo
