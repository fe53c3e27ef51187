"""A run while it goes: its words on standard output, its steps beside them."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing, redirect_stdout
from typing import TYPE_CHECKING, cast

from toolseam._messages import Delta
from toolseam._runs import Run, RunStep
from toolseam._steps import Step
from toolseam.cli._runs import say_end
from toolseam.cli._terminal import Shown, joined, note, on_terminal, one_line, paint, safe
from toolseam.cli._watching import log, progress

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from toolseam import Host
    from toolseam._run_state import Event

_ARGUMENTS = 200
_MILLISECOND = 1_000


class Following:
    """Shows what happens in a run.

    Args:
        words: whether the model's words are shown as they come.
    """

    def __init__(self, *, words: bool) -> None:
        self._out = sys.stdout
        self._words = words
        self._said = ""

    def tell(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, Delta):
            self._say(event.text)
        elif isinstance(event, Step):
            self._beside(_step_line(event))
        elif isinstance(event, RunStep):
            self._happened(event)

    def finish(self, run: Run) -> None:
        """Show the answer, unless its words have been shown."""
        shown = self._said == run.answer
        self._break()
        if run.answer and not shown:
            self._out.write(safe(run.answer) + "\n")
            self._out.flush()

    def _say(self, text: str) -> None:
        if self._words and text:
            self._said += text
            # Each piece is cleaned letter by letter, so none can complete another's sequence.
            self._out.write(safe(text))
            self._out.flush()

    def _happened(self, step: RunStep) -> None:
        facts = step.facts
        if step.kind == "request":
            self._break()
            self._said = ""
        elif step.kind == "context":
            self._beside(f"· {facts['dropped_messages']} older messages are not sent any more")
        elif facts.get("finish") == "failed":
            self._beside(f"· {facts['provider']} failed: {facts['fault']}")

    def _beside(self, line: str) -> None:
        self._break()
        note(line)

    def _break(self) -> None:
        """End the line of words that has begun."""
        if self._said and not self._said.endswith("\n"):
            self._out.write("\n")
            self._out.flush()
            self._said += "\n"


def _step_line(step: Step) -> Shown:
    given: object = {} if step.arguments is None else step.arguments.value
    arguments = json.dumps(given, ensure_ascii=False)
    if len(arguments) > _ARGUMENTS:
        arguments = f"{arguments[:_ARGUMENTS]} [{len(arguments)} characters in all]"
    well = step.status == "ok"
    took = f"{step.duration_s * _MILLISECOND:,.0f} ms"
    status = paint(step.status, "green" if well else "red")
    return joined("· ", one_line(f"{step.tool} {arguments}"), "  ", status, f"  {took}")


def showing(parser: ArgumentParser) -> None:
    """Describe the words that say how a run is shown."""
    parser.add_argument(
        "--no-stream", action="store_true", help="print the answer when it is whole"
    )
    parser.add_argument("--log", action="store_true", help="show the log: what a tool raised")


def follow(host: Host, begin: Callable[[], AsyncIterator[Event | Run]], options: Namespace) -> Run:
    """Take a run as far as it goes, in an event loop of its own, and show it.

    With `--json` the answer is left to the caller. What tools print goes to standard error, and
    so do their progress and the log.
    """
    following = Following(words=on_terminal() and not (options.no_stream or options.json))

    async def watch() -> Run:
        ended: Run | None = None
        async with aclosing(cast("AsyncGenerator[Event | Run]", begin())) as happening:
            async for event in happening:
                if isinstance(event, Run):
                    ended = event
                else:
                    following.tell(event)
        return cast("Run", ended)

    with redirect_stdout(sys.stderr), progress(host), log(wanted=options.log):
        run = asyncio.run(watch())
    if not options.json:
        following.finish(run)
        say_end(run)
    return run
