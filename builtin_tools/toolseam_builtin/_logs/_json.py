"""Records that are JSON objects, one a line, written as a line of text for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from toolseam_builtin._logs._heads import Head, level_of
from toolseam_builtin._logs._times import moment_of, moment_of_number

if TYPE_CHECKING:
    from datetime import datetime

_TIMES = ("time", "timestamp", "@timestamp", "ts", "asctime", "datetime", "date", "t")
_LEVELS = ("level", "levelname", "severity", "log.level", "lvl", "levelno")
_SOURCES = ("logger", "logger_name", "name", "log.logger", "channel", "component")
_MESSAGES = ("message", "msg", "event", "text")
_TRACEBACKS = (
    "exception",
    "exc_info",
    "exc_text",
    "traceback",
    "stack_trace",
    "error.stack_trace",
    "stack",
)


def from_json(line: str, now: datetime) -> tuple[Head, str, dict[str, object]] | None:
    """Read a line that is a JSON object, or return None.

    Returns:
        The head, the record as text (its head, the message, other fields, a traceback below),
        and the object.
    """
    try:
        document: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    fields = cast("dict[str, object]", document)
    number = _first(fields, _TIMES)
    when = "" if number is None or isinstance(number, dict | list) else str(number)
    if isinstance(number, int | float) and not isinstance(number, bool):
        moment = moment_of_number(number)
    else:
        moment = moment_of(when, now)
    source = _first(fields, _SOURCES)
    named = _named(_first(fields, _LEVELS))
    head = Head(when, moment, named, source if isinstance(source, str) else None)
    return head, text_of(fields), fields


def text_of(fields: dict[str, object]) -> str:
    """Write the object as a line, with its traceback below."""
    known = [_key(fields, names) for names in (_TIMES, _LEVELS, _SOURCES, _MESSAGES)]
    when, level, source, message = (None if key is None else fields[key] for key in known)
    parts = (when, _named(level), source)
    start = " ".join(str(part) for part in parts if part is not None and part != "")
    traceback = _key(fields, _TRACEBACKS)
    below = fields[traceback] if traceback is not None else None
    if not isinstance(below, str) or "\n" not in below:
        traceback = None
    rest = [
        f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for key, value in fields.items()
        if key not in known and key != traceback
    ]
    line = ": ".join(part for part in (start, "" if message is None else str(message)) if part)
    line = " ".join((line, *rest))
    return f"{line}\n{below}".rstrip() if traceback else line


def _named(level: object) -> str:
    """Write a level; a number stands for the name that it is close to."""
    return level if isinstance(level, str) else (level_of(level) or "").upper()


def _key(fields: dict[str, object], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in fields), None)


def _first(fields: dict[str, object], names: tuple[str, ...]) -> object:
    key = _key(fields, names)
    return None if key is None else fields[key]
