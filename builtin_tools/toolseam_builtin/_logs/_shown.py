"""What may be shown of a record: its text masked, and never more of it than a page takes."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

import attrs

from toolseam.guards import MASK, mask_fields, mask_secrets, mask_source
from toolseam_builtin._logs._json import text_of
from toolseam_builtin._page import one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from toolseam_builtin._logs._records import Record

# An exception's name before its message is a class, whatever words it is made of: no assignment.
_CLASS = re.compile(
    r"^([ |+]*(?:[\w<>]+\.)*[A-Z]\w*(?:Error|Exception|ExceptionGroup|Warning|Exit|Interrupt))"
    r":(?=\s)",
    re.MULTILINE,
)
_APART = "\0"
_LIBRARIES = frozenset({"site-packages", "dist-packages"})


def mask_log(text: str) -> str:
    """Mask text of a log: secrets by shape, and by the name that they are assigned to."""
    parted = _CLASS.sub(rf"\1{_APART}", text.replace(_APART, ""))
    return mask_source(parted).replace(_APART, ":")


def shown_text(record: Record) -> str:
    """Give the whole text of a record as it may be shown and searched."""
    if record.fields is None:
        return mask_log(record.text)
    try:
        masked = mask_fields(record.fields, mask_log)
    except RecursionError:
        return f"{shown_word(record.head.when)} {MASK}".lstrip()
    return mask_secrets(text_of(cast("dict[str, object]", masked)))[0]


def shown_source(record: Record) -> str:
    """Give the logger of a record as it may be shown and compared."""
    return shown_word(record.head.source or "")


def shown_word(text: str) -> str:
    """Mask a piece of a record that stands by itself (a time, a name) and make it one line."""
    return one_line(mask_log(text))


def shown_path(path: str, folder: Path) -> str:
    """Shorten a path of a log: relative to the workspace, or from the library's folder on."""
    pure = PurePosixPath(path.replace("\\", "/"))
    if pure.is_relative_to(folder):
        return pure.relative_to(folder).as_posix()
    library = next((n for n, part in enumerate(pure.parts) if part in _LIBRARIES), None)
    return path if library is None else "/".join(pure.parts[library:])


@attrs.frozen
class Search:
    """A text looked for in what is shown, whatever the case."""

    wanted: str

    def holds(self, record: Record) -> bool:
        """Tell whether the shown text of a record holds what is looked for."""
        if self._in_clear and self.wanted not in record.text.casefold():
            return (
                False  # masking takes away and adds nothing that could match, so this tells nothing
            )
        return self.wanted in shown_text(record).casefold()

    @property
    def _in_clear(self) -> bool:
        """Whether a match can hold no part of the mask, which the text itself does not have."""
        return not (set(self.wanted) & set('[]"\n') or self.wanted in MASK)


def searching(text: str | None) -> Callable[[Record], bool] | None:
    """Return what tells whether a record holds a text, if there is one."""
    return None if text is None else Search(text.casefold()).holds


def cut_lines(text: str, characters: int) -> tuple[list[str], int]:
    """Give the lines of a text, without those in the middle where it has too many characters.

    Returns:
        The lines, a word on what is left out among them, and how many are left out.
    """
    lines = text.split("\n")
    if len(text) <= characters:
        return lines, 0
    head, tail = _fitting(lines, characters // 2), _fitting(lines[::-1], characters // 2)[::-1]
    if len(head) + len(tail) >= len(lines):
        return lines, 0
    left_out = len(lines) - len(head) - len(tail)
    return [*head, f"… [{left_out:,} lines left out]", *tail], left_out


def _fitting(lines: list[str], characters: int) -> list[str]:
    """Give as many lines as fit, but at least one."""
    kept: list[str] = []
    for line in lines:
        characters -= len(line) + 1
        if characters < 0 and kept:
            break
        kept.append(line)
    return kept
