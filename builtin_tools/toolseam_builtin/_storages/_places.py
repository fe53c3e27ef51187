"""What `[workspace.storages]` says: a name, and where the files are."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

FOLDER = "file"
WHOLE = "workspace"
"""The storage of a workspace that names none: the plain files of its folder."""

_DRIVERS = {
    "memory": "fsspec",
    "zip": "fsspec",
    "s3": "s3fs",
    "gs": "gcsfs",
    "az": "adlfs",
    "sftp": "paramiko",
}
_NEAR = frozenset({"memory", "zip"})


@attrs.frozen
class Place:
    """One named storage; `rest` may hold a credential and is never shown."""

    name: str
    protocol: str
    rest: str = attrs.field(repr=False)


@attrs.frozen
class State:
    """One storage without where it is: flags, and why it cannot be opened."""

    name: str
    protocol: str
    flags: tuple[str, ...]
    fault: str | None = None


def states(workspace: Workspace) -> list[State]:
    """Say of each storage whether it can be opened, as far as that is known without trying."""
    return [_state(workspace, place) for place in places(workspace)]


def places(workspace: Workspace) -> list[Place]:
    """Return the storages that the workspace names, in its order, else its folder as one."""
    named = workspace.storages or {WHOLE: "."}
    return [_place(name, url) for name, url in named.items()]


def fault(workspace: Workspace, place: Place) -> ToolError | None:
    """Return why a storage cannot be opened, without touching it or the network."""
    if place.protocol == FOLDER:
        try:
            path = workspace.inside(place.rest, f"storages.{place.name}")
        except ToolError as refusal:
            return refusal
        return None if path.is_dir() else _unavailable(place, "names no folder")
    driver = _DRIVERS.get(place.protocol)
    if driver is None:
        allowed = ", ".join([FOLDER, *_DRIVERS])
        return _unavailable(place, f"must be a folder, or have one of the protocols {allowed}")
    if "::" in place.rest:
        return _unavailable(place, "chains protocols, which is not allowed")
    if not workspace.trusted:
        message = "is no plain folder, and the workspace is not trusted; `toolseam trust .` allows"
        return _unavailable(place, f"{message} it", "untrusted_workspace")
    if find_spec("fsspec") is None:
        message = "needs fsspec: pip install 'toolseam[files]'"
        return _unavailable(place, message, "missing_extra")
    if find_spec(driver) is None:
        return _unavailable(place, f"needs {driver}: pip install {driver}", "missing_extra")
    return None


def _state(workspace: Workspace, place: Place) -> State:
    refusal = fault(workspace, place)
    own = place.protocol == FOLDER
    flags = ["read only", "on this machine" if own or place.protocol in _NEAR else "on a server"]
    if not workspace.storages:
        flags.append("the workspace's own folder, since it names no storage")
    protocol = place.protocol if own or place.protocol in _DRIVERS else "not allowed"
    said = None if refusal is None else refusal.message
    return State(place.name, protocol, tuple(flags), said)


def _place(name: str, url: str) -> Place:
    scheme, mark, rest = url.partition("://")
    if not mark:
        return Place(name, FOLDER, url)
    return Place(name, scheme.casefold(), rest)


def _unavailable(place: Place, message: str, reason: str | None = None) -> ToolError:
    return ToolError(
        f"workspace.storages.{place.name} {message}.",
        ErrorCode.UNAVAILABLE,
        metadata=None if reason is None else {"reason": reason},
    )
