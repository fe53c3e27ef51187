"""`toolseam audit`: what was stored of runs and calls, for people and for other programs."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam.cli._terminal import columns, complain, note, on_terminal, paint, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator, Sequence

    from toolseam_plugins.audit import Audit

_FAILED = 1
_SHOWN = 20
_ID = 12
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_RUN_CELLS = {"run": "run", "owner": "owner", "status": "run_status"}
_STEP_CELLS = (
    *("seq", "at", "kind", "round", "position", "duration_s", "actor", "tool", "distribution"),
    *("version", "status", "effect", "facts", "content"),
)
_COLOURS = {"failed": "red", "held": "yellow", "waiting_for_approval": "yellow"}
_HEADINGS = ("RUN", "BEGAN (UTC)", "STATUS", "OWNER", "STEPS", "TOKENS", "NOTES")
_STEP_HEADINGS = ("#", "AT (UTC)", "STEP", "STATUS", "WHO", "TOOK", "FACTS")


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    from toolseam.runs import RunStatus

    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="runs and sessions, the newest first")
    listing.add_argument(
        "--limit", type=_count, default=_SHOWN, metavar="N", help="at most so many (20)"
    )
    listing.add_argument(
        "--status",
        choices=[*(each.value for each in RunStatus), "session"],
        default="",
        metavar="STATUS",
        help="only these: completed, failed, held …",
    )
    show = actions.add_parser("show", help="one run with its steps and decisions")
    show.add_argument("run", metavar="RUN", help="its id, or how that begins")
    export = actions.add_parser("export", help="everything, or one run, as JSON or CSV")
    export.add_argument("run", nargs="?", metavar="RUN", help="its id, or how that begins")
    export.add_argument("--csv", action="store_true", help="one line a step, for a spreadsheet")
    purge = actions.add_parser("purge", help="delete what is too old")
    purge.add_argument(
        "--older-than", type=_days, metavar="DAYS", help="instead of audit.retention_days"
    )
    for action in (listing, show, purge):
        action.add_argument("--json", action="store_true", help="print a list, or one object")
    parser.epilog = """\
examples:
  toolseam audit list --status failed
  toolseam audit show 7d2c41f09a5e
  toolseam audit export --csv > audit.csv
  toolseam audit purge --older-than 7

