"""`toolseam approve`: what waits for a person, and his word on it, typed on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam.cli._following import follow, showing
from toolseam.cli._runs import FAILED, WAITS, exit_code, pending_json, run_json
from toolseam.cli._terminal import columns, complain, note, on_terminal, one_line, say, say_json
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import AsyncIterator, Sequence

    from toolseam import Decision, Host, Run
    from toolseam._run_state import Event
    from toolseam.providers import Provider
    from toolseam.runs import WaitingRun

_USAGE = 2


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a run that waits; else all of them")
    parser.add_argument(
        "--deny",
        action="append",
        default=[],
        metavar="POSITION:REASON",
        help="refuse a call of the turn; the model is told the reason",
    )
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        metavar="POSITION=JSON",
        help="other arguments for a call; they are shown and approved like any",
    )
    parser.add_argument(
        "--provider", metavar="NAME:MODEL", help="who is asked from now on, if it is another one"
    )
    showing(parser)
    parser.add_argument("--json", action="store_true", help="print a list, or one run as an object")
    parser.epilog = """\
examples:
  toolseam approve
  toolseam approve 7d2c41f09a5e4b0c8f6e1d2a3b4c5d6e
  toolseam approve 7d2c41f09a5e4b0c8f6e1d2a3b4c5d6e --deny "1:not on a Friday"
  toolseam approve 7d2c41f09a5e4b0c8f6e1d2a3b4c5d6e --edit '0={"page": 7, "title": "Tides"}'

Deciding needs a terminal. Each call is shown with all its arguments and what the tool says it would
do, and is approved by the first eight characters of its digest, typed by hand. Nothing says yes to
all of them, and nothing runs before every call of the turn is decided.

exit codes: 0 an answer, 1 the run failed or nothing was decided, 2 usage or settings,
3 a tool broke the contract, 4 the run waits again, or for the program that began it
"""


def main(options: Namespace) -> int:
    """List what waits; or show one run's calls, take the person's word, and go on with it."""
    from toolseam import Host

    try:
        with Host.load() as host:
            return _list(host, options) if options.run is None else _decide(host, options)
    except UsageError as error:
        complain(str(error))
        return _USAGE


# -- what waits -----------------------------------------------------------------------------------


def _list(host: Host, options: Namespace) -> int:
    if options.deny or options.edit or options.provider:
        raise UsageError("name the run that is decided: toolseam approve RUN")
    waiting = host.waiting_runs()
    if options.json:
        say_json([as_json(each) for each in waiting])
    elif on_terminal():
        _for_people(waiting)
    else:
        for each in waiting:
            say("\t".join(one_line(cell) for cell in _cells(each)))
    return 0


def as_json(waiting: WaitingRun) -> dict[str, Any]:
    """Return a run that waits as `approve --json` prints it."""
    return {
        "run": waiting.id,
        "owner": None if waiting.owner is None else waiting.owner.name,
        "since": waiting.since.isoformat(timespec="seconds"),
        "providers": list(waiting.providers),
        "pending": [
            {**pending_json(each), "decided": each.position in waiting.decided}
            for each in waiting.pending
        ],
    }


def _for_people(waiting: Sequence[WaitingRun]) -> None:
    from toolseam.cli._table import table

    if not waiting:
        say("Nothing waits for a person.")
        return
    headings = ("RUN", "SINCE", "OWNER", "ASKED", "DECIDED", "CALLS")
    say(table(headings, [_cells(each) for each in waiting], width=columns()))


def _cells(waiting: WaitingRun) -> tuple[str, ...]:
    asked = [each for each in waiting.pending if each.needs_approval]
    return (
        waiting.id,
        waiting.since.strftime("%Y-%m-%d %H:%M UTC"),
        "-" if waiting.owner is None else waiting.owner.name,
        ", ".join(waiting.providers),
        f"{len(waiting.decided)} of {len(asked)}",
        ", ".join(each.tool for each in asked),
    )


# -- deciding -------------------------------------------------------------------------------------


def _decide(host: Host, options: Namespace) -> int:
    from toolseam._run_control import waiting_run
    from toolseam.cli._consent import asks_here
    from toolseam.cli._deciding import decisions_on, words_of
    from toolseam.cli._person import person
    from toolseam.runs import RunError

    if not asks_here():
        raise UsageError("deciding needs a terminal; in a pipe `toolseam approve` only lists")
    words = words_of(options.deny, options.edit)
    try:
        waiting = waiting_run(host._state, options.run)  # noqa: SLF001 - the host's own command
        words.refuse_strange(waiting)
        # Made before anybody decides: what cannot go on is not decided.
        other = options.provider
        providers = host.providers_of(waiting) if other is None else (host.provider(other),)
        decisions = decisions_on(host, waiting, words, person())
        if decisions is None:
            note("Nothing was decided, and the run waits on.")
            return FAILED
        if not providers:
            return _leave(host, waiting, decisions)
        return _go_on(host, waiting, decisions, providers, options)
    except RunError as error:
        complain(f"{error.code}: {error}")
        return FAILED


# -- going on -------------------------------------------------------------------------------------


def _leave(host: Host, waiting: WaitingRun, decisions: Sequence[Decision]) -> int:
    """Keep the decisions for the program that began the run with a provider of its own."""
    host.session().decide(waiting.id, decisions)
    note("Decided. The program that began the run goes on with it: its provider is its own.")
    return WAITS


def _go_on(
    host: Host,
    waiting: WaitingRun,
    decisions: Sequence[Decision],
    providers: tuple[Provider, ...],
    options: Namespace,
) -> int:
    from toolseam._run_control import events, resume_run

    state = host._state  # noqa: SLF001 - what a host does on resume, shown while it happens
    resumed = resume_run(state, waiting.id, decisions, providers)

    def begin() -> AsyncIterator[Event | Run]:
        return events(*resumed)

    run = follow(host, begin, options)
    if options.json:
        say_json(run_json(run))
    return exit_code(run)
