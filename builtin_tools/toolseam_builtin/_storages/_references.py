"""What a cell of a file column, or a person, means by a path."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Collection

_SCHEME = re.compile("(?:data|mailto|javascript):", re.IGNORECASE)


@attrs.frozen
class Reference:
    """A file that something points to; without a storage's name it may be in any of them.

    `asked` is the path as written, below the storage's root; `path` is what two references are
    compared by: without slashes in front, empty and `.` segments, in Unicode NFC.
    """

    storage: str | None
    asked: str = attrs.field(eq=False)
    path: str

    def means(self, storage: str, path: str) -> bool:
        """Tell whether it points to a file, named as its storage stores it."""
        return self.storage in {None, storage} and self.path == plain(path)


def plain(path: str) -> str:
    """Return a path in the form that is compared."""
    if path.isascii() and "//" not in f"/{path}/" and "/." not in f"/{path}":
        return path
    segments = [segment for segment in path.split("/") if segment not in {"", "."}]
    return unicodedata.normalize("NFC", "/".join(segments))


def split(text: str, storages: Collection[str]) -> tuple[str | None, str]:
    """Return the storage that a text names before a colon, if it is one of them, and the rest.

    A slash behind the colon is the storage's root; without a storage it may be the machine's.
    """
    before, colon, after = text.partition(":")
    return (before, after.lstrip("/")) if colon and before in storages else (None, text)


def parse(value: str, storages: Collection[str]) -> Reference | None:
    """Return what a text points to, or None if it is empty, an address, or no path.

    Args:
        value: `path`, `/path` or `storage:path`.
        storages: the names before a colon that mean a storage; any other colon is part of a name.
    """
    if "://" in value or "::" in value or "\0" in value:
        return None
    storage, asked = split(value, storages)
    path = plain(asked)
    if not path or (storage is None and _SCHEME.match(value)):
        return None
    return Reference(storage, asked.lstrip("/"), path)


def spellings(storage: str, path: str, storages: Collection[str]) -> tuple[str, ...]:
    """Return the texts by which a cell usually points to a file; `parse` understands each.

    Doubled slashes and `.` in the middle are understood too, but nobody can list them.
    """
    forms = dict.fromkeys(
        [path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD"))],
    )
    texts = [
        f"{start}{form}"
        for form in forms
        for start in ("", "/", "./", f"{storage}:", f"{storage}:/")
    ]
    return tuple(text for text in texts if _means(text, storage, path, storages))


def _means(text: str, storage: str, path: str, storages: Collection[str]) -> bool:
    reference = parse(text, storages)
    return reference is not None and reference.means(storage, path)
