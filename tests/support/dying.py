"""A store that leaves a line of each call's outcome, and kills its process where it is told to."""

from __future__ import annotations

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam import hookimpl
from toolseam._run_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam import Step
    from toolseam.runs import Intent, Run, RunStep


def _folder() -> Path:
    return Path(os.environ["XDG_STATE_HOME"])


def die_at(moment: str, actor: str) -> None:
    """Have the worker that brings the run of an actor to this moment killed there, once."""
    (_folder() / f"moment-{actor}").write_text(moment)


def outcomes(run_id: str) -> dict[str, tuple[str, str]]:
    """Return status and effect of each call of a run, by its text, as it was told last."""
    found: dict[str, tuple[str, str]] = {}
    file = _folder() / "outcomes"
    for line in file.read_text().splitlines() if file.exists() else ():
        run, text, status, effect = json.loads(line)
        if run == run_id:
            found[text] = status, effect
    return found


class _Store(MemoryStore):
    def begin(self, run_id: str, facts: Mapping[str, object]) -> None:
        with suppress(FileNotFoundError):
            (_folder() / f"moment-{facts.get('actor')}").rename(_folder() / f"moment-{run_id}")
        _pass(run_id, "begin")

    def note(self, step: RunStep) -> None:
        event = step.facts.get("event", "")
        _pass(step.run_id, f"{step.kind} {event}{step.round}")

    def intent(self, intent: Intent) -> None:
        _pass(intent.run_id, "intent")

    def step(self, step: Step) -> None:
        with (_folder() / "outcomes").open("a") as file:
            text = "" if step.arguments is None else step.arguments.value["text"]
            words = step.run_id, text.partition(" ")[0], step.status, step.effect
            file.write(json.dumps(words) + "\n")
        _pass(step.run_id, f"step {step.tool}")

    def end(self, run: Run) -> None:
        super().end(run)
        _pass(run.id, "end")


class Watched:
    """A host plugin that gives this store."""

    @hookimpl
    def toolseam_run_store(self, host: Any) -> _Store:
        """Return the store."""
        return _Store()


def _pass(run_id: str, moment: str) -> None:
    file = _folder() / f"moment-{run_id}"
    if file.exists() and file.read_text() == moment:
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
