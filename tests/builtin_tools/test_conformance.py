"""Every builtin passes every check of the kit, in a workspace where it has something to do."""

from pathlib import Path

import pytest

from support.demo import open_demo, opened_demo
from toolseam.cli._demo._everything import Everything, questions
from toolseam.testing import check_tool
from toolseam_plugins.conformance import (
    Status,
    _of_effects,
    _of_import,
    _of_spec,
    _of_time,
    _subject,
)

__all__ = ["open_demo", "opened_demo"]

BROKEN = (Status.FAILED, Status.ERROR)
CASES = list(questions())
PATIENT_S = 10.0
COUNT = 10


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge no answer by a machine that stands still, and try fewer arguments than an author."""
    monkeypatch.setattr(_of_import, "BUDGET_S", PATIENT_S)
    monkeypatch.setattr(_of_spec, "CHEAP_S", PATIENT_S)
    monkeypatch.setattr(_of_effects, "_GRACE_S", PATIENT_S)
    for name in ("GRACE_S", "BLOCKED_S", "INLINE_S"):
        monkeypatch.setattr(_of_time, name, PATIENT_S)
    monkeypatch.setattr(_subject, "COUNT", COUNT)
    # Of a tool that takes long, as a list of all that is installed does, the kit tries fewer.
    monkeypatch.setattr(_subject, "PATIENCE_S", 0.3)


@pytest.mark.parametrize(("group", "tool"), CASES, ids=[tool for _, tool in CASES])
def test_a_builtin_passes(open_demo: tuple[Path, Everything], group: str, tool: str) -> None:
    """No check is failed or breaks, and the demo's question counts among the arguments."""
    _, asked = open_demo
    # A write that was made cannot be made again, so its question stays out.
    examples = None if group == "editing" else [asked.arguments(group, tool)]

    found = check_tool(tool, settings=asked.workspace, examples=examples)

    assert {each.slug: each.message for each in found if each.status in BROKEN} == {}
    assert sum(each.status is Status.PASSED for each in found) > 40
