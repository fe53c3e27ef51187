"""`toolseam held`: runs that are held, and a person's word on what their writes did."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from toolseam.cli._runs import FAILED
from toolseam.cli._terminal import columns, complain, note, on_terminal, one_line, say, say_json
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from toolseam import Host
    from toolseam._held import Verdict
    from toolseam.runs import HeldCall, HeldRun

_USAGE = 2
_VERDICTS: dict[str, Verdict] = {"done": "done", "not done": "not_done"}


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run that is held; else all")
    parser.add_argument("--json", action="store_true", help="print a list, or one run as an object")
    parser.epilog = """\
examples:
  toolseam held
  toolseam held 7d2c41f09a5e4b0c8f6e1d2a3b4c5d6e
  toolseam held --json

A run is held when a write was made and nobody knows what came of it: its process was killed in the
middle, or the outcome could not be stored. Nothing of it runs until a person has looked where the
write would have been made, and has said what is there. That needs a terminal: for each call you
type `done` or `not done`, or nothing to leave it as it is. Who said what is stored.

exit codes: 0 a list, or everything was said; 1 something was left open, or no such run is held;
2 usage or settings
"""


def main(options: Namespace) -> int:
    """List what is held; or show one run's calls and take the person's word on them."""
    from toolseam import Host
    from toolseam.runs import RunError

    try:
        with Host.load(mounts=False) as host:
            runs = host.held_runs()
            if options.run is None:
                return _list(runs, as_json=options.json)
            found = next((each for each in runs if each.id == options.run), None)
            if found is None:
                complain(f"no run {one_line(options.run)} is held here")
                return FAILED
            return _settle(host, found, as_json=options.json)
    except UsageError as error:
        complain(str(error))
        return _USAGE
    except RunError as error:
        complain(f"{error.code}: {error}")
        return FAILED


# -- looking --------------------------------------------------------------------------------------


def _list(runs: Sequence[HeldRun], *, as_json: bool) -> int:
    if as_json:
        say_json([held_json(each) for each in runs])
    elif not on_terminal():
        for each in runs:
            say("\t".join(one_line(cell) for cell in _cells(each)))
    elif not runs:
        say("No run is held.")
    else:
        from toolseam.cli._table import table

        headings = ("RUN", "BEGAN", "OWNER", "REASON", "OPEN", "CALLS")
        say(table(headings, [_cells(each) for each in runs], width=columns()))
    return 0


def _cells(run: HeldRun) -> tuple[str, ...]:
    return (
        run.id,
        "-" if run.began is None else run.began.strftime("%Y-%m-%d %H:%M UTC"),
        run.owner or "-",
        run.reason or "-",
        f"{len(run.open)} of {len(run.calls)}",
        ", ".join(each.tool for each in run.calls),
    )


def held_json(run: HeldRun) -> dict[str, Any]:
    """Return a run that is held as `held --json` prints it."""
    return {
        "run": run.id,
        "owner": run.owner,
        "began": None if run.began is None else run.began.isoformat(timespec="seconds"),
        "reason": run.reason,
        "goes_on": run.goes_on,
        "calls": [
            {
                "round": each.round,
                "position": each.position,
                "tool": each.tool,
                "status": each.status,
                "actor": each.actor,
                "arguments": each.arguments,
                "verdict": None if each.told is None else each.told.verdict,
                "said_by": None if each.told is None else each.told.said_by,
            }
            for each in run.calls
        ],
    }


# -- saying what happened -------------------------------------------------------------------------


def _settle(host: Host, run: HeldRun, *, as_json: bool) -> int:
    from toolseam.cli._consent import asks_here

    if not asks_here():
        raise UsageError("saying what happened needs a terminal; `toolseam held --json` only lists")
    note(f"Run {run.id} of {run.owner or 'nobody'}")
    settled = _asked(host, run)
    note(_ended(run) if settled else "The run is held on.")
    if as_json:
        left = {each.id: each for each in host.held_runs()}.get(run.id)
        say_json({"run": run.id, "held": left is not None, "open": len(left.open) if left else 0})
    return 0 if settled else FAILED


def _asked(host: Host, run: HeldRun) -> bool:
    """Take the person's word on each open call; True if none is left."""
    from toolseam.cli._person import person

    session, actor = host.session(), person()
    if not run.open:
        note("  What came of its writes is known by now: `toolseam audit show` tells it.")
        seen = _typed("Type seen to say so: ") == "seen"
        return seen and session.settle(run.id, (), "done", actor=actor)
    settled = False
    for call in run.open:
        for line in _shown(call):
            note(line)
        verdict = _VERDICTS.get(_typed("Was it done? Type done, not done, or nothing: "))
        if verdict is not None:
            settled = session.settle(run.id, [call], verdict, actor=actor)
    return settled


def _shown(call: HeldCall) -> list[str]:
    """List what is known of a call of which nobody knows what it did."""
    lines = ["", f"Round {call.round}, call {call.position}: {call.tool}, {call.status}"]
    if call.actor is not None:
        lines.append(f"  made for {call.actor}")
    if call.arguments is None:
        return [*lines, "  its arguments were not stored (audit.level)"]
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return [*lines, *(f"  {line}" for line in text.splitlines())]


def _typed(question: str) -> str:
    sys.stderr.write(f"\n{question}")
    sys.stderr.flush()
    return " ".join(sys.stdin.readline().split())


def _ended(run: HeldRun) -> str:
    if run.goes_on:
        return "Everything is said; whoever runs it goes on with it."
    return "Everything is said, and the run has ended. Nothing was run."
