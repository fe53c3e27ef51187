"""The kill matrix: a worker is killed at each moment of a run, and the table says what follows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from support.durable import ENDED, approve, durable, executions, wait, workers
from support.dying import die_at, outcomes
from toolseam import Actor

if TYPE_CHECKING:
    from toolseam_plugins.durable import Durable

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "run-durably.md"


@attrs.frozen
class Case:
    """One moment: what was on its way, when it was killed, and how a worker is brought there."""

    what: str
    when: str
    moment: str = ""
    read: str = "read r{}"
    write: str = "write w{}"


CASES = (
    Case("reply", "before the provider is asked", "request 1"),
    Case("reply", "while it is asked", read="die"),
    Case("reply", "after it was recorded", "llm 1"),
    Case("read", "while it runs", read="read r{} dying"),
    Case("read", "it has run, its outcome is not recorded", "step read"),
    Case("read", "after its outcome was recorded", "request 2"),
    Case("write", "after it was approved, its intent is not stored", "intent"),
    Case("write", "its intent is stored, nothing is done", write="write w{} dying before"),
    Case("write", "it is done, its outcome is not recorded", write="write w{} dying"),
    Case("write", "after its outcome was recorded", "request 3"),
    Case("run", "when it is taken from the queue", "begin"),
    Case("run", "when people's decisions are taken", "approval decided2"),
    Case("run", "it has ended, which is not recorded", "end"),
)
HEAD = (
    "| what | killed | run | call | effect | executions |",
    "|---|---|---|---|---|---|",
)


def begun(found: Durable, number: int, case: Case) -> tuple[str, str]:
    """Start the run of a case, and return its id and its question."""
    question = f"{case.read};{case.write};read s{{}}".format(*3 * [number])
    actor = Actor(f"actor-{number}", {"admin"})
    if case.moment:
        die_at(case.moment, actor.name)
    return found.start("told", question, actor=actor), question


def row(found: Durable, number: int, case: Case, run_id: str, question: str) -> str:
    """Say how a run stands in the end, and what became of the call that the case is about."""
    run = wait(found, run_id, *ENDED)
    key = {"reply": "", "read": f"r{number}"}.get(case.what, f"w{number}")
    count = executions(key or f"asked 0 of {question}")
    status, effect = outcomes(run_id).get(key, ("", "")) if key else ("", "")
    return f"| {case.what} | {case.when} | {run.status} | {status} | {effect} | {count} |"


def test_each_moment_has_its_row(url: str) -> None:
    """Everything goes on from what was recorded last; only a write on its way holds its run."""
    with durable(url) as found, workers(url, 3, audited="watched", concurrency=1) as kept:
        runs = [begun(found, number, case) for number, case in enumerate(CASES)]
        for run_id, _ in runs:
            if wait(found, run_id, "waiting_for_approval", *ENDED).status not in ENDED:
                approve(found, run_id)
        rows = [row(found, number, case, *runs[number]) for number, case in enumerate(CASES)]
        deaths = kept.deaths

    table = "\n".join((*HEAD, *rows))
    assert deaths == len(CASES)
    assert table in PAGE.read_text(encoding="utf-8")
