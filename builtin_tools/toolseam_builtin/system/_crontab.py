"""Reading a crontab: variables, lines with a schedule, and lines that are neither."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import attrs

Form: TypeAlias = Literal["user", "system"]
"""A system crontab names a user before the command, a user's own one does not."""

ZONE = "CRON_TZ"

_BLANKS = re.compile(r"[ \t]+")
_VARIABLE = re.compile(r"(?P<quote>[\"']?)(?P<name>[A-Za-z_][\w.-]{0,199})(?P=quote)[ \t]*=")
_USER = re.compile(r"[A-Za-z_][\w.-]{0,63}\$?")
_FIELDS = 5
_FIELD_CHARACTERS = 100


@attrs.frozen
class Task:
    """One line of a crontab that runs something, or one task of a scheduler, which has a `name`.

    `schedule` is five fields, or one word that begins with `@`; `zone` is what `CRON_TZ` said
    above it, None for the machine's own.
    """

    file: str
    line: int
    schedule: str
    command: str
    user: str | None = None
    zone: str | None = None
    name: str | None = None

    @property
    def place(self) -> str:
        """Where it stands, as an answer says it."""
        return f"{self.file}:{self.line}" if self.name is None else f"{self.file} {self.name}"


@attrs.frozen
class Variable:
    """One line that sets a variable for the commands below it."""

    file: str
    line: int
    name: str
    value: str


@attrs.frozen
class Fault:
    """One line that cron does not understand, and why."""

    file: str
    line: int
    why: str


@attrs.define
class Crontab:
    """What the lines of one file, or of several, came to."""

    tasks: list[Task] = attrs.field(factory=list[Task])
    variables: list[Variable] = attrs.field(factory=list[Variable])
    faults: list[Fault] = attrs.field(factory=list[Fault])

    def read(self, file: str, text: str, form: Form) -> None:
        """Add the lines of a file; one that is not understood hides no other.

        Args:
            file: how the answer names it.
            text: the whole crontab.
            form: whether a user stands before each command.
        """
        zone: str | None = None
        for number, raw in enumerate(text.split("\n"), 1):
            line = raw.strip(" \t\r")
            if not line or line.startswith("#"):
                continue
            variable = _variable(line)
            if variable is not None:
                self.variables.append(Variable(file, number, *variable))
                zone = (variable[1] or None) if variable[0] == ZONE else zone
                continue
            task = _task(line, form)
            if isinstance(task, str):
                self.faults.append(Fault(file, number, task))
            else:
                schedule, user, command = task
                self.tasks.append(Task(file, number, schedule, command, user, zone))
        if text and not text.endswith("\n"):
            last = text.count("\n") + 1
            self.faults.append(Fault(file, last, "the last line has no line end: cron ignores it"))


def form_of(name: str) -> Form:
    """Return the form of a crontab by its path: system in `cron.d` and for `etc/crontab`."""
    *folders, file = name.split("/")
    system = "cron.d" in folders or (file == "crontab" and folders[-1:] == ["etc"])
    return "system" if system else "user"


def _variable(line: str) -> tuple[str, str] | None:
    found = _VARIABLE.match(line)
    if found is None:
        return None
    value = line[found.end() :].lstrip(" \t")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return found["name"], value


def _task(line: str, form: Form) -> tuple[str, str | None, str] | str:
    """Give schedule, user and command of a line, or what is wrong with it."""
    fields = 1 if line.startswith("@") else _FIELDS
    parts = _BLANKS.split(line, fields + (form == "system"))
    if len(parts) < fields:
        return f"a schedule has {_FIELDS} fields, this line has {len(parts)}"
    if any(len(part) > _FIELD_CHARACTERS for part in parts[:fields]):
        return f"a field has more than {_FIELD_CHARACTERS} characters"
    schedule, rest = " ".join(parts[:fields]), parts[fields:]
    if form == "user":
        return (schedule, None, rest[0]) if rest else "there is no command"
    if not rest:
        return "there is no user and no command"
    if _USER.fullmatch(rest[0]) is None:
        return "what stands where a user belongs is no name; is it a user's own crontab?"
    return (schedule, rest[0], rest[1]) if len(rest) > 1 else "there is no command behind the user"
