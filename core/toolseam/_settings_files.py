"""Where settings stand: finding, reading and parsing the two files, without judging them.

Imports `tomllib` only when there is something to parse: `toolseam list` passes through here.
"""

from __future__ import annotations

import os
from stat import S_ISREG

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final, TypeGuard

    from toolseam._errors import SettingsError

_LARGEST_FILE = 1 << 20


class SettingsFile:
    """One parsed file: its `path`, its `table` of settings, the whole file's `data` (bytes).

    Without a file, `path` is where it would stand or None, `table` is empty and `data` is b"".
    """

    __slots__ = ("data", "exists", "path", "table")

    def __init__(self, path: str | None, table: Mapping[str, Any], data: bytes | None) -> None:
        self.path: Final = path
        self.table: Final = table
        self.data: Final = data or b""
        self.exists: Final = data is not None

    def digest(self) -> str:
        """SHA-256 of the whole file, in hexadecimal digits."""
        from hashlib import sha256

        return sha256(self.data).hexdigest()


def settings_error(message: str, file: str | None = None, key: str | None = None) -> SettingsError:
    """Make a SettingsError whose text begins with the file and the dotted key it speaks of."""
    from pathlib import Path  # `toolseam list` pays only when something is wrong

    from toolseam._errors import SettingsError

    place = ": ".join(part for part in (file, key) if part)
    text = f"{place}: {message}" if place else message
    return SettingsError(text, file=None if file is None else Path(file), key=key)


def is_table(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a parsed value is a TOML table."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Tell whether a parsed value is a list; host code may give a tuple."""
    return isinstance(value, list | tuple)


def operator_folder() -> str:
    """Name the operator's folder: `$XDG_CONFIG_HOME/toolseam`, by default under `~/.config`."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the XDG rule: a relative path there is to be ignored
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "toolseam")


def operator_file(path: str | None = None) -> SettingsFile:
    """Read the operator's `config.toml` (or `path`, which then must exist)."""
    name = os.path.join(operator_folder(), "config.toml") if path is None else path
    data = _read(name)
    if data is None and path is not None:
        raise settings_error("no such file", name)
    return SettingsFile(name, {} if data is None else _parse(name, data), data)


def trust_file(config: SettingsFile) -> SettingsFile:
    """Read `trust.toml` beside the operator's file: what `toolseam trust` wrote."""
    folder = os.path.dirname(config.path) if config.path else operator_folder()
    name = os.path.join(folder, "trust.toml")
    data = _read(name)
    return SettingsFile(name, {} if data is None else _parse(name, data), data)


def workspace_file(folder: str | None) -> SettingsFile:
    """Read `toolseam.toml`, or `[tool.toolseam]` of `pyproject.toml`, of a folder.

    Raises:
        SettingsError: both say something, or the file cannot be read.
    """
    if folder is None:
        return SettingsFile(None, {}, None)
    plain = os.path.join(folder, "toolseam.toml")
    project = os.path.join(folder, "pyproject.toml")
    own, shared = _read(plain), _read(project)
    mentioned = shared is not None and b"toolseam" in shared
    tools: Any = _parse(project, shared or b"").get("tool") if mentioned else None
    section = tools.get("toolseam") if is_table(tools) else None
    if section is not None and not is_table(section):
        raise settings_error("expected a table", project, "tool.toolseam")
    if section is not None and own is not None:
        raise settings_error(f"{project} has [tool.toolseam] as well: keep one of the two", plain)
    if section is not None:
        return SettingsFile(project, section, shared)
    return SettingsFile(plain, {} if own is None else _parse(plain, own), own)


def _read(name: str) -> bytes | None:
    """Read a regular file of at most 1 MiB; None if there is none."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(name, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        raise settings_error("cannot be read", name) from None
    if not S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise settings_error("expected a regular file", name)
    with open(number, "rb") as file:
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise settings_error("is larger than 1 MiB", name)
    return data


def _parse(name: str, data: bytes) -> dict[str, Any]:
    import tomllib  # costs a bare start; most folders have no settings

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise settings_error("is not UTF-8", name) from None
    except tomllib.TOMLDecodeError as fault:
        raise settings_error(f"is not TOML: {fault}", name) from None
    except (RecursionError, ValueError):  # deep nesting; an integer of more than 4,300 digits
        raise settings_error("is not TOML: nested too deeply, or a number too long", name) from None
