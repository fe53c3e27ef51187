"""Every builtin passes every check of the kit, in a workspace where it has something to do."""

from pathlib import Path

import pytest

from support.demo import open_demo, opened_demo
from toolseam.cli._demo._everything import Everything, questions
from toolseam.testing import check_tool
from toolseam_plugins.conformance import Status

__all__ = ["open_demo", "opened_demo"]

BROKEN = (Status.FAILED, Status.ERROR)
CASES = list(questions())


@pytest.mark.parametrize(("group", "tool"), CASES, ids=[tool for _, tool in CASES])
def test_a_builtin_passes(open_demo: tuple[Path, Everything], group: str, tool: str) -> None:
    """No check is failed or breaks, and the demo's question counts among the arguments."""
    _, asked = open_demo
    # A write that was made cannot be made again, so its question stays out.
    examples = None if group == "editing" else [asked.arguments(group, tool)]

    found = check_tool(tool, settings=asked.workspace, examples=examples)

    assert {each.slug: each.message for each in found if each.status in BROKEN} == {}
    assert sum(each.status is Status.PASSED for each in found) > 40
