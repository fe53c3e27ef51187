"""Warnings of what goes away, as Python and its libraries write them into logs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from toolseam.guards import is_sensitive_name
from toolseam_builtin._logs._records import Record
from toolseam_builtin._logs._shown import mask_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STEM = re.compile(r"Deprecat|FutureWarning|RemovedIn")
_WARNING = re.compile(
    r"(?:(?P<file><[^>\n]{1,100}>|(?:\b[A-Za-z]:)?[^\s:\"'(\[]{1,300}):(?P<line>\d{1,7}): )?"
    r"\b(?P<category>(?:\w{1,50}\.){0,9}"
    r"(?:\w{0,50}Deprecat\w{0,50}|FutureWarning|RemovedIn\w{0,50}Warning))"
    r": (?P<message>.+)"
)
_HEAD = re.compile(r"[\w\s:,.|+\[\]-]*")
_BEFORE = 400
_BEHIND = 1_500


@attrs.frozen
class Deprecation:
    """One distinct warning: category, message, and the place in the code, if it is told."""

    category: str
    message: str
    file: str = ""
    line: int | None = None


@attrs.define
class Seen:
    """How often a warning is in the logs, and the newest record that has it."""

    newest: Record
    count: int = 0


def deprecations(records: Iterable[Record]) -> dict[Deprecation, Seen]:
    """Count the distinct warnings in records, masked; the one that is newest comes first."""
    found: dict[Deprecation, Seen] = {}
    known: dict[str, Deprecation | None] = {}
    for record in records:
        for text in _texts(record):
            for said in _around_stems(text):
                if said not in known:
                    known[said] = _read(said)
                each = known[said]
                if each is not None:
                    found.setdefault(each, Seen(record)).count += 1
    return found


def _texts(record: Record) -> list[str]:
    """Give the text of a record, of an object the texts in it that may be shown."""
    if record.fields is None:
        return [record.text]
    fields = record.fields.items()
    return [text for key, text in fields if isinstance(text, str) and not is_sensitive_name(key)]


def _around_stems(text: str) -> Iterator[str]:
    """Give each line that may hold a warning, but not more of it than a warning has."""
    end = -1
    for stem in _STEM.finditer(text):
        if stem.start() < end:
            continue
        start = max(text.rfind("\n", 0, stem.start()) + 1, stem.start() - _BEFORE)
        end = text.find("\n", stem.start())
        end = min(end if end >= 0 else len(text), stem.start() + _BEHIND)
        warning = _WARNING.search(text, start, end)
        if warning is None:
            continue
        before = text[start : warning.start()]
        # What stands before may tell that this is a secret; a plain head does not, and varies.
        innocent = _HEAD.fullmatch(before) and not is_sensitive_name(before)
        yield warning[0] if innocent else text[start:end]


def _read(said: str) -> Deprecation | None:
    """Read one warning as it may be shown."""
    found = _WARNING.search(mask_log(said))
    if found is None:
        return None
    line = int(found["line"]) if found["line"] else None
    return Deprecation(found["category"], found["message"].strip(), found["file"] or "", line)
