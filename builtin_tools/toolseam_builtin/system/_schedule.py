"""What a cron schedule says in words, and when it comes next."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import attrs

from toolseam import ErrorCode, ToolError

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_AT_START = "@reboot"
_NAMES = ("minute", "hour", "day of month", "month", "day of week")
_SIGNS = r"[0-9*,/~-]"
# The library knows more (L, W, #) than the cron of a crontab does.
_FORMS = (
    *(re.compile(rf"{_SIGNS}+"),) * 3,
    re.compile(rf"(?:{_SIGNS}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+", re.IGNORECASE),
    re.compile(rf"(?:{_SIGNS}|mon|tue|wed|thu|fri|sat|sun)+", re.IGNORECASE),
)


@attrs.frozen
class Schedule:
    """One schedule: `words` for people, and `next` in the zone that was asked about.

    `next` is None for what has no time of its own.
    """

    words: str
    next: datetime | None = None


def read_schedule(text: str, now: datetime | None) -> Schedule | str:
    """Return what a schedule means as cron reads it, or what is wrong with it.

    Args:
        text: five fields, or a word with `@`.
        now: the moment after which the next time is looked for, in the zone that the schedule is
            for; None looks for none.

    Raises `ToolError` `unavailable` if the library that knows is not installed.
    """
    try:
        from cronsim import CronSim, CronSimError
    except ImportError:
        raise ToolError(
            "Schedules need cronsim: pip install 'toolseam[system]'.",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "missing_extra", "extra": "system"},
        ) from None
    if text == _AT_START:
        return Schedule("When cron starts")
    fields = _MACROS.get(text, text).split(" ")
    if len(fields) != len(_NAMES):
        return "there is no such word for a schedule"
    for name, form, field in zip(_NAMES, _FORMS, fields, strict=True):
        if form.fullmatch(field) is None:
            return f"{name}: not as cron writes it"
    if any("~" in field for field in fields):
        return Schedule("At a time that cron picks at random within what is given")
    try:
        found = CronSim(" ".join(fields), now or datetime.now(UTC))
        return Schedule(found.explain(), None if now is None else next(found, None))
    except CronSimError as error:
        wrong = str(error).replace("-", " ")
        name = max((name for name in _NAMES if name in wrong), key=len, default="schedule")
        return f"{name}: out of range, never comes, or not as cron writes it"
