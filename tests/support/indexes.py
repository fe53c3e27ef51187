"""Workspaces with a full-text index, built into a state folder of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.databases import sqlite_workspace
from toolseam_builtin._index import build_index
from toolseam_builtin.workspace import IndexSettings, Workspace

if TYPE_CHECKING:
    from pathlib import Path


def indexed(
    folder: Path,
    texts: dict[str, str] | None = None,
    *,
    script: str = "",
    columns: tuple[str, ...] = (),
    **settings: Any,
) -> Workspace:
    """Write texts below `folder/docs`, make a database by a script, and index both."""
    for name, text in (texts or {}).items():
        file = folder / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    index = IndexSettings(("docs",) if texts else (), columns)
    if script:
        workspace = sqlite_workspace(folder, script, index=index, **settings)
    else:
        workspace = Workspace(folder=folder, index=index, **settings)
    build_index(workspace)
    return workspace
