"""Folders of logs for tests, and short ways to ask about them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import ToolResult


def numbered(first: int, last: int) -> str:
    """Return lines of a log, numbered, a second apart."""
    return "".join(
        f"2025-05-06 07:00:{number:02},000 INFO depot.count line {number}\n"
        for number in range(first, last + 1)
    )


def rotated(folder: Path) -> Workspace:
    """Make the logs of P21: rotated, packed, cut off, and one that unpacks to a thousandfold."""
    logs = folder / "logs"
    logs.mkdir()
    (logs / "app.log").write_text(numbered(31, 40))
    (logs / "app.log.1").write_text(numbered(21, 30))
    (logs / "app.log.2.gz").write_bytes(gzip.compress(numbered(11, 20).encode()))
    (logs / "app.log.10.gz").write_bytes(gzip.compress(numbered(1, 10).encode())[:-12])
    (logs / "zeros.log.3.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    return Workspace(folder=folder)


def one_log(folder: Path, text: str, name: str = "app.log") -> Workspace:
    """Write one log in a workspace of its own."""
    (folder / name).write_bytes(text.encode())
    return Workspace(folder=folder)


def rows(result: ToolResult) -> list[list[object]]:
    """Give the typed rows of an answer."""
    assert result.data is not None, result.content
    found: list[list[object]] = result.data.value["rows"]
    return found
