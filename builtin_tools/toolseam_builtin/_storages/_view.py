"""One page of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ToolError
from toolseam.guards import FileLook, FolderRead

if TYPE_CHECKING:
    from toolseam_builtin._storages._model import Storage


@attrs.frozen
class View:
    """One folder of a storage, and the looks at the files of the page asked for."""

    storage: str
    folder: FolderRead
    looks: dict[str, FileLook | None]
    offset: int


def look_into(storage: Storage, path: str, offset: int, page: int) -> View:
    """List a folder, and look at the files of one page of it, folders coming first.

    Args:
        storage: where the folder is.
        path: its name.
        offset: how many entries the page passes over.
        page: how many entries a page has.

    Raises `ToolError` as `Storage.folder` does.
    """
    folder = storage.folder(path)
    start = max(0, offset - len(folder.folders))
    count = page - max(0, len(folder.folders) - offset)
    prefix = "" if folder.name == "." else f"{folder.name}/"
    looks: dict[str, FileLook | None] = {}
    for name in folder.files[start : start + max(0, count)]:
        try:
            looks[name] = storage.look(prefix + name)
        except ToolError:
            looks[name] = None  # gone meanwhile, or a second name of a file
    return View(storage.name, folder, looks, offset)
