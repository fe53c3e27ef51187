"""Which configuration files there are, and their text: all through the path guard."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import READ_LIMIT, PathGuard
from toolseam_builtin._config._model import Broken
from toolseam_builtin._page import one_line
from toolseam_builtin.code._source import decode

if TYPE_CHECKING:
    from toolseam_builtin.workspace import Workspace

_FORMATS = {
    "toml": "TOML",
    "yaml": "YAML",
    "yml": "YAML",
    "json": "JSON",
    "ini": "INI",
    "cfg": "INI",
    "conf": "INI",
    "properties": "INI",
    "py": "Python",
    "env": "environment",
}
_LOOKED_AT = (".", "config", "conf", "settings")
_FOUND = frozenset({"toml", "yaml", "yml", "json", "ini", "cfg"})
_LISTED = 20


@attrs.frozen
class ConfigText:
    """The text of a file, of which `mark` tells whether it began with a byte order mark."""

    name: str
    format: str
    text: str
    mark: bool
    exact: bool


def format_of(name: str) -> str | None:
    """Tell what a file is by its name, or None."""
    last = name.rpartition("/")[2].casefold()
    if last == ".flaskenv" or last.startswith(".env."):
        return "environment"
    return _FORMATS.get(last.rpartition(".")[2]) if "." in last else None


def guard_of(workspace: Workspace) -> PathGuard:
    """Return the guard over the workspace's folder.

    Of hidden files it gives out those that the workspace lists by name, such as `.env`.
    """
    return PathGuard(workspace.place, named=(*workspace.config_files, *workspace.settings_layers))


def config_files(workspace: Workspace) -> tuple[str, ...]:
    """Return the names of the configuration files: those listed, else those found by name."""
    if workspace.config_files:
        return workspace.config_files
    guard = guard_of(workspace)
    found: list[str] = []
    for folder in _LOOKED_AT:
        try:
            files = guard.folder(folder).files
        except ToolError:
            continue
        prefix = "" if folder == "." else f"{folder}/"
        found += [prefix + name for name in files if name.rpartition(".")[2] in _FOUND]
    return tuple(found)


def read_config(workspace: Workspace, name: str) -> ConfigText:
    """Read a configuration file of the workspace.

    Raises `ToolError` as `PathGuard.read` does, `invalid_arguments` for what is no configuration
    file; `Broken` for a file that is too large.
    """
    guard = guard_of(workspace)
    try:
        file = guard.read(name)
    except ToolError as refusal:
        if refusal.code != ErrorCode.NOT_FOUND:
            raise
        listed = config_files(workspace)
        known = ", ".join(map(one_line, listed[:_LISTED])) or "none"
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        message = f"No configuration file has this name; the workspace's are: {known}{more}."
        raise ToolError(message, ErrorCode.NOT_FOUND) from None
    kind = format_of(file.name)
    if kind is None:
        raise ToolError(
            "By its name this is no TOML, YAML, JSON, INI, Python or environment file.",
            ErrorCode.INVALID_ARGUMENTS,
        )
    if not file.complete:
        limit = f"has {file.size:,} bytes; the size limit is {READ_LIMIT:,}"
        raise Broken(None, "size", limit)
    decoded = decode(file.data)
    if decoded is None:
        raise ToolError("The file is not text.", ErrorCode.INVALID_ARGUMENTS)
    mark = file.data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return ConfigText(file.name, kind, decoded[0], mark, decoded[1])
