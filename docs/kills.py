"""Write the table of what becomes of a call whose body comes to grief, as real runs give it.

`python -m docs.kills` rewrites it, `--check` says whether it is current.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs import doomed

from toolseam import Actor, Host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam import Step

PAGE = Path(__file__).parent / "how-to" / "run-tools-apart.md"
BEGIN, END = "<!-- docs/kills.py -->\n", "<!-- docs/kills.py: end -->\n"
ADA = Actor("ada", {"admin"})
PLACES = ("process", "executor")
SETTLED_S = 0.5
"""After a call whoever would make it a second time has had time for it."""

WHAT: dict[str, dict[str, Any]] = {
    "killed before its effect": {"before": "kill"},
    "killed after its effect": {"after": "kill"},
    "leaves without a word, after its effect": {"after": "leave"},
    "uses processor time without end": {"before": "spin"},
    "allocates without end": {"before": "allocate"},
    "outlives its deadline, deaf to signals": {"before": "sleep", "timeout": 1.0},
    "writes into its way back": {"after": "babble"},
    "closes all descriptors": {"after": "close"},
    "forks, and both come back": {"after": "fork"},
    "its deadline passes while it waits for room": {"crowded": True, "timeout": 0.5},
    "nothing": {},
}
"""What happens, and how it is brought about."""

BEYOND = {"spin", "allocate", "babble", "close", "fork"}
"""What an engine without limits and frames of its own is not made for."""


def outcome(place: str, tool: str, told: dict[str, Any], folder: Path) -> str:
    """Make one call and say what became of it: status, reason, effect, executions."""
    given = dict(told)
    timeout, crowded = given.pop("timeout", None), given.pop("crowded", False)
    if place == "executor" and BEYOND & set(map(str, given.values())):
        return "the engine's to bound"
    notes = folder / f"{place}-{tool}-{len(list(folder.iterdir()))}"
    spawn = multiprocessing.get_context("spawn")
    settings = {
        "runs_in": {"*": place},
        "process": {"workers": 1, "cpu_s": 1, "memory_mb": 400},
    }
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        executors = {"executor": pool}
        tools = [doomed.looks, doomed.changes]
        with Host(tools=tools, executors=executors, settings=settings) as host:
            given["file"] = str(notes)
            approval = None
            if tool == "changes":
                approval = host.approve(host.preview(tool, given, actor=ADA), actor=ADA)
            if crowded:
                crowd(host, folder)
            host.call(tool, given, actor=ADA, approval=approval, timeout=timeout)
            step = host.steps[-1]
            time.sleep(SETTLED_S)
            if place == "executor":
                for process in list((pool._processes or {}).values()):  # noqa: SLF001 - to end it
                    process.kill()
    began = notes.read_text().count("began") if notes.exists() else 0
    return said(step, began)


def crowd(host: Host, folder: Path) -> None:
    """Take the only place there is."""
    given = {"file": str(folder / "crowd"), "before": "sleep"}
    threading.Thread(
        target=host.call, args=("looks", given), kwargs={"actor": ADA, "timeout": 20}, daemon=True
    ).start()
    until = time.monotonic() + 60
    while not (folder / "crowd").exists() and time.monotonic() < until:
        time.sleep(0.05)
    (folder / "crowd").unlink()


def said(step: Step, began: int) -> str:
    """Say what a step is, and how often its body began."""
    reason = step.result.metadata.value.get("reason")
    words = f"`{step.status}`" + (f" (`{reason}`)" if reason else "")
    effect = "" if step.effect == "none" else f", effect {step.effect}"
    ran = {0: "never began", 1: "began once"}.get(began, f"**began {began} times**")
    return f"{words}{effect}; {ran}"


def rows() -> Iterator[list[str]]:
    """Give the rows of the table."""
    yield ["what befalls it", "a read in a process", "a write in a process", "a write, executor"]
    yield ["---"] * 4
    with tempfile.TemporaryDirectory() as folder:
        for what, told in WHAT.items():
            cells = [
                outcome(place, tool, told, Path(folder))
                for place, tool in (
                    ("process", "looks"),
                    ("process", "changes"),
                    ("executor", "changes"),
                )
            ]
            yield [what, *cells]


def main() -> int:
    """Make the calls and rewrite the page, or with `--check` compare it."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    drawn = "\n".join("| " + " | ".join(row) + " |" for row in rows())
    wanted = before + BEGIN + f"\n{drawn}\n\n" + END + rest.partition(END)[2]
    if text == wanted:
        return 0
    if "--check" in sys.argv[1:]:
        sys.stderr.write(f"not current: the table of {PAGE.name}; run docs.kills\n{drawn}\n")
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
