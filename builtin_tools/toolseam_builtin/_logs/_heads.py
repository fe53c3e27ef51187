"""The first line of a record: where one begins, and what it says of time, level and logger."""

from __future__ import annotations

import re
from datetime import datetime

import attrs

from toolseam_builtin._logs._times import TIME, moment_of

LEVELS = ("debug", "info", "warning", "error", "critical")
_NAMES = {
    **dict.fromkeys(("TRACE", "DEBUG", "FINE"), "debug"),
    **dict.fromkeys(("INFO", "NOTICE", "SUCCESS"), "info"),
    **dict.fromkeys(("WARNING", "WARN"), "warning"),
    **dict.fromkeys(("ERROR", "ERR", "SEVERE"), "error"),
    **dict.fromkeys(
        ("CRITICAL", "CRIT", "FATAL", "ALERT", "EMERG", "EMERGENCY", "PANIC"), "critical"
    ),
}
_WORD = "|".join(sorted(_NAMES, key=len, reverse=True))
_LETTERS = {"D": "debug", "I": "info", "W": "warning", "E": "error", "C": "critical"}

_LEVEL_FIRST = rf"[\[(]?(?:{_WORD})[\])]?:?[ \t]*(?:[-|][ \t]*)?"
_TORNADO = r"\[[DIWEC] \d{6} \d\d:\d\d:\d\d"
_SYSLOG = r"(?:<\d{1,3}>(?:1 )?)"
_ACCESS = r"[^\s\[]+ [^\s\[]+ [^\[\n]{1,60} \["
_LOGFMT = r"(?:time|ts|timestamp|at|level|lvl)=\"?[\w.:+-]+"
DATED = rf"^(?:{_SYSLOG}?(?:{_LEVEL_FIRST})?[\[(]?{TIME}|{_ACCESS}{TIME}|{_TORNADO}|{_LOGFMT})"
LEVELLED = rf"^[\[(]?(?:{_WORD})[\])]?(?::|[ \t]+[\[:|-]|[ \t]{{2,}}|[\])][ \t])"
JSON = r"^[ \t]*\{\""

_LINE = re.compile(
    rf"(?:{_SYSLOG}?(?P<level>{_LEVEL_FIRST})?[\[(]?|{_ACCESS})(?P<time>{TIME})", re.ASCII
)
_SHORT = re.compile(
    r"\[(?P<letter>[DIWEC]) (?P<day>\d{6}) (?P<clock>\d\d:\d\d:\d\d) (?P<rest>[^\]]*)"
)
_PAIR = re.compile(r"(?P<key>\w+)=(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>\S*))")
_FIND_LEVEL = re.compile(
    rf"(?:^|(?<=[\s\[(|<:\"]))(?:(?P<upper>{_WORD})\b|(?P<lower>{_WORD.lower()})(?=[ \t]*[\]:>|]))"
)
_LOOK_AHEAD = 120
_LOGGER = re.compile(
    r"[\s\])}>|:-]*(?:\[\d+\][\s:]*)*\[?(?P<name>[A-Za-z_][\w$/-]*(?:\.[\w$<>/-]+)*)"
    r"(?:(?P<sign>\]|:(?!//)|[ \t]+[|:-][ \t])|(?P<blank>[ \t]))",
    re.ASCII,
)
_BEFORE = re.compile(r"[\s\])|:-]*(?P<name>[A-Za-z_][\w.$/-]*)(?:\[\d+\])?[\s\[(|:-]*", re.ASCII)
_PROGRAM = re.compile(r"[ ]\S+[ ](?P<name>[A-Za-z][\w./-]*)(?:\[\d+\])?:", re.ASCII)


@attrs.frozen
class Head:
    """What the first line of a record says; `when` and `named` are time and level as written."""

    when: str = ""
    time: datetime | None = None
    named: str = ""
    source: str | None = None

    @property
    def level(self) -> str | None:
        """The level, one of `LEVELS`, if the line names one."""
        return level_of(self.named) if self.named else None

    @property
    def iso(self) -> str | None:
        """The time in ISO 8601, with an offset if it is written with one."""
        return None if self.time is None else self.time.isoformat()


def level_of(name: object) -> str | None:
    """Read the name or number of a level, as logging, syslog libraries and others write it."""
    if isinstance(name, int) and not isinstance(name, bool):
        return LEVELS[min(max(name // 10 - 1, 0), 4)] if name > 0 else None
    if not isinstance(name, str):
        return None
    if name in _NAMES:
        return _NAMES[name]
    name = name.strip().upper()
    return _NAMES.get(name) or _LETTERS.get(name)


def head_of(line: str, now: datetime) -> Head:
    """Read the first line of a record in any of the usual forms.

    Args:
        line: without its line end.
        now: for times that are written without a year.
    """
    if found := _LINE.match(line):
        when = found["time"]
        rest = line[found.end() :]
        if found["level"]:
            named, source = re.sub(r"\W", "", found["level"]), _source(rest)
        else:
            named, source = _level_and_source(rest)
        if source is None and when[0].isalpha() and (program := _PROGRAM.match(rest)):
            source = program["name"]
        return Head(when, moment_of(when, now), named, source)
    if found := _SHORT.match(line):
        digits, clock = found["day"], found["clock"]
        moment = moment_of(f"20{digits[:2]}-{digits[2:4]}-{digits[4:]} {clock}", now)
        source = found["rest"].partition(":")[0] or None
        return Head(f"{digits} {clock}", moment, found["letter"], source)
    if re.match(_LOGFMT, line):
        return _logfmt(line, now)
    return Head("", None, *_level_and_source(line))


def _level_and_source(rest: str) -> tuple[str, str | None]:
    """Find the level near the beginning of a text, and the logger behind or before it."""
    found = _FIND_LEVEL.search(rest, 0, _LOOK_AHEAD)
    if found is None:
        return "", None
    source = _source(rest[found.end() :])
    if source is None:
        before = _BEFORE.fullmatch(rest, 0, found.start())
        source = before["name"] if before else None
    return found[0], source


def _source(rest: str) -> str | None:
    """Read the logger behind the level: a dotted name, or one that a sign sets off."""
    found = _LOGGER.match(rest)
    if found is None or (found["blank"] and "." not in found["name"]):
        return None
    return found["name"]


def _logfmt(line: str, now: datetime) -> Head:
    """Read `time=... level=... logger=...`."""
    pairs = {
        each["key"]: each["quoted"] if each["quoted"] is not None else each["bare"]
        for each in _PAIR.finditer(line, 0, 2000)
    }
    when = next((pairs[key] for key in ("time", "ts", "timestamp", "at") if key in pairs), "")
    named = pairs.get("level", pairs.get("lvl", ""))
    return Head(when, moment_of(when, now), named, pairs.get("logger") or pairs.get("component"))
