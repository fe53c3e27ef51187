"""Small real databases for tests, and a short way to ask a tool about them."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolseam.testing import harness
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import ToolResult


def sqlite_workspace(folder: Path, script: str, **settings: Any) -> Workspace:
    """Make `folder/app.db` by a script, and return the workspace around it."""
    (folder / "app.db").write_bytes(_made(script))
    return Workspace(folder=folder, **settings)


@lru_cache(maxsize=32)
def _made(script: str) -> bytes:
    """Return the file that a script makes, for many tests make the same one."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(f"BEGIN; {script}; COMMIT;")
        # Of a script that makes nothing there is nothing to write either.
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        return connection.serialize() if pages else b""


def ask(tool: object, workspace: Workspace, **arguments: Any) -> ToolResult:
    """Call a tool through the whole seam and return its result.

    What ends at a budget of the tool's own is asked again: the machine may have been busy.
    """
    with harness(tool, settings=workspace) as double:
        for _ in range(2):
            result = double.call(arguments)
            if result.failure is None or result.failure.code != "timeout":
                return result
        return double.call(arguments)


def everything(result: ToolResult) -> str:
    """Return all that a result holds in any channel, as text."""
    parts = [result.content, str(result.metadata.value)]
    if result.data is not None:
        parts.append(str(result.data.value))
    parts += [str((artifact.label, artifact.data.value)) for artifact in result.artifacts]
    return "\n".join(parts)


def hot_journal(victim: Path) -> bytes:
    """Return a journal whose rollback, by SQLite up to 3.53, deletes a file of our choice."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
    header = magic + struct.pack(">IIIII", 0, 0, 0, 512, 4096)
    lock_page = 0x40000000 // 4096 + 1
    ending = struct.pack(">I", lock_page) + name + struct.pack(">II", len(name), sum(name)) + magic
    return header.ljust(512, b"\0") + ending