The plugin `audit` stores what happens once your file names it: trust = ["audit"]. What is stored of
content is for audit.level to say. exit codes: 0 done; 1 there is no such run, or steps of it are
missing; 2 usage or settings, or there is no store that can be read.
"""


def _count(word: str) -> int:
    """Read a whole number of at least 1."""
    from argparse import ArgumentTypeError

    if not (word.isascii() and word.isdigit() and word.strip("0")):
        raise ArgumentTypeError("expected a whole number, 1 or more")
    return int(word)


def _days(word: str) -> float:
    """Read a number of days that can be counted back from now."""
    from argparse import ArgumentTypeError

    with suppress(ValueError):
        if 0 <= (days := float(word)) < float("inf"):
            return days
    raise ArgumentTypeError("expected days, 0 or more")


def main(options: Namespace) -> int:
    """Do what the action says, with the store of the current folder."""
    from toolseam._settings import load_settings
    from toolseam_plugins.audit import look

    settings = load_settings(Path.cwd())
    with look(settings) as audit:
        if options.action == "list":
            return _list(audit, options)
        if options.action == "show":
            return _show(audit, options)
        if options.action == "export":
            return _export(audit, options)
        days = settings.audit.retention_days if options.older_than is None else options.older_than
        return _purge(audit, days, as_json=options.json)


# -- looking --------------------------------------------------------------------------------------


def _list(audit: Audit, options: Namespace) -> int:
    found = list(audit.runs(options.limit, options.status))
    if options.json:
        say_json(found)
        return 0
    rows = [_cells(each) for each in found]
    if not on_terminal():
        for row in rows:
            say("\t".join(row))
    elif rows:
        say(_table(_HEADINGS, rows))
    elif options.status:
        say(f"Nothing that is stored here is {options.status}.")
    else:
        say("Nothing is stored here yet.")
    return 0


def _cells(run: dict[str, Any]) -> tuple[str, ...]:
    tokens = (run["input_tokens"] or 0) + (run["output_tokens"] or 0)
    return (
        run["run"][:_ID],
        _when(run["began"]),
        run["status"]
        if run["reason"] in (None, run["status"])
        else f"{run['status']}: {run['reason']}",
        run["owner"] or "-",
        f"{run['steps']:,}",
        f"{tokens:,}" if tokens else "-",
        ", ".join(_notes(run)),
    )


def _notes(run: dict[str, Any]) -> Iterator[str]:
    if run["lost"]:
        yield f"incomplete: {run['lost']:,} steps could not be stored"
    if run["missing"]:
        yield f"{run['missing']:,} steps are missing"
    if run["truncated"]:
        yield "cut short by a bound"


def _show(audit: Audit, options: Namespace) -> int:
    run = audit.run(options.run)
    if run is None:
        complain(f"no run begins with {options.run}")
        return _FAILED
    whole = _whole(audit, run)
    if options.json:
        say_json(whole)
    else:
        _show_run(whole)
    if run["missing"]:
        complain(f"{run['missing']:,} steps of this run are missing from the store")
        return _FAILED
    return 0


def _whole(audit: Audit, run: dict[str, Any]) -> dict[str, Any]:
    found = run["run"]
    said = {"decisions": audit.decisions(found), "told": audit.told(found)}
    return {**run, **said, "steps": list(audit.steps(found))}


def _show_run(run: dict[str, Any]) -> None:
    say(paint(run["run"], "bold"), f"  {run['kind']}, stored at the level `{run['level']}`")
    for key in ("status", "reason", "owner", "provider", "zone", "mark", "fault", "began", "ended"):
        if run[key] is not None:
            say(f"  {key:9}", paint(str(run[key]), _COLOURS.get(str(run[key]), "cyan")))
    for line in _notes({**run, "steps": len(run["steps"])}):
        say("  ", paint(line, "yellow"))
    rows = [_step_cells(step) for step in run["steps"]]
    if on_terminal() and rows:
        say(_table(_STEP_HEADINGS, rows))
    else:
        for row in rows:
            say("\t".join(row))
    for line in _people(run):
        say(line)
    for step in run["steps"]:
        content: dict[str, Any] = step["content"] or {}
        for key, value in content.items():
            _show_content(f"#{step['seq']} {key}: ", value)
    if run["answer"] is not None:
        _show_content("answer: ", run["answer"])


def _people(run: dict[str, Any]) -> Iterator[str]:
    """Give what people decided of calls that waited, and said of calls that held the run."""
    for each in run["decisions"]:
        said = f"wait {each['wait']}, call {each['position']}: {each['verdict']}"
        yield f"{said} by {each['decided_by']}, {_when(each['at'])}"
    for each in run["told"]:
        verdict = each["verdict"].replace("_", " ")
        said = f"round {each['round']}, call {each['position']}: {verdict}"
        yield f"{said}, says {each['said_by']}, {_when(each['at'])}"


def _show_content(heading: str, value: object) -> None:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = text.splitlines() or [""]
    if len(lines) == 1:
        say(paint(heading, "dim"), text)
        return
    say(paint(heading, "dim"))
    for line in lines:
        say("    ", line)


def _step_cells(step: dict[str, Any]) -> tuple[str, ...]:
    facts = [f"{key}={_short(value)}" for key, value in step["facts"].items()]
    effect = f" ({step['effect']})" if step["effect"] in {"done", "unknown"} else ""
    return (
        str(step["seq"]),
        _when(step["at"]),
        step["kind"] if step["tool"] is None else f"{step['kind']} {step['tool']}",
        f"{step['status'] or '-'}{effect}",
        step["actor"] or "-",
        f"{step['duration_s'] * 1000:,.0f} ms",
        " ".join(facts),
    )


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _when(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    from toolseam.cli._table import table

    return table(headings, rows, width=columns())


# -- taking it elsewhere --------------------------------------------------------------------------


def _export(audit: Audit, options: Namespace) -> int:
    runs = audit.runs()
    if options.run is not None:
        run = audit.run(options.run)
        if run is None:
            complain(f"no run begins with {options.run}")
            return _FAILED
        runs = iter([run])
    if options.csv:
        _as_csv(audit, runs)
    else:
        _as_json(audit, runs)
    return 0


def _as_json(audit: Audit, runs: Iterable[dict[str, Any]]) -> None:
    """Write one list, a run at a time: a store may be larger than memory."""
    say("[")
    before = None
    for run in runs:
        if before is not None:
            say_json(before, end=",")
        before = _whole(audit, run)
    if before is not None:
        say_json(before)
    say("]")


def _as_csv(audit: Audit, runs: Iterable[dict[str, Any]]) -> None:
    say(",".join((*_RUN_CELLS.values(), *_STEP_CELLS)))
    for run in runs:
        head = [run[key] for key in _RUN_CELLS]
        for step in audit.steps(run["run"]):
            say(_csv_line([*head, *(step[key] for key in _STEP_CELLS)]))


def _csv_line(cells: Iterable[object]) -> str:
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([_cell(value) for value in cells])
    return line.getvalue()


def _cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; the JSON export is faithful."""
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _purge(audit: Audit, days: float, *, as_json: bool) -> int:
    purged = audit.purge(days)
    if as_json:
        say_json({"purged": purged, "older_than_days": days})
    else:
        note(f"{purged:,} runs and sessions older than {days:g} days were deleted")
    return 0
