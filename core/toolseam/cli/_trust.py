"""`toolseam trust`: the operator's word for a distribution, or for a folder with its file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam._entrypoints import canonical
from toolseam._selection import near_miss
from toolseam._settings_files import operator_file, trust_file, workspace_file
from toolseam._trust import distrust, trust_distribution, trust_workspace, trusted
from toolseam.cli._records import look
from toolseam.cli._terminal import columns, complain, note, on_terminal, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

_FOLDERS = {os.curdir, os.pardir}


@attrs.frozen
class Trust:
    """One thing that is trusted, where that is written, and how it stands today.

    `kind` is `distribution` (or an entry point's name) or `workspace`; `state` is `installed` or
    `missing` for the one, `current`, `changed` or `missing` for the other.
    """

    word: str
    kind: str
    file: str
    state: str


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument(
        "words", nargs="*", metavar="NAME|FOLDER", help="a distribution, or a folder such as ."
    )
    parser.add_argument("--list", action="store_true", help="show what is trusted")
    parser.add_argument("--remove", action="store_true", help="take the trust back")
    parser.add_argument("--json", action="store_true", help="print all that is trusted as a list")
    parser.epilog = """\
examples:
  toolseam trust acme-greet
  toolseam trust .
  toolseam trust --list
  toolseam trust --remove acme-greet

A trusted distribution is imported, and so may do what you may do. A trusted folder may name a
database server, and code to import, in its workspace file; it is bound to that file as it is now.
"""


def main(options: Namespace) -> int:
    """Trust, or take trust back, or show what is trusted."""
    if not options.words and not options.list:
        complain("name a distribution or a folder, or say --list")
        return 2
    refused = [word for word in options.words if not _change(word, remove=options.remove)]
    if options.json:
        say_json([attrs.asdict(each) for each in standing()])
    elif options.list:
        _show()
    return 1 if refused else 0


def standing() -> Iterator[Trust]:
    """Give all that is trusted, in the operator's own file and through this command."""
    config = operator_file()
    written = trust_file(config)
    records = look(load=False).discovery.records
    known = {canonical(record.name) for record in records} | {r.distribution for r in records}
    for file in (config, written):
        for word in file.table.get("trust", ()):
            there = word == "*" or Path(word).is_dir() or canonical(word) in known
            state = "installed" if there else "missing"
            yield Trust(word, "distribution", str(file.path), state)
        for folder, digest in file.table.get("trusted_workspaces", {}).items():
            yield Trust(folder, "workspace", str(file.path), _state_of(folder, digest))


def _state_of(folder: str, digest: str) -> str:
    if not Path(folder).is_dir():
        return "missing"
    return "current" if workspace_file(folder).digest() == digest else "changed"


def _change(word: str, *, remove: bool) -> bool:
    """Do what was asked for one word, and say what it means; False if it could not be done."""
    if remove:
        return _remove(word)
    if word in _FOLDERS or os.sep in word:
        _trust_folder(word)
        return True
    file = trust_distribution(word)
    note(f"{canonical(word)} is trusted; written to {file}")
    records = look(load=False).discovery.records
    names = {canonical(record.name): record for record in records} | {
        record.distribution: record for record in records
    }
    mine = [r.name for r in records if canonical(word) in {r.distribution, canonical(r.name)}]
    if mine:
        note(f"it offers: {', '.join(mine)}")
    else:
        note(f"note: it is not installed{near_miss(canonical(word), names)}")
    return True


def _trust_folder(word: str) -> None:
    file = trust_workspace(word)
    described = workspace_file(os.path.realpath(word))
    note(f"{os.path.realpath(word)} is trusted; written to {file}")
    if described.exists:
        note(f"it is bound to {described.path} as it is now; after a change, trust it again")
    else:
        note("there is no workspace file; one that comes later is not trusted by this")


def _remove(word: str) -> bool:
    if distrust(word):
        note(f"{word} is no longer trusted")
        return True
    for each in standing():
        if each.word in {word, canonical(word), os.path.realpath(word)}:
            complain(f"{word} is trusted in {each.file}, which is yours alone; take it out there")
            return False
    names, folders = trusted()
    complain(f"{word} is not trusted{near_miss(word, [*names, *folders])}")
    return False


def _show() -> None:
    rows = [(each.word, each.kind, each.state, each.file) for each in standing()]
    if on_terminal():
        from toolseam.cli._table import table

        say(table(("TRUSTED", "KIND", "STATE", "WRITTEN IN"), rows, width=columns()))
        return
    for row in rows:
        say("\t".join(row))
