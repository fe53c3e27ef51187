"""A storage that fsspec opens: the same names and refusals as a folder behind the path guard."""

from __future__ import annotations

import unicodedata
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from toolseam import ErrorCode, ToolError
from toolseam.guards import FileLook, FolderRead, is_denied_name
from toolseam_builtin._storages._model import no_file

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    Info = dict[str, Any]
    """What a driver tells of one file or folder."""

    Lister = Callable[[str], list[Info]]

_DEPTH = 64
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "date_time", "created")


class RemoteStorage:
    """Files below one root of an fsspec file system, read only.

    Nothing that a driver says leaves it: its exceptions become refusals in words of ours.
    """

    def __init__(self, name: str, system: Any, root: str, held: ExitStack | None = None) -> None:  # noqa: ANN401 - fsspec is untyped
        self.name = name
        self._system = system
        self._root = root.rstrip("/")
        self._held = held
        self._list = _archive_lister(system) if hasattr(system, "dir_cache") else _lister(system)
        self._seen: dict[str, FileLook] = {}
        self._folders: dict[str, FolderRead] = {}
        self._walked = False

    def folder(self, path: str) -> FolderRead:
        """List one folder; what it tells of its files is kept for `look`."""
        look = self.look(path)
        if not look.is_folder:
            message = f"{self.name}:{look.name} is no folder."
            raise ToolError(message, ErrorCode.INVALID_ARGUMENTS)
        return self._listed("" if look.name == "." else look.name)

    def walk(self) -> Iterator[str]:
        """Give the names of all files that may be seen."""
        below = [self._steps("")]
        while below:
            step = next(below[-1], None)
            if step is None:
                below.pop()
            elif not step.is_folder:
                yield step.name
            elif len(below) < _DEPTH:
                below.append(self._steps(step.name))
            else:
                message = f"The storage {self.name} has folders nested deeper than {_DEPTH}."
                raise ToolError(message, ErrorCode.UNAVAILABLE)
        self._walked = True

    def look(self, path: str) -> FileLook:
        """Look at a file or folder."""
        wanted = _judged(path)
        known = self._seen.get(wanted)
        if known is not None:
            return known
        with self._translated(path):
            # After a whole walk the server has nothing to add.
            info = None if self._walked and wanted else self._info(wanted)
        if info is None:
            stored = self._stored(wanted)
            if stored is None:
                raise no_file(path)
            return self._seen.get(stored) or self.look(stored)
        return _look(wanted, info)

    @contextmanager
    def open(self, path: str) -> Generator[tuple[FileLook, BinaryIO]]:
        """Open a file."""
        look = self.look(path)
        if look.is_folder:
            message = f"{self.name}:{look.name} is a folder."
            raise ToolError(message, ErrorCode.INVALID_ARGUMENTS)
        with self._translated(path), self._system.open(self._full(look.name), "rb") as file:
            yield look, file

    def close(self) -> None:
        """Close an archive; other systems hold nothing."""
        if self._held is not None:
            self._held.close()

    def _steps(self, folder: str) -> Iterator[FileLook]:
        listed = self._listed(folder)
        prefix = f"{folder}/" if folder else ""
        names = sorted([*listed.folders, *listed.files])
        return iter([self._seen[prefix + name] for name in names])

    def _listed(self, folder: str) -> FolderRead:
        listed = self._folders.get(folder)
        if listed is None:
            listed = self._folders[folder] = self._list_anew(folder)
        return listed

    def _list_anew(self, folder: str) -> FolderRead:
        with self._translated(folder):
            infos = self._list(self._full(folder))
        prefix = f"{folder}/" if folder else ""
        folders: list[str] = []
        files: list[str] = []
        left_out = 0
        for info in infos:
            segment = str(info["name"]).rstrip("/").rpartition("/")[2]
            if self._relative(info) == folder:
                continue  # an object store lists a folder among its own files
            kind = info.get("type")
            if not segment or kind not in {"file", "directory"} or is_denied_name(segment):
                left_out += 1
                continue
            self._seen[prefix + segment] = _look(prefix + segment, info)
            (folders if kind == "directory" else files).append(segment)
        return FolderRead(folder or ".", tuple(sorted(folders)), tuple(sorted(files)), left_out)

    def _relative(self, info: Info) -> str:
        return str(info["name"]).strip("/").removeprefix(self._root.strip("/")).strip("/")

    def _info(self, wanted: str) -> Info | None:
        """Ask the driver for one name; the root is a folder even where the driver has no word."""
        try:
            info: Info = self._system.info(self._full(wanted))
        except FileNotFoundError:
            return {"type": "directory"} if not wanted else None
        return info

    def _stored(self, wanted: str) -> str | None:
        """Give the stored name that alone is equal in Unicode NFC, segment by segment."""
        if wanted.isascii():
            return None
        found = ""
        for segment in wanted.split("/"):
            try:
                listed = self._listed(found)
            except ToolError:
                return None
            names = {*listed.folders, *listed.files}
            normal = unicodedata.normalize("NFC", segment)
            equal = [name for name in names if unicodedata.normalize("NFC", name) == normal]
            chosen = segment if segment in names else equal[0] if len(equal) == 1 else None
            if chosen is None:
                return None
            found = f"{found}/{chosen}" if found else chosen
        return found

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}" if path and self._root else path or self._root

    @contextmanager
    def _translated(self, path: str) -> Generator[None]:
        failure: ToolError | None = None
        try:
            yield
        except ToolError:
            raise
        except FileNotFoundError:
            failure = no_file(path)
        except PermissionError:
            failure = _denied()
        except Exception:  # noqa: BLE001 - a driver raises what it likes, and none of it may leave
            failure = ToolError(f"The storage {self.name} failed.", ErrorCode.UNAVAILABLE)
        if failure is not None:
            raise failure


def _lister(system: Any) -> Lister:  # noqa: ANN401 - fsspec is untyped
    return lambda folder: list(system.ls(folder, detail=True))


def _archive_lister(system: Any) -> Lister:  # noqa: ANN401 - fsspec is untyped
    """List the folders of an archive from one pass over it; its own `ls` makes one for each."""
    below: dict[str, list[Info]] = {}

    def listed(folder: str) -> list[Info]:
        if not below:
            below[""] = []
            for info in system.find("", withdirs=True, detail=True).values():
                parent = str(info["name"]).strip("/").rpartition("/")[0]
                below.setdefault(parent, []).append(info)
        return below.get(folder, [])

    return listed


def _judged(path: str) -> str:
    """Give the plain name that a path stands for, refusing what no storage gives out."""
    if "\0" in path or "::" in path or "://" in path:
        raise ToolError("A path holds no NUL, '::' or '://'.", ErrorCode.INVALID_ARGUMENTS)
    segments = [segment for segment in path.split("/") if segment not in {"", "."}]
    if any(map(is_denied_name, segments)):  # `..` is among them
        raise _denied()
    return "/".join(segments)


def _denied() -> ToolError:
    return ToolError("That path is outside what may be read here.", ErrorCode.PERMISSION_DENIED)


def _look(name: str, info: Info) -> FileLook:
    is_folder = info.get("type") == "directory"
    size = info.get("size")
    known = 0 if is_folder or not isinstance(size, int) else size
    return FileLook(name or ".", is_folder, known, _moment(info))


def _moment(info: Info) -> float | None:
    """Give the time of the last change in seconds since 1970, where the driver tells one."""
    for key in _TIMES:
        value = info.get(key)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, tuple):  # an archive: year to second, in no zone
            return None
    return None
