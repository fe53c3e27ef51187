"""The times that logs write, and the moments and spans that a person asks for."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from toolseam import ErrorCode, ToolError

DAY = r"\d{4}[-/]\d\d[-/]\d\d"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"(?:[ ]?(?:Z\b|UTC\b|[+-]\d\d:?\d\d\b))?"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
TIME = (
    rf"(?:{DAY}(?:[T ]|, ){CLOCK}{_ZONE}"
    rf"|\d\d/{_MONTH}/\d{{4}}[: ]\d\d:\d\d:\d\d{_ZONE}"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ]+)?{_MONTH}[ ]{{1,2}}\d{{1,2}}[ ]{CLOCK}"
    r"(?:[ ]\d{4})?)"
)
"""What begins a line of a log, as an expression: ISO 8601 and its like, access logs, syslog."""

_NUMERIC = re.compile(rf"(?P<day>{DAY})(?:[T ]|, )(?P<clock>{CLOCK})(?P<zone>{_ZONE})", re.ASCII)
_NAMED = re.compile(
    rf"(?:\w{{3}}[ ]+)?(?:(?P<day>\d\d)/)?(?P<month>{_MONTH})[ /]{{1,2}}(?P<rest>\d{{1,4}})[: ]"
    rf"(?P<clock>{CLOCK})(?P<zone>{_ZONE})(?:[ ](?P<year>\d{{4}}))?",
    re.ASCII,
)
_SPAN = re.compile(r"(?:\d{1,6}[smhdw])+", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAY_SECONDS = 86_400
_MILLISECONDS = 100_000_000_000
_LATEST = 253_402_300_000


def local_zone(moment: datetime) -> str:
    """Name the offset of this host's own zone at a moment, such as UTC+01:00."""
    offset = moment.astimezone().strftime("%z")
    return f"UTC{offset[:3]}:{offset[3:5]}"


def moment_of(text: str, now: datetime) -> datetime | None:
    """Read a time as a log writes it; without a zone it has none, and is this host's local time.

    Args:
        text: what `TIME` matches.
        now: for times without a year, which are never later than this.
    """
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _unusual(text, now)


def _unusual(text: str, now: datetime) -> datetime | None:
    """Read a time that is no ISO 8601."""
    try:
        if found := _NUMERIC.fullmatch(text):
            day = found["day"].replace("/", "-")
            return datetime.fromisoformat(f"{day}T{found['clock']}{_offset(found['zone'])}")
        if found := _NAMED.fullmatch(text):
            month = _MONTHS.index(found["month"]) + 1
            day, year = found["rest"], found["year"]
            if found["day"]:
                day, year = found["day"], found["rest"]
            rest = f"-{month:02}-{int(day):02}T{found['clock']}{_offset(found['zone'])}"
            moment = datetime.fromisoformat(f"{year or now.year}{rest}")
            if year is None and moment.timestamp() > now.timestamp() + _DAY_SECONDS:
                return datetime.fromisoformat(f"{now.year - 1}{rest}")
            return moment
    except (ValueError, OverflowError, OSError):
        pass
    return None


def moment_of_number(number: float) -> datetime | None:
    """Read seconds or milliseconds since 1970."""
    if not 0 < number < _LATEST * 1000:
        return None
    seconds = number / 1000 if number >= _MILLISECONDS else number
    return datetime.fromtimestamp(seconds, UTC)


def since(text: str, now: datetime) -> datetime:
    """Read what `since` says: an ISO 8601 date or time, or a span back from now such as `1d12h`.

    Raises `ToolError` `invalid_arguments` for anything else.
    """
    text = text.strip()
    try:
        if _SPAN.fullmatch(text):
            parts = re.findall(r"(\d+)([smhdw])", text)
            return now - timedelta(seconds=sum(int(n) * _UNITS[unit] for n, unit in parts))
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise ToolError(
            "since is an ISO 8601 date or time such as 2026-03-16T09:00, or a span back from now"
            " such as 30m, 2h or 1d12h.",
            ErrorCode.INVALID_ARGUMENTS,
        ) from None


def _offset(text: str) -> str:
    """Write an offset as `fromisoformat` wants it."""
    text = text.strip()
    return "+00:00" if text in {"Z", "UTC"} else text
