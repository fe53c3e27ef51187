"""One interpreter a framework: what runs in it, and what the benchmark holds of it.

`python -m benchmarks.worker MODULE` says which calls the module knows, then measures what it is
told, one line a measurement. The standard library only: peers' interpreters import this too.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from benchmarks.timing import Case, Spent, awaited, repeated

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent


class Worker:
    """A running interpreter that measures the calls of one module; close it by `with`.

    Raises `RuntimeError` with the last line of its complaint if it does not start.
    """

    def __init__(self, python: Path | str, module: str, distribution: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the worker
        self._running = subprocess.Popen(
            [python, "-m", "benchmarks.worker", module, distribution],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        said = self._ask(None)
        self.version: str = said["version"]
        self.names: list[str] = said["names"]

    def case(self, name: str) -> Case:
        """Return the case that measures one of the calls over there."""
        return lambda count: Spent(*self._ask([name, count]))

    def _ask(self, question: list[Any] | None) -> Any:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        if question is not None:
            self._running.stdin.write(json.dumps(question) + "\n")
            self._running.stdin.flush()
        line = self._running.stdout.readline()
        if not line:
            self._errors.seek(0)
            last = self._errors.read().strip().rpartition("\n")[2]
            raise RuntimeError(last[:200] or "its interpreter ended")
        return json.loads(line)

    def __enter__(self) -> Self:
        """Hold the interpreter."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the interpreter."""
        self._running.communicate()
        self._errors.close()


def serve(module: str, distribution: str) -> None:
    """Measure what the other side asks for until it goes away."""
    # What a framework prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    with asyncio.Runner() as runner:
        calls: dict[str, Callable[[], Any]] = importlib.import_module(module).calls(runner)
        cases = {name: _case(call, runner) for name, call in calls.items()}
        answer({"version": version(distribution), "names": list(cases)})
        for line in sys.stdin:
            name, count = json.loads(line)
            answer(cases[name](count))


def _case(call: Callable[[], Any], runner: asyncio.Runner) -> Case:
    """Find out by a first call whether it is to be awaited."""
    given = call()
    if not inspect.isawaitable(given):
        return repeated(call)

    async def first() -> None:
        await given

    runner.run(first())
    return awaited(call, runner)


if __name__ == "__main__":
    serve(*sys.argv[1:])
