"""Runs in a child process: imports one plugin under an audit hook and tells what it saw.

A request is one line of JSON on standard input, an answer one line on the descriptor that was
standard output when the process began: what the plugin prints goes to a file instead.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import threading
import time

from toolseam_plugins.conformance._audit import audit
from toolseam_plugins.conformance._footprint import changed, footprint

TYPE_CHECKING = False  # as type checkers read it
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO


def main() -> None:
    """Answer every request until standard input ends."""
    toolseam = importlib.import_module("toolseam")
    # The plugin's import is what is timed and watched, not that of what it is a plugin of.
    for name in toolseam.__all__:
        getattr(toolseam, name)
    if sys.version_info < (3, 12):
        _announce_threads()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    caught = tempfile.TemporaryFile()  # noqa: SIM115 - it is standard output until the end
    os.dup2(caught.fileno(), 1)
    os.dup2(caught.fileno(), 2)
    plugin: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        if "module" in request:
            answer, plugin = look(request["module"], request["attribute"], caught)
        else:
            answer = {"calls": calls(plugin, request["calls"])}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    answers.close()
    os._exit(0)  # a thread that the plugin left would keep the process


def _announce_threads() -> None:
    """Let Python 3.11 tell of threads as later versions do by themselves."""
    inner: Any = threading
    start = inner._start_new_thread  # noqa: SLF001 - what `Thread.start` calls

    def announced(function: Callable[..., object], *given: Any) -> Any:  # noqa: ANN401
        sys.audit("_thread.start_new_thread", function, *given)
        return start(function, *given)

    inner._start_new_thread = announced  # noqa: SLF001


def look(module: str, attribute: str, caught: BinaryIO) -> tuple[dict[str, Any], Any]:
    """Import a plugin and ask for its specification; return what was seen, and the plugin."""

    def find() -> Any:  # noqa: ANN401
        found: Any = importlib.import_module(module)
        for name in attribute.split(".") if attribute else ():
            found = getattr(found, name)
        return found

    imported, plugin = _watched(find, caught)
    answer: dict[str, Any] = {"import": imported, "spec": None, "digest": None}
    if imported["error"] is None and hasattr(plugin, "tool_spec"):
        answer["spec"], spec = _watched(plugin.tool_spec, caught)
        answer["digest"] = getattr(spec, "digest", None)
    return answer, plugin


def calls(plugin: object, arguments: list[dict[str, Any]]) -> list[list[str]]:
    """Call the plugin through a host and return status and content of each call."""
    from toolseam import Actor, Host

    with Host(tools=[plugin]) as host:
        name = host.tools()[0].name
        found = [host.call(name, one, actor=Actor.system) for one in arguments]
    return [["ok" if r.failure is None else r.failure.code.value, r.content] for r in found]


def _watched(act: Callable[[], Any], caught: BinaryIO) -> tuple[dict[str, Any], Any]:
    sys.stdout.flush()
    start, threads, before = caught.seek(0, 2), set(threading.enumerate()), footprint()
    value, error = None, None
    with audit() as noted:
        began = time.perf_counter()
        try:
            value = act()
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is told
            error = f"{type(raised).__name__}: {raised}"[:500]
        seconds = time.perf_counter() - began
    after = footprint()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    caught.seek(start)
    printed = caught.read().decode("utf-8", "replace")
    left = [thread.name for thread in threading.enumerate() if thread not in threads]
    return {
        "error": error,
        "seconds": seconds,
        "printed": printed[:1_000],
        "noted": noted,
        "threads": left,
        "changed": changed(before, after),
    }, value
