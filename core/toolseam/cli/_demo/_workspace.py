"""Making the demo's workspace: a folder of its own, never one that holds anything."""

from __future__ import annotations

import tempfile
from pathlib import Path

from toolseam._errors import ToolseamError
from toolseam.cli._demo._database import write_database
from toolseam.cli._demo._files import DATABASE, FILES
from toolseam.cli._demo._logs import write_logs


class FolderRefused(ToolseamError):
    """The demo will not write there; the text says why, and nothing was written."""


def make_workspace(wanted: str | None) -> Path:
    """Write the workspace into `wanted`, or into a fresh temporary folder, and return it.

    Raises `FolderRefused` if the folder is there and not empty, or cannot be written.
    """
    try:
        folder = _folder(wanted)
        for name, text in FILES.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        write_logs(folder / "logs")
    except OSError as error:
        raise FolderRefused(f"{wanted or 'a temporary folder'}: {error.strerror}") from None
    write_database(folder / DATABASE)
    return folder


def _folder(wanted: str | None) -> Path:
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix="toolseam-demo-"))
    folder = Path(wanted).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderRefused(f"{folder} holds something already, and is left as it is")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
