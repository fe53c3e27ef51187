"""Discovers in a process of its own and prints what it saw as one JSON line.

`probe.py [--load] [--set NAME] [--folder FOLDER]`; the current folder is the workspace.
"""

import argparse
import json
import sys
from pathlib import Path

from toolseam._discovery import discover
from toolseam._loading import load
from toolseam._selection import read_selection


def main() -> None:
    """Print records, notes, shadowed distributions and the modules that were imported."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--set", default=None)
    wanted = parser.parse_args()
    folder = str(Path.cwd())
    selection = read_selection(folder, plugin_set=wanted.set)
    found = discover(selection, folder=folder)
    records = [load(record)[0] if wanted.load else record for record in found.records]
    seen = {
        "records": [
            {name: getattr(record, name) for name in record.__slots__} for record in records
        ],
        "notes": found.notes,
        "faults": found.faults(),
        "shadowed": [[item.distribution, item.version, item.kept] for item in found.shadowed],
        "ignored": selection.ignored,
        "modules": sorted(sys.modules),
    }
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main()
