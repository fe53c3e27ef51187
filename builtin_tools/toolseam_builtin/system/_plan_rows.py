"""A plan's tasks and variables as rows of an answer, commands and values masked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam_builtin._page import Page, excerpt, one_line
from toolseam_builtin._shown_value import shown_value

if TYPE_CHECKING:
    from toolseam_builtin.system._plan import Dated, Plan

_VARIABLE_BYTES = 8_000
_COMMAND_CHARACTERS = 500


def task_row(dated: Dated) -> tuple[list[str], list[str], list[object]]:
    """Give one task as lines of text, as cells, and as values."""
    task = dated.task
    command = excerpt(one_line(shown_value("COMMAND", task.command)), _COMMAND_CHARACTERS)
    coming = dated.schedule.next
    following = "" if coming is None else coming.isoformat(" ", "minutes")
    zone = "" if coming is None else one_line(dated.zone)
    schedule, words = one_line(task.schedule), dated.schedule.words
    when = f"next {following} {zone}".rstrip() if coming else "no next run"
    place = one_line(task.place)
    by = f", as {task.user}" if task.user else ""
    said = f"{words} ({schedule})" if words else schedule
    lines = [f"- {place}: {said}, {when}{by}", *([f"  {command}"] if command else [])]
    cells = [place, schedule, words, following, zone, task.user or "", command]
    ahead = None if coming is None else coming.isoformat()
    values = [schedule, words, ahead, dated.zone, task.user, command]
    return lines, cells, [task.file, task.line or None, task.name, *values]


def variable_rows(plan: Plan) -> tuple[Page, list[str]]:
    """Give what crontabs set for their commands, masked as the environment is."""
    page = Page(budget=_VARIABLE_BYTES)
    for each in plan.variables:
        place, name = f"{one_line(each.file)}:{each.line}", one_line(each.name)
        value = excerpt(one_line(shown_value(each.name, each.value)), _COMMAND_CHARACTERS)
        line = f"- {place}: {name}={value}"
        if not page.take([line], [place, name, value], [each.file, each.line, name, value]):
            break
    left = len(plan.variables) - len(page.cells)
    return page, [f"{left:,} variables are not shown; ask for one file."] if left else []


def count_of(number: int, word: str) -> str:
    """Return a number with what it counts."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
