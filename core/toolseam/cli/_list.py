"""`toolseam list`: every entry point with status and reason; nothing of a plugin is imported."""

from __future__ import annotations

from toolseam.cli._records import as_json, group_of, look, paint_status, say_remarks, why
from toolseam.cli._terminal import Shown, columns, on_terminal, one_line, say, say_json

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from toolseam.cli._records import Listing

_STATUS = 1


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument(
        "--load", action="store_true", help="import each plugin that may be, and say what became"
    )
    parser.add_argument("--json", action="store_true", help="print one list of objects")
    parser.epilog = """\
examples:
  toolseam list
  toolseam list --load
  toolseam list | awk -F'\\t' '$2 == "untrusted"'

In a pipe each line holds name, status, reason, distribution, version and group, separated by tabs.
"""


def main(options: Namespace) -> int:
    """List, and succeed: what is broken is the listing's content, not its failure."""
    listing = look(load=options.load, left=options.left)
    if options.json:
        say_json(as_json(listing))
    elif on_terminal():
        _for_people(listing)
    else:
        _for_programs(listing)
    say_remarks(listing, aside=options.json)
    return 0


def _for_people(listing: Listing) -> None:
    from toolseam.cli._table import table

    rows = [
        (record.name or "-", record.status, f"{record.distribution} {record.version}", why(record))
        for record in listing.discovery.records
    ]
    headings = ("NAME", "STATUS", "FROM", "WHY")
    say(table(headings, rows, width=columns(), style=_styled))
    loaded = sum(record.status in {"found", "ready"} for record in listing.discovery.records)
    say(f"\n{loaded} of {len(rows)} may be used.")


def _styled(column: int, text: str) -> Shown:
    return paint_status(text) if column == _STATUS else Shown(text)


def _for_programs(listing: Listing) -> None:
    for record in listing.discovery.records:
        cells = (
            record.name,
            record.status,
            why(record),
            record.distribution,
            record.version,
            group_of(record, listing.groups) or "",
        )
        say(Shown("\t".join(one_line(cell) for cell in cells)))
