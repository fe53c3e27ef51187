"""The names of rotated files: which log they belong to, and in which order they were written."""

from __future__ import annotations

import re

import attrs

_DAY = r"\d{4}-?\d\d-?\d\d(?:[T_.-]?\d\d(?:[-:.]?\d\d){0,2}(?:_\d+)?)?"
_BEHIND = re.compile(rf"(?P<base>.+?)(?:[._-](?P<day>{_DAY}))?(?:\.(?P<number>\d{{1,5}}))?")
_WITHIN = re.compile(
    rf"(?P<stem>.+?)(?:[._-](?P<day>{_DAY})|\.(?P<number>\d{{1,5}}))"
    r"(?P<suffix>\.(?:log|txt|out|err|json|jsonl|ndjson))"
)
_PACKED = ".gz"
_SUFFIXES = frozenset({"", "log", "txt", "out", "err", "json", "jsonl", "ndjson"})
OTHER_PACKED = (".bz2", ".xz", ".zst", ".zip", ".Z", ".7z", ".lz4")
"""What rotation may pack with too, and nobody here unpacks."""


@attrs.frozen
class Generation:
    """Where a file stands in the rotation of a log.

    `base` is the name of the log itself, `day` the digits of the date in the name, `number` that
    of the rotation; neither is there for the file that is written to.
    """

    base: str
    day: str = ""
    number: int | None = None
    packed: bool = False

    @property
    def current(self) -> bool:
        """Whether this is the file that is written to."""
        return not self.day and self.number is None


def generation_of(name: str) -> Generation:
    """Read the name of a file: `app.log.10`, `app.log.2.gz`, `app.log-20250506`, `app.3.log`.

    Args:
        name: a path or the last segment of one.
    """
    packed = name.endswith(_PACKED)
    name = name.removesuffix(_PACKED)
    found = _BEHIND.fullmatch(name)
    if found and (found["day"] or found["number"]):
        base = found["base"]
    elif found := _WITHIN.fullmatch(name):
        base = found["stem"] + found["suffix"]
    else:
        return Generation(name, packed=packed)
    day = re.sub(r"\D", "", found["day"] or "")
    return Generation(base, day, int(found["number"]) if found["number"] else None, packed)


def newest_first(names: list[str]) -> list[str]:
    """Put the files of one log in order, the one that was written to last at first."""
    known = {name: generation_of(name) for name in names}
    names = sorted(names, key=lambda name: known[name].number or 0)
    names.sort(key=lambda name: known[name].day, reverse=True)
    return sorted(names, key=lambda name: not known[name].current)


def is_log_name(name: str) -> bool:
    """Tell whether a file in a folder of logs is one by its name."""
    base = generation_of(name).base.rpartition("/")[2]
    return base.rpartition(".")[2].casefold() in _SUFFIXES if "." in base else True
