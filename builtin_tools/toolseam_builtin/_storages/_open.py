"""From a workspace to its open storages."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard
from toolseam_builtin._page import excerpt, one_line
from toolseam_builtin._storages._folder import FolderStorage
from toolseam_builtin._storages._model import Storage, no_file
from toolseam_builtin._storages._places import FOLDER, WHOLE, fault, places
from toolseam_builtin._storages._references import split
from toolseam_builtin._storages._sftp import sftp_options
from toolseam_builtin.code import PASSED_OVER

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from toolseam.guards import FileLook
    from toolseam_builtin._storages._places import Place
    from toolseam_builtin.workspace import Workspace

_OPTIONS: dict[str, dict[str, Any]] = {
    "s3": {
        "config_kwargs": {
            "connect_timeout": 1,
            "read_timeout": 1,
            "retries": {"total_max_attempts": 1},
        }
    }
}
"""What keeps a server that does not answer from holding a tool."""


@attrs.frozen
class Storages:
    """Storages that are open, all that are named, and why others are not open."""

    opened: tuple[Storage, ...]
    names: tuple[str, ...]
    faults: dict[str, ToolError]

    def unopened(self) -> list[str]:
        """Return why storages are not open, for the warnings of an answer."""
        return [failure.message for failure in self.faults.values()]

    def named(self, name: str | None) -> str | None:
        """Return a storage's name as it was given.

        Raises `ToolError` `not_found` for a name that no storage has, or why it is not open.
        """
        if name is not None and name not in self.names:
            raise _no_storage(self.names)
        if name in self.faults:
            raise self.faults[name]
        return name

    def choose(self, folder: str, name: str | None) -> tuple[Storage, str]:
        """Choose the storage of a folder, by its name or by `storage:folder`, else the first.

        Raises `ToolError` `not_found` for a name that no storage has, or why it is not open.
        """
        named, path = (name, folder) if name is not None else split(folder, self.names)
        wanted = self.named(self.names[0] if named is None else named)
        return next(storage for storage in self.opened if storage.name == wanted), path

    def locate(self, file: str) -> tuple[Storage, FileLook]:
        """Find a file by a path, or by `storage:path`, without a name in the first that has it.

        Raises `ToolError`: `permission_denied` for what is outside or denied, `not_found` for
        nothing, `invalid_arguments` for what is no path or is a folder, or why the storage that
        it names is not open.
        """
        given, path = split(file, self.names)
        named = self.named(given)
        failure: ToolError | None = None
        for storage in self.opened:
            if named not in {None, storage.name}:
                continue
            try:
                look = storage.look(path)
            except ToolError as refusal:
                failure = failure or refusal
                continue
            if look.is_folder:
                name = "/" if look.name == "." else one_line(excerpt(look.name, 200))
                message = f"{storage.name}:{name} is a folder."
                raise ToolError(message, ErrorCode.INVALID_ARGUMENTS)
            return storage, look
        raise failure or no_file(file)


@contextmanager
def open_storages(workspace: Workspace) -> Generator[Storages]:
    """Open the storages of a workspace that can be opened, and close them afterwards.

    Raises `ToolError` `unavailable` where none of them can be opened.
    """
    opened: list[Storage] = []
    faults: dict[str, ToolError] = {}
    known = places(workspace)
    try:
        for place in known:
            try:
                opened.append(_opened(workspace, place))
            except ToolError as failure:
                faults[place.name] = failure
        if not opened:
            raise next(iter(faults.values()))
        yield Storages(tuple(opened), tuple(place.name for place in known), faults)
    finally:
        for storage in opened:
            storage.close()


def _no_storage(names: Sequence[str]) -> ToolError:
    listed = one_line(excerpt(", ".join(names), 500))
    return ToolError(f"No storage has that name; there are: {listed}.", ErrorCode.NOT_FOUND)


def _opened(workspace: Workspace, place: Place) -> Storage:
    refusal = fault(workspace, place)
    if refusal is not None:
        raise refusal
    if place.protocol == FOLDER:
        path = workspace.inside(place.rest, f"storages.{place.name}")
        whole = not workspace.storages and place.name == WHOLE
        return FolderStorage(place.name, PathGuard(path), PASSED_OVER if whole else frozenset())
    return _remote(workspace, place)


def _remote(workspace: Workspace, place: Place) -> Storage:
    from toolseam_builtin._storages._remote import RemoteStorage

    hint = "; sftp needs fsspec 2026.9, and the server's key in ~/.ssh/known_hosts"
    more = hint if place.protocol == "sftp" else ""
    failure = ToolError(f"The storage {place.name} cannot be opened{more}.", ErrorCode.UNAVAILABLE)
    with ExitStack() as held:
        try:
            system, root = _system(workspace, place, held)
        except Exception:  # noqa: BLE001 - a driver raises what it likes, and none of it may leave
            raise failure from None
        return RemoteStorage(place.name, system, root, held.pop_all())


def _system(workspace: Workspace, place: Place, held: ExitStack) -> tuple[Any, str]:
    """Return a file system of fsspec and the root in it; what must be closed is held."""
    if place.protocol == "zip":
        archive = workspace.inside(place.rest, f"storages.{place.name}")
        # A file object: a path would be read as a URL of fsspec's own.
        file = held.enter_context(archive.open("rb"))
        zipped = import_module("fsspec.implementations.zip").ZipFileSystem(fo=file)
        held.callback(zipped.close)
        return zipped, ""
    options = {"use_listings_cache": False, **_OPTIONS.get(place.protocol, {})}
    if place.protocol == "sftp":
        options = sftp_options()
    system, root = import_module("fsspec.core").url_to_fs(
        f"{place.protocol}://{place.rest}",
        skip_instance_cache=True,
        **options,
    )
    if place.protocol == "sftp":
        held.callback(system.client.close)
    return system, str(root)
