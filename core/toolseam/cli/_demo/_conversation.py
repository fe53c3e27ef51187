"""The demo's run: a question, a read, a write that waits for a person, and the answer.

What the model says is written down here; everything else is as with any model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam import Decision, Step
from toolseam.cli._consent import told
from toolseam.cli._demo._page import answered, called, prose, width
from toolseam.cli._table import table
from toolseam.cli._terminal import say
from toolseam.testing import ScriptedProvider

if TYPE_CHECKING:
    from toolseam import Actor, Run, Session
    from toolseam.runs import RunStep

_QUESTION = "Visitors do not find the page on how to get here. Give it a clearer title."
_SCRIPT = (
    ("read_records", {"table": "pages", "fields": ["title"], "where": {"slug": "getting-here"}}),
    ("rename_page", {"page": 3, "title": "How to find us"}),
    "The page Getting here is now called How to find us.",
)
_MILLISECOND = 1_000


def converse(session: Session, editor: Actor) -> tuple[Step, ...]:
    """Play a run up to its end and return its calls."""
    model = ScriptedProvider(_SCRIPT, name="demo:script", zone=session.zone)
    prose(
        """
        session.run asks a model until it has an answer, and calls the tools that it asks for. A
        script stands for the model here; it could be any of openai, anthropic, google.
        """
    )
    say()
    called(_QUESTION)
    begun = session.run(model, _QUESTION)
    say()
    _happened(begun)
    say()
    prose(
        """
        Before anything of that turn ran, the run was put aside: it waits for a person, an hour
        or a week, and goes on in this process or in another one.
        """
    )
    say()
    for line in told(begun.pending[0]):
        say(f"  {line}".rstrip())
    say()
    prose("ada approves that digest. toolseam approve would ask for it on a terminal.")
    say()
    decision = Decision.approve(begun.pending[0], actor=editor)
    ended = session.resume(begun.id, [decision], model)
    _happened(ended)
    say()
    answered(ended.answer, well=True)
    return tuple(step for run in (begun, ended) for step in run.steps if isinstance(step, Step))


def _happened(run: Run) -> None:
    rows = [
        (str(step.round), step.kind, _what(step), f"{step.duration_s * _MILLISECOND:.1f} ms")
        for step in run.steps
    ]
    say(table(("ROUND", "STEP", "WHAT", "TIME"), rows, width=width()))


def _what(step: Step | RunStep) -> str:
    """Say in a line what a step was."""
    if isinstance(step, Step):
        return f"{step.tool}: {step.status}, effect {step.effect}"
    facts: dict[str, Any] = dict(step.facts)
    if step.kind == "request":
        return f"goes out, messages: {facts['messages']}, tools: {facts['tools']}"
    if step.kind == "approval":
        return f"{facts['tool']}: {facts.get('verdict', 'asked for')}"
    calls = ", ".join(facts["calls"])
    return f"the model asks for {calls}" if calls else "the model answers"
