"""Source text as it may be shown: read through the guard, decoded, masked, in lines."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import attrs

from toolseam.guards import FileRead, PathGuard, mask_source

if TYPE_CHECKING:
    from collections.abc import Callable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKED = tuple(mark for mark, _ in _MARKS)
_LINE_END = re.compile(r"\r\n?")
_LANGUAGES = {
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts"), "typescript"),
    **dict.fromkeys(("html", "htm", "jinja", "j2"), "html"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("ini", "cfg", "conf"), "ini"),
    **dict.fromkeys(("sh", "bash"), "shell"),
    **dict.fromkeys(("c", "h"), "c"),
    **{name: name for name in ("css", "go", "java", "json", "php", "sql", "toml", "xml")},
    "md": "markdown",
    "rb": "ruby",
    "rs": "rust",
}
"""Suffix to the name by which highlighters know the language."""


@attrs.frozen
class Source:
    """One text file.

    `lines` are masked, and only whole ones where the file was too large to be read to its end;
    `size` is the whole file's in bytes, `exact` whether each byte could be decoded, `stopped`
    whether lines are missing because masking them was.
    """

    name: str
    lines: tuple[str, ...]
    size: int
    complete: bool
    exact: bool
    stopped: bool = False

    @property
    def language(self) -> str:
        """The language that the suffix tells, or nothing."""
        return _LANGUAGES.get(self.name.rpartition(".")[2].casefold(), "")


def read_lines(guard: PathGuard, name: str) -> Source | None:
    """Read a text file through the guard, or return None if it is not text.

    Raises `ToolError` as `PathGuard.read` does.
    """
    return source_of(guard.read(name))


def source_of(file: FileRead, stop: Callable[[], bool] | None = None) -> Source | None:
    """Give a file that was read as it may be shown, or None if it is not text.

    Args:
        file: what was read.
        stop: as `mask_source` asks it.
    """
    decoded = decode(file.data)
    if decoded is None:
        return None
    text, exact = decoded
    if "\r" in text:
        text = _LINE_END.sub("\n", text)
    lines = mask_source(text, stop).split("\n")
    stopped = len(lines) <= text.count("\n")
    if not file.complete or not lines[-1]:
        lines.pop()
    return Source(file.name, tuple(lines), file.size, file.complete, exact, stopped)


def is_text(data: bytes) -> bool:
    """Tell whether the bytes of a file are text, as `decode` would."""
    return b"\0" not in data or data.startswith(_MARKED)


def decode(data: bytes) -> tuple[str, bool] | None:
    """Decode by byte order mark, else as UTF-8; tell whether nothing had to be replaced."""
    if not is_text(data):
        return None
    encoding = "utf-8"
    for mark, marked in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], marked
            break
    text = data.decode(encoding, "replace")
    return text, "\ufffd" not in text
