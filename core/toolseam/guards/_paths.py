"""Staying inside one folder, whatever links, names and races say."""

from __future__ import annotations

import os
import stat
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam._errors import ErrorCode
from toolseam._result import ToolError
from toolseam._text import short
from toolseam.guards._denied import holds_keys, is_denied_name

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator
    from typing import BinaryIO

READ_LIMIT = 2_000_000
"""The most that one read gives, in bytes."""

DATABASE_MAGIC = (
    b"SQLite format 3\0",
    *(b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"),  # its write-ahead log, in both byte orders
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",  # its rollback journal
)
_MAGIC_BYTES = max(map(len, DATABASE_MAGIC))
OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def denied() -> ToolError:
    """Give the one refusal for a path outside what is allowed, existing or not (contract §1)."""
    return ToolError("That path is outside what may be read here.", ErrorCode.PERMISSION_DENIED)


@attrs.frozen
class FileRead:
    """What one read gave: the file's stored name, its first bytes and its size in bytes."""

    name: str
    data: bytes
    size: int

    @property
    def complete(self) -> bool:
        """Whether the whole file was read."""
        return len(self.data) >= self.size


@attrs.frozen
class FileLook:
    """What stands under a name, without a byte of it: stored name, size in bytes, time of change.

    `modified` is in seconds since 1970, UTC, `None` where it is not known; a folder has no size.
    """

    name: str
    is_folder: bool
    size: int
    modified: float | None


@attrs.frozen
class FolderRead:
    """What may be seen in a folder: its stored name, then names of folders and of files, sorted.

    `left_out` counts the entries that are hidden, denied by name, links, or no regular files.
    """

    name: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    left_out: int


def _real(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.realpath(path))


def _all_real(paths: Collection[str | os.PathLike[str]]) -> tuple[Path, ...]:
    return tuple(map(_real, paths))


def _normal(names: Collection[str]) -> frozenset[str]:
    return frozenset(map(os.path.normpath, names))


@attrs.frozen
class PathGuard:
    """Gives out files below one folder, and no others.

    A name is resolved first, links included; containment and the deny rules then hold for what it
    resolved to: no hidden segment, no key material, no credential file, no SQLite file, no second
    name of a file (a hard link may stand for a file outside). What is opened is compared with what
    was judged. POSIX only.

    Args:
        root: the folder.
        closed: files and folders below it that are nobody's business, such as the audit store.
        named: names of hidden files, relative to the root, that may be read all the same, such as
            ``.env``. Key material stays denied, and so does a link to a hidden file.
    """

    root: Path = attrs.field(converter=_real)
    closed: tuple[Path, ...] = attrs.field(default=(), converter=_all_real)
    named: frozenset[str] = attrs.field(default=frozenset(), converter=_normal)

    def resolve(self, name: str) -> Path:
        """Judge a name, whether or not something stands there.

        Args:
            name: relative to the root with ``/`` between segments, or absolute. Where nothing has
                exactly this name, the one whose name is equal in Unicode NFC is taken.

        Returns:
            The path with all links resolved, below the root.

        Raises:
            ToolError: `invalid_arguments` for a NUL character, ``::`` or ``://`` in the name;
                `permission_denied` for what is outside or denied, existing or not (contract §1).
        """
        if "\0" in name or "::" in name or "://" in name:
            raise ToolError("A path holds no NUL, '::' or '://'.", ErrorCode.INVALID_ARGUMENTS)
        try:
            path = _real(self.root / name)
            if path.is_relative_to(self.root) and not os.path.lexists(path):
                path = _real(self._stored(path))
        except ValueError:
            raise ToolError("The path is no file name.", ErrorCode.INVALID_ARGUMENTS) from None
        if not self._allows(path):
            raise denied()
        return path

    def read(self, name: str, limit: int = READ_LIMIT) -> FileRead:
        """Read a file, or as much of it as the limit allows.

        Args:
            name: as for `resolve`.
            limit: how many bytes at most, up to 2,000,000.

        Returns:
            The bytes, with the name under which the file is stored.

        Raises:
            ToolError: as `resolve`; `not_found` for nothing and for a link to nothing;
                `invalid_arguments` for a folder.
        """
        with self.open(name) as (look, file):
            return FileRead(look.name, file.read(min(limit, READ_LIMIT)), look.size)

    @contextmanager
    def open(self, name: str) -> Generator[tuple[FileLook, BinaryIO]]:
        """Open a file to be read piece by piece; it is closed at the end of the block.

        Args:
            name: as for `resolve`.

        Returns:
            What stands there, and its bytes as a stream at their beginning.

        Raises:
            ToolError: as `read`.
        """
        path = self.resolve(name)
        judged = _look(path, name)
        if stat.S_ISDIR(judged.st_mode):
            raise ToolError(f"{short(name or '.', 200)} is a folder.", ErrorCode.INVALID_ARGUMENTS)
        look = self._looked(path, judged)
        with os.fdopen(open_judged(path, judged, name), "rb") as file:
            if file.peek(_MAGIC_BYTES).startswith(DATABASE_MAGIC):
                raise denied()
            yield look, file

    def look(self, name: str) -> FileLook:
        """Look at a file or folder without opening it.

        Args:
            name: as for `resolve`.

        Raises:
            ToolError: as `resolve`; `not_found` for nothing and for a link to nothing.
        """
        path = self.resolve(name)
        return self._looked(path, _look(path, name))

    def folder(self, name: str = ".") -> FolderRead:
        """List one folder.

        Args:
            name: as for `resolve`.

        Raises:
            ToolError: as `resolve`; `not_found` for nothing; `invalid_arguments` for a file.
        """
        path = self.resolve(name)
        judged = _look(path, name)
        if not stat.S_ISDIR(judged.st_mode):
            raise ToolError(f"{short(name, 200)} is no folder.", ErrorCode.INVALID_ARGUMENTS)
        folders, files, left_out = self._entries(path, judged)
        return FolderRead(self._name(path), tuple(folders), tuple(files), left_out)

    def walk(self, name: str = ".", *, leave_out: Collection[str] = ()) -> Iterator[str]:
        """Walk the files below a folder, sorted, without following links.

        Args:
            name: the folder as for `resolve`; a file stands for itself.
            leave_out: names of folders that are not entered.

        Returns:
            Names relative to the root, to be given to `read`; what is hidden or denied by name
            is not among them. A folder that cannot be listed counts as empty.

        Raises:
            ToolError: as `resolve`, at once; `not_found` for nothing.
        """
        path = self.resolve(name)
        if stat.S_ISDIR(_look(path, name).st_mode):
            return self._walk(path, frozenset(leave_out))
        return iter([self._name(path)])

    def _walk(self, folder: Path, leave_out: frozenset[str]) -> Iterator[str]:
        name = self._name(folder)
        below = [self._steps("" if name == "." else f"{name}/")]
        while below:
            step = next(below[-1], None)
            if step is None:
                below.pop()
                continue
            path, segment, is_folder = step
            if not is_folder:
                yield path
            elif segment not in leave_out:
                below.append(self._steps(f"{path}/"))

    def _steps(self, prefix: str) -> Iterator[tuple[str, str, bool]]:
        """Give path, last segment and whether it is a folder, of what is in a folder, sorted."""
        folder = self.root / prefix
        try:
            folders, files, _ = self._entries(folder, os.lstat(folder))
        except (ToolError, OSError):
            return iter(())
        marked = [(name, True) for name in folders] + [(name, False) for name in files]
        marked.sort()
        return ((prefix + name, name, is_folder) for name, is_folder in marked)

    def _entries(self, folder: Path, judged: os.stat_result) -> tuple[list[str], list[str], int]:
        """List what may be seen in a folder: names of folders, of files, how many are left out."""
        folders: list[str] = []
        files: list[str] = []
        seen = 0
        closed = {path.name for path in self.closed if path.parent == folder}
        number = open_judged(folder, judged, "")
        try:
            with os.scandir(number) as found:
                for entry in found:
                    seen += 1
                    name = entry.name
                    if is_denied_name(name) or name in closed:
                        continue
                    if entry.is_file(follow_symlinks=False):
                        files.append(name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(name)
        finally:
            os.close(number)
        folders.sort()
        files.sort()
        return folders, files, seen - len(folders) - len(files)

    def _looked(self, path: Path, judged: os.stat_result) -> FileLook:
        is_folder = stat.S_ISDIR(judged.st_mode)
        if not is_folder and (not stat.S_ISREG(judged.st_mode) or judged.st_nlink > 1):
            raise denied()
        size = 0 if is_folder else judged.st_size
        return FileLook(self._name(path), is_folder, size, judged.st_mtime)

    def _allows(self, path: Path) -> bool:
        """Tell whether a resolved path is inside and none of its segments is denied."""
        if not path.is_relative_to(self.root):
            return False
        if self._is_closed(path):
            return False
        below = path.relative_to(self.root)
        denies = holds_keys if below.as_posix() in self.named else is_denied_name
        return not any(map(denies, below.parts))

    def _is_closed(self, path: Path) -> bool:
        return any(path.is_relative_to(closed) for closed in self.closed)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _stored(self, path: Path) -> Path:
        """Give the path with each segment as it is stored, where NFC leaves no doubt."""
        found = self.root
        for segment in path.relative_to(self.root).parts:
            exact = found / segment
            # A folder is not listed for an ASCII name: nobody writes the three signs (the Kelvin
            # sign is one) that are equal to an ASCII letter in NFC.
            odd = not segment.isascii() and not os.path.lexists(exact)
            if odd and _real(found).is_relative_to(self.root):
                wanted = unicodedata.normalize("NFC", segment)
                equal = [n for n in _odd_names(found) if unicodedata.normalize("NFC", n) == wanted]
                exact = found / equal[0] if len(equal) == 1 else exact
            found = exact
        return found


def _odd_names(folder: Path) -> list[str]:
    """List what a folder holds under names that are not ASCII."""
    try:
        return [name for name in os.listdir(folder) if not name.isascii()]  # noqa: PTH208 - quicker
    except OSError:
        return []


def _look(path: Path, name: str) -> os.stat_result:
    """Look at what stands at a resolved path."""
    try:
        return os.lstat(path)
    except PermissionError:
        raise denied() from None
    except OSError:
        raise ToolError(f"Nothing is named {short(name, 200)}.", ErrorCode.NOT_FOUND) from None


def open_judged(path: Path, judged: os.stat_result, name: str) -> int:
    """Open what was judged, and nothing that took its place meanwhile.

    Args:
        path: a resolved path.
        judged: what stood there.
        name: what the caller asked for, for the refusal.

    Returns:
        A file descriptor, open for reading; it never waits.

    Raises:
        ToolError: `not_found` or `permission_denied`.
    """
    try:
        number = os.open(path, OPEN)
    except FileNotFoundError:
        raise ToolError(f"Nothing is named {short(name, 200)}.", ErrorCode.NOT_FOUND) from None
    except OSError:
        raise denied() from None
    opened = os.fstat(number)
    try:
        place = Path(f"/proc/self/fd/{number}").readlink()
    except OSError:  # a system without /proc: the inode must do
        place = path
    same = (opened.st_dev, opened.st_ino) == (judged.st_dev, judged.st_ino)
    if not same or stat.S_IFMT(opened.st_mode) != stat.S_IFMT(judged.st_mode) or place != path:
        os.close(number)
        raise denied()
    return number
