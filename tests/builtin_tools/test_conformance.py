"""Every builtin passes every check of the kit, in a workspace where it has something to do."""

import itertools
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.demo import open_demo, opened_demo
from support.timed import BUDGETS
from toolseam import ToolResult, tool
from toolseam.cli._demo._everything import Everything, questions
from toolseam.testing import check_tool
from toolseam_plugins.conformance import Status, _of_time, _subject

__all__ = ["open_demo", "opened_demo"]

BROKEN = (Status.FAILED, Status.ERROR)
CASES = list(questions())
COUNT = 10
PAUSES_S = (0.0, 1.0, 3.0)
"""How long to wait before each further try of what was late: a machine may stand still a while."""


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try fewer arguments than an author, and fewer still of a tool that takes long."""
    monkeypatch.setattr(_subject, "COUNT", COUNT)
    monkeypatch.setattr(_subject, "PATIENCE_S", 0.3)


def faults(target: object, **given: Any) -> tuple[dict[str, str], int]:
    """Return what each check that does not hold says, and how many hold.

    A check of time that does not hold is asked up to three times more.
    """
    found = {each.slug: each for each in check_tool(target, **given)}
    for pause in PAUSES_S:
        late = {slug for slug, each in found.items() if each.status is Status.FAILED} & {*BUDGETS}
        if not late:
            break
        time.sleep(pause)
        again = check_tool(target, **{**given, "checks": late})
        found |= {each.slug: each for each in again}
    broken = {each.slug: each.message for each in found.values() if each.status in BROKEN}
    return broken, sum(each.status is Status.PASSED for each in found.values())


@pytest.mark.parametrize(("group", "name"), CASES, ids=[name for _, name in CASES])
def test_a_builtin_passes(open_demo: tuple[Path, Everything], group: str, name: str) -> None:
    """No check is failed or breaks, and the demo's question counts among the arguments."""
    _, asked = open_demo
    # A write that was made cannot be made again, so its question stays out.
    examples = None if group == "editing" else [asked.arguments(group, name)]

    broken, held = faults(name, settings=asked.workspace, examples=examples)

    assert broken == {}
    assert held > 40


@pytest.mark.parametrize(("slow", "told"), [(5, []), (1_000, ["inline-never-waits"])])
def test_late_is_what_is_late_each_time(
    monkeypatch: pytest.MonkeyPatch, slow: int, told: list[str]
) -> None:
    """A tool that was slow for a while is not late, one that is slow whenever it is asked is."""
    turns = itertools.count()
    monkeypatch.setattr(_of_time, "INLINE_S", 0.1)
    monkeypatch.setattr(sys.modules[__name__], "PAUSES_S", (0.0, 0.0))

    @tool(effect="read_only", data_class="public_content", inline=True)
    def slowly() -> ToolResult:
        """Answer late for a while."""
        time.sleep(0.15 if next(turns) < slow else 0.0)
        return ToolResult.text("ok")

    broken, _ = faults(slowly, checks=["inline-never-waits"], examples=[{}])

    assert list(broken) == told
