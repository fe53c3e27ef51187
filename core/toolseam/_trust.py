"""Writing the operator's trust: `trust.toml` beside his own file, which is never touched.

A file of its own, since his comments and order are his, and no library is needed to keep them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from toolseam._entrypoints import canonical
from toolseam._selection import texts, texts_by_name
from toolseam._settings_files import operator_file, settings_error, trust_file, workspace_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolseam._settings_files import SettingsFile

_HEAD = "# Written by `toolseam trust`; read together with config.toml.\n"


def trust_distribution(name: str, *, config: str | os.PathLike[str] | None = None) -> Path:
    """Trust a distribution or entry point by name; returns the file that was written.

    Args:
        name: letters, digits, ``-``, ``_`` and ``.``; kept in its PEP 503 form.
        config: the operator's file instead of his own `config.toml`.

    Raises:
        SettingsError: this is no name (`"*"` is for the operator to write himself), or the file
            cannot be read or written.
    """
    if not name.isascii() or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise settings_error(f"not the name of a distribution: {ascii(name)[:64]}")
    return _add(config, name=canonical(name))


def trust_workspace(
    folder: str | os.PathLike[str], *, config: str | os.PathLike[str] | None = None
) -> Path:
    """Trust a folder with its present workspace file; returns the file that was written.

    A changed workspace file is no longer trusted.

    Args:
        folder: the workspace, kept with links resolved.
        config: the operator's file instead of his own `config.toml`.

    Raises:
        SettingsError: there is no such folder, or a file cannot be read or written.
    """
    place = os.path.realpath(folder)
    if not Path(place).is_dir():
        raise settings_error("no such folder", place)
    return _add(config, workspace=(place, workspace_file(place).digest()))


def distrust(word: str, *, config: str | os.PathLike[str] | None = None) -> bool:
    """Take back what `trust_distribution` or `trust_workspace` wrote; False if it is not there.

    Args:
        word: a name as it was given, or a folder.
        config: the operator's file instead of his own `config.toml`.

    Raises:
        SettingsError: the file cannot be read or written.
    """
    names, workspaces = trusted(config=config)
    place = os.path.realpath(word)
    kept = [name for name in names if name != canonical(word)]
    if place not in workspaces and len(kept) == len(names):
        return False
    workspaces.pop(place, None)
    _save(config, kept, workspaces)
    return True


def trusted(*, config: str | os.PathLike[str] | None = None) -> tuple[list[str], dict[str, str]]:
    """Return the names, and the folders with the digests of their files, that were written."""
    file = _file(config)
    names = texts(file.table, "trust", file.path)
    return list(names), texts_by_name(file.table, "trusted_workspaces", file.path)


def _file(config: str | os.PathLike[str] | None) -> SettingsFile:
    return trust_file(operator_file(None if config is None else os.fspath(config)))


def _add(
    config: str | os.PathLike[str] | None,
    *,
    name: str | None = None,
    workspace: tuple[str, str] | None = None,
) -> Path:
    names, workspaces = trusted(config=config)
    if name is not None and name not in names:
        names.append(name)
    if workspace is not None:
        workspaces[workspace[0]] = workspace[1]
    return _save(config, names, workspaces)


def _save(
    config: str | os.PathLike[str] | None, names: Sequence[str], workspaces: Mapping[str, str]
) -> Path:
    path = Path(str(_file(config).path))
    try:
        _write(path, _toml(names, workspaces))
    except (OSError, UnicodeEncodeError) as error:
        raise settings_error(f"cannot be written: {type(error).__name__}", str(path)) from None
    return path


def _write(path: Path, text: str) -> None:
    """Replace the file in one step, readable by its owner alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number, temporary = tempfile.mkstemp(dir=path.parent, prefix=".trust-")
    try:
        with open(number, "wb") as file:  # noqa: PTH123 - mkstemp gives a number
            file.write(text.encode())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _toml(names: Sequence[str], workspaces: Mapping[str, str]) -> str:
    listed = ", ".join(_quoted(name) for name in sorted(names))
    rows = (f"{_quoted(place)} = {_quoted(mark)}\n" for place, mark in sorted(workspaces.items()))
    return f"{_HEAD}trust = [{listed}]\n\n[trusted_workspaces]\n{''.join(rows)}"


def _quoted(text: str) -> str:
    """Write a TOML basic string; control characters must be escaped there."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_letter(letter) for letter in escaped) + '"'


def _letter(letter: str) -> str:
    return f"\\u{ord(letter):04X}" if ord(letter) < ord(" ") or letter == "\x7f" else letter
