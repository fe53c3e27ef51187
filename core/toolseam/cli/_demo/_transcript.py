"""The transcript of `toolseam demo --tools`: each builtin, asked once, and what it told."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from toolseam.cli._demo._everything import everything
from toolseam.cli._demo._page import answered, called, prose, scene
from toolseam.cli._demo._questions import QUESTIONS
from toolseam.cli._terminal import paint, say

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import Step
    from toolseam.cli._demo._everything import Answered


def transcript(folder: Path) -> tuple[Step, ...]:
    """Ask every question in the workspace `folder`, show the answers, return the steps."""
    say(paint("toolseam demo --tools", "bold", "cyan"))
    say()
    prose(
        """
        Each builtin tool is called once in the workspace of a small museum, as its administrator:
        everything is enabled, the workspace is trusted, and the five that write are approved by
        the script, bound to what their preview says.
        """
    )
    say()
    say("  ", paint(str(folder), "bold"))
    steps: list[Step] = []
    with everything(folder) as asked:
        for number, (group, tools) in enumerate(QUESTIONS.items(), 1):
            scene(number, group)
            for place, tool in enumerate(tools):
                found = asked.ask(group, tool)
                _show(found, first=place == 0)
                steps.append(found.step)
    return tuple(steps)


def _show(found: Answered, *, first: bool) -> None:
    if not first:
        say()
    called(f"{found.tool} {json.dumps(found.arguments, ensure_ascii=False)}")
    for line in found.preview:
        say(paint(f"  would: {line}", "dim"))
    answered(str(found.step.wire), well=found.step.status == "ok")
    for artifact in found.step.artifacts:
        say(paint(f"  beside it: {artifact.type} {artifact.label!r}", "dim"))
