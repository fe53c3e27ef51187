"""A fresh interpreter for one plugin: started and asked when a check wants to know."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam_plugins.conformance._model import Failed, NotApplicable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from toolseam.testing import Target

_PATIENCE_S = 30.0
_HASH_SEED = "4711"
# The hash seed is another one, and of that the plugin sees nothing. The current folder is taken
# off the path by hand: with `-P` the process would have a flag that the host has not.
_BOOT = (
    "import sys; sys.path[:] = [entry for entry in sys.path if entry];"
    " import os, json; sys.path[:] = json.loads(sys.stdin.readline());"
    " os.environ.clear(); os.environ.update(json.loads(sys.stdin.readline()));"
    " from toolseam_plugins.conformance._probe import main; main()"
)


@attrs.frozen
class Watched:
    """What was seen while something ran: seconds, what it printed, and what it did."""

    error: str | None
    seconds: float
    printed: str
    noted: tuple[tuple[str, str], ...]
    threads: tuple[str, ...]
    changed: tuple[str, ...]

    def did(self, kind: str) -> list[str]:
        """List what the interpreter said of one kind."""
        return [text for noted, text in self.noted if noted == kind]


@attrs.frozen
class Before:
    """What a process looked like before a plugin was imported into it."""

    path: list[str] = attrs.field(factory=lambda: list(sys.path))
    environ: dict[str, str] = attrs.field(factory=lambda: dict(os.environ))


class Child:
    """The process; it ends when nobody holds it any more, or at `close`."""

    def __init__(self, module: str, attribute: str, before: Before) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", _BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=before.environ | {"PYTHONHASHSEED": _HASH_SEED},
            text=True,
            encoding="utf-8",
        )
        self._end = weakref.finalize(self, _kill, self._process)
        self._ask(before.path, before.environ, {"module": module, "attribute": attribute})

    @cached_property
    def _seen(self) -> Mapping[str, Any]:
        return self._answer()

    @property
    def imported(self) -> Watched:
        """What the import did."""
        return _watched(self._seen["import"])

    @property
    def spec(self) -> Watched:
        """What `tool_spec` did; raises `NotApplicable` where the import gave no plugin."""
        if self._seen["spec"] is None:
            raise NotApplicable("the import gave nothing that has a specification")
        return _watched(self._seen["spec"])

    @property
    def digest(self) -> str | None:
        """The digest of the specification there."""
        return cast("str | None", self._seen["digest"])

    def calls(self, arguments: Sequence[Mapping[str, Any]]) -> list[list[str]]:
        """Call the tool there, through a host of its own; return status and content of each."""
        _ = self._seen
        self._ask({"calls": [dict(one) for one in arguments]})
        return cast("list[list[str]]", self._answer()["calls"])

    def close(self) -> None:
        """End the process."""
        self._end()

    def _ask(self, *requests: object) -> None:
        pipe = self._process.stdin
        if pipe is not None:
            try:
                pipe.write("".join(json.dumps(request) + "\n" for request in requests))
                pipe.flush()
            except BrokenPipeError:
                return  # the answer, or the lack of one, says why

    def _answer(self) -> Mapping[str, Any]:
        timer = threading.Timer(_PATIENCE_S, self._process.kill)
        timer.start()
        try:
            line = self._process.stdout.readline() if self._process.stdout else ""
        finally:
            timer.cancel()
        if not line:
            raise Failed(
                "the process that imported the plugin ended, or did not answer within "
                f"{_PATIENCE_S:g} s; does it exit, or wait for something?"
            )
        return cast("Mapping[str, Any]", json.loads(line))


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def place_of(target: Target) -> tuple[str, str] | None:
    """Return module and attribute under which a fresh interpreter finds a plugin, or None."""
    if target.value is not None:
        module, _, attribute = target.value.partition(":")
        return module, attribute
    plugin: Any = target.plugin
    name = getattr(plugin, "__name__", None)
    if isinstance(name, str) and sys.modules.get(name) is plugin:
        return name, ""
    home = home_of(plugin)
    if home is None or home.__name__ == "__main__":
        return None
    for attribute, value in vars(home).items():
        if value is plugin:
            return home.__name__, attribute
    return None


def home_of(plugin: Any) -> ModuleType | None:  # noqa: ANN401
    """Return the module in which a plugin's code stands, if it is loaded."""
    made_by: object = getattr(plugin, "function", None) or plugin.__class__
    return sys.modules.get(getattr(made_by, "__module__", ""))


def start(target: Target, before: Before) -> Child | None:
    """Start a fresh interpreter that imports a plugin, or return None where it finds none."""
    place = place_of(target)
    return None if place is None else Child(*place, before)


def _watched(seen: Mapping[str, Any]) -> Watched:
    return Watched(
        seen["error"],
        seen["seconds"],
        seen["printed"],
        tuple((kind, text) for kind, text in seen["noted"]),
        tuple(seen["threads"]),
        tuple(seen["changed"]),
    )
