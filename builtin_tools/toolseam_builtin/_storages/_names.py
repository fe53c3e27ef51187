"""Names, kinds and sizes of files as an answer shows them."""

from __future__ import annotations

import functools
import mimetypes
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolseam.guards import mask_secrets
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME_CHARACTERS = 300

_TYPES = {
    ".avif": "image/avif",
    ".gz": "application/gzip",
    ".heic": "image/heic",
    ".jxl": "image/jxl",
    ".md": "text/markdown",
    ".toml": "application/toml",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""What the standard library learned lately, so that each Python says the same."""


def shown_name(name: str) -> str:
    """Return a file's name as one line, secrets masked."""
    return one_line(excerpt(mask_secrets(name)[0], NAME_CHARACTERS))


def all_shown_as_stored(names: Sequence[str]) -> bool:
    """Tell whether an answer shows each of many names as it is stored, at the price of one look."""
    text = "\n".join(names)
    plain = text.replace("\n", "")
    return (
        mask_secrets(text)[1] == 0
        and one_line(plain) == plain
        and text.count("\n") == max(0, len(names) - 1)
        and max(map(len, names), default=0) <= NAME_CHARACTERS
    )


def mime_type(name: str) -> str:
    """Return the MIME type that a name's ending stands for, by the library's own table alone."""
    ending = name[name.rfind(".") :].casefold() if "." in name else ""
    known = _TYPES.get(ending)
    if known is not None:
        return known
    found, encoding = _library().guess_type(f"x{ending}", strict=False)
    return "application/octet-stream" if found is None or encoding else found


def moment(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()


@functools.cache
def _library() -> mimetypes.MimeTypes:
    return mimetypes.MimeTypes()
