"""`toolseam index`: builds the full-text index that the rag tools look into, and tells of it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolseam.cli._terminal import columns, complain, note, on_terminal, paint, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from toolseam import Host
    from toolseam_builtin._index import Built, Status
    from toolseam_builtin.workspace import Workspace

_TOOL = "rag_query"
_HEADINGS = ("FROM", "KIND", "SOURCES", "PASSAGES", "NOTES")


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("action", choices=["build", "status"], help="what to do")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.epilog = """\
examples:
  toolseam index build
  toolseam index status --json

Built from the folders and columns of [workspace.index], secrets masked, and kept for you alone in
your state folder, outside of the workspace. exit codes: 0 built, or there and up to date; 1 it
could not be built, is not there, or is out of date.
"""


def main(options: Namespace) -> int:
    """Build the index, or say how it stands."""
    from toolseam import Host, ToolError

    with Host.load(mounts=False) as host:
        workspace = workspace_of(host)
        if workspace is None:
            complain(f"{_TOOL} is not loaded here, so there is nothing that an index is for")
            return 1
        try:
            action = _build if options.action == "build" else _status
            return action(workspace, as_json=options.json)
        except ToolError as failure:
            complain(str(failure))
            return 1


def workspace_of(host: Host) -> Workspace | None:
    """Return the settings that the tools which look into the index get; None without them."""
    tool = host.tool(_TOOL)
    if tool is None:
        return None
    found: Workspace = host._state.settings_of(tool)  # noqa: SLF001 - a command of the core's own
    return found


def _build(workspace: Workspace, *, as_json: bool) -> int:
    from toolseam_builtin._index import build_index, index_status

    start = time.monotonic()
    build_index(workspace)
    status = index_status(workspace)
    if as_json:
        say_json(_told(status))
    else:
        _show(status)
        note(f"built in {time.monotonic() - start:.1f} s")
    return 0


def _status(workspace: Workspace, *, as_json: bool) -> int:
    from toolseam_builtin._index import index_status

    status = index_status(workspace)
    if as_json:
        say_json(_told(status))
    else:
        _show(status)
    return 1 if status.stale else 0


def _told(status: Status) -> dict[str, Any]:
    """Return how an index stands, as `index --json` prints it."""
    import attrs

    from toolseam_builtin._index import age

    return {
        "file": str(status.file),
        "built": _moment(status),
        "age_s": round(age(status), 1),
        "size": status.size,
        "sources": sum(place.sources for place in status.places),
        "passages": sum(place.passages for place in status.places),
        "places": [attrs.asdict(place) for place in status.places],
        "stale": list(status.stale),
    }


def _moment(status: Status) -> str:
    return datetime.fromtimestamp(status.built, UTC).isoformat(timespec="seconds")


def _show(status: Status) -> None:
    rows = [
        (place.name, place.kind, f"{place.sources:,}", f"{place.passages:,}", _notes(place))
        for place in status.places
    ]
    if on_terminal():
        from toolseam.cli._table import table

        say(table(_HEADINGS, rows, width=columns()))
    else:
        for row in rows:
            say("\t".join(row))
    say(f"{status.file}: {status.size:,} bytes, built {_moment(status)}")
    for reason in status.stale:
        say(paint("out of date: ", "yellow"), reason)


def _notes(place: Built) -> str:
    said = [f"{count:,} {why}" for why, count in sorted(place.passed_over.items())]
    if place.cut:
        said.append(f"{place.cut:,} cut")
    if not place.complete:
        said.append("the first ones only")
    return ", ".join(said)
