"""Discovers in a process of its own and prints what it saw as one JSON line.

`probe.py` lists; `probe.py --host` loads everything and calls the tools that `--call` names. The
current folder is the workspace.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolseam._discovery import discover
from toolseam._entrypoints import Record, safe_path
from toolseam._selection import read_selection


def listing() -> dict[str, Any]:
    """Look at what is installed without importing any of it."""
    folder = str(Path.cwd())
    selection = read_selection(folder)
    found = discover(selection, folder=folder)
    return {
        "records": rows(found.records),
        "notes": found.notes,
        "shadowed": [[item.distribution, item.version, item.kept] for item in found.shadowed],
        "ignored": selection.ignored,
    }


def hosting(sets: Iterable[str | None], names: Iterable[str]) -> dict[str, Any]:
    """Load a host for each set, side by side, and call tools of each."""
    from toolseam import Actor, Host

    hosts = [Host.load(set=name) for name in sets]
    seen = []
    for host in hosts:
        offered = [tool.name for tool in host.tools()]
        calls = {name: host.call(name, {}, actor=Actor.system).content for name in names}
        seen.append({"tools": offered, "records": rows(host.records), "calls": calls})
        host.close()
    return {"hosts": seen}


def rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Give records as plain values."""
    return [{name: getattr(record, name) for name in record.__slots__} for record in records]


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--set", action="append")
    parser.add_argument("--call", action="append", default=[])
    wanted = parser.parse_args()
    sys.path[:] = safe_path(sys.path, str(Path.cwd()))
    seen = hosting(wanted.set or [None], wanted.call) if wanted.host else listing()
    sys.stdout.write(json.dumps(seen | {"modules": sorted(sys.modules)}) + "\n")


if __name__ == "__main__":
    main()
