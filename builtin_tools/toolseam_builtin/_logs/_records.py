"""Records: what one call of a logger wrote, be it one line or a traceback of hundreds."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import datetime
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import attrs

from toolseam_builtin._logs._heads import DATED, JSON, LEVELLED, Head, head_of
from toolseam_builtin._logs._json import from_json
from toolseam_builtin._logs._reading import Budget, sections

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam_builtin._logs._files import Log, LogFile

HOST_LOG = "toolseam"
"""The host's own log, which is never the workspace's."""

_TRACEBACK = re.compile(r"(?:\s*\+ Exception Group )?Traceback \(most recent call last\):")
_CHAINED = ("The above exception was", "During handling of the above exception")
_QUIET = frozenset({None, "debug", "info"})
_SAMPLE = 200
_LOOK_EACH = 256
_LOOK_AHEAD = 400
# A line of a private key begins nothing, lest it be told from the mark by which it is masked.
_PLAIN = r"^(?=\S)(?![A-Za-z0-9+/=]{16,}\s*$|-----END )"
_KEY = ("-----BEGIN ", "-----END ")
_KEY_LINES = 200


@attrs.frozen
class Record:
    """One record as it stands in its file, before anything is masked.

    `fields` is the JSON object that it was read from, if it was one; `text` then is made of it.
    `now` is when the reading began.
    """

    file: str
    log: str
    text: str
    now: datetime
    fields: dict[str, object] | None = None
    _given: Head | None = None

    @cached_property
    def head(self) -> Head:
        """What its first line says of time, level and logger."""
        return self._given or head_of(self.text.partition("\n")[0], self.now)

    @property
    def host_own(self) -> bool:
        """Whether the host itself wrote it."""
        if HOST_LOG not in self.text[:_LOOK_AHEAD]:
            return False
        source = self.head.source or ""
        return source == HOST_LOG or source.startswith(f"{HOST_LOG}.")


@lru_cache(maxsize=4)
def _starts(style: str) -> tuple[re.Pattern[str], re.Pattern[bytes]]:
    """Compile what begins a record in a style, for text and for bytes."""
    return re.compile(style, re.MULTILINE | re.ASCII), re.compile(style.encode(), re.MULTILINE)


def style_of(data: bytes) -> str:
    """Tell by its first lines in which style a file is written: what begins a record in it."""
    sample = b"\n".join(data.split(b"\n", _SAMPLE)[:_SAMPLE])
    json, dated = (len(_starts(style)[1].findall(sample)) for style in (JSON, DATED))
    if json > dated:
        return JSON
    if dated:
        return DATED
    return LEVELLED if _starts(LEVELLED)[1].search(sample) else _PLAIN


def newest_records(
    logs: tuple[Log, ...], budget: Budget, now: datetime, since: datetime | None = None
) -> Generator[Record]:
    """Give the records of all logs, the newest first; within one log in the order of its files.

    A record without a time counts as old as the one after it in its file, and the last one of a
    file as old as its last change. The host's own records are not among them.

    Args:
        logs: what `find_logs` found.
        budget: when to stop.
        now: this moment, for times that are written without a year.
        since: older records are not given.
    """
    oldest = 0 if since is None else since.timestamp()
    waiting: list[tuple[float, int, Record | None, Generator[Record]]] = []
    streams = [_log_records(log, budget, now, oldest) for log in logs]
    for number, (log, stream) in enumerate(zip(logs, streams, strict=True)):
        heappush(waiting, (-log.modified, number, None, stream))
    count = 0
    try:
        while waiting:
            key, number, record, stream = heappop(waiting)
            if -key < oldest:
                return
            if record is not None and not record.host_own:
                yield record
            count += 1
            if count % _LOOK_EACH == 0 and not budget.goes_on():
                return
            following = next(stream, None)
            if following is not None:
                if waiting or since:
                    key = max(key, -_seconds(following, -key))
                heappush(waiting, (key, number, following, stream))
    finally:
        for stream in streams:
            stream.close()


def _seconds(record: Record, default: float) -> float:
    """Give the time of a record in seconds since 1970."""
    try:
        return default if record.head.time is None else record.head.time.timestamp()
    except (OverflowError, OSError, ValueError):  # a year that the system does not know
        return default


def _log_records(log: Log, budget: Budget, now: datetime, oldest: float) -> Generator[Record]:
    for file in log.files:
        if file.modified < oldest:
            return
        with closing(file_records(file, log.shown, budget, now)) as records:
            yield from records


def file_records(file: LogFile, log: str, budget: Budget, now: datetime) -> Generator[Record]:
    """Give the records of one file, the newest first."""
    style, shown = "", file.shown

    def find_start(data: bytes) -> int | None:
        nonlocal style
        style = style or style_of(data)
        found = _starts(style)[1].search(data, 1)
        return None if found is None else found.start()

    with closing(sections(file, budget, find_start)) as parts:
        for part in parts:
            style = style or style_of(part)
            for text in reversed(split_records(part.decode("utf-8", "replace"), style)):
                made = from_json(text, now) if style == JSON else None
                if made is not None:
                    head, line, fields = made
                    yield Record(shown, log, line, now, fields, head)
                    continue
                for each in reversed(_strayed(text, now)):
                    yield Record(shown, log, each, now)


def split_records(text: str, style: str) -> list[str]:
    """Cut a text into its records; no line is lost, blank ones between records apart.

    In a style with heads everything up to the next head belongs to a record; lines before the
    first head, and lines that are no JSON among such, are records of their own where they begin
    without a blank, a traceback being one with its exception.
    """
    if style == _PLAIN:
        return _plain_records(text)
    places = [found.start() for found in _starts(style)[0].finditer(text)]
    if not places:
        return _plain_records(text)
    records = _plain_records(text[: places[0]])
    for start, stop in zip(places, [*places[1:], len(text)], strict=True):
        record = text[start:stop]
        if style == JSON:
            line, _, rest = record.partition("\n")
            records.append(line)
            records += _plain_records(rest)
        else:
            records.append(record.rstrip("\n"))
    return records


def _strayed(text: str, now: datetime) -> list[str]:
    """Cut tracebacks that a program printed one after the other below an innocent record."""
    if text.count("\nTraceback (") < 2:  # noqa: PLR2004 - one may be the record's own
        return [text]
    head, _, rest = text.partition("\n")
    if head_of(head, now).level not in _QUIET:
        return [text]
    first, *others = _plain_records(rest)
    return [f"{head}\n{first}", *others]


def _plain_records(text: str) -> list[str]:
    """Cut lines without heads: each is a record, with what is indented below it."""
    records: list[list[str]] = []
    opened = chained = False
    key = 0
    for line in text.split("\n"):
        if not line.strip():
            if records:
                records[-1].append(line)
            continue
        header = _TRACEBACK.match(line) is not None
        link = line.startswith(_CHAINED)
        inside = line[0] in " \t" or opened or link or key > 0 or (chained and header)
        if inside and records:
            records[-1].append(line)
        else:
            records.append([line])
        key = _KEY_LINES if _KEY[0] in line else key - 1
        key = 0 if _KEY[1] in line else key
        if header:
            opened, chained = True, False
        elif link:
            chained = True
        elif line[0] not in " \t":
            opened = False
    return ["\n".join(lines).rstrip() for lines in records]
