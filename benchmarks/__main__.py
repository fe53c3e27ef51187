"""`python -m benchmarks`: measure every row that was promised, print the table, write JSON."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from importlib import import_module
from pathlib import Path

import attrs

from benchmarks.bars import BARS, GROUPS, QUICK, Effort, Measured
from benchmarks.report import machine, rows, table

_MODULES = {"peers": "against_peers"}
_PEERS = Path(__file__).parent / ".peers"


def main(words: list[str] | None = None) -> int:
    """Run the groups that are asked for; a row that was missed is shown, not raised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few short rounds: does it run at all")
    parser.add_argument("--only", help=f"groups, by commas: {', '.join(GROUPS)}")
    parser.add_argument("--json", type=Path, help="write every row to this file")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--peers", default=str(_PEERS), help="peers' environments, made on demand")
    where.add_argument("--no-peers", action="store_true", help="measure ourselves only")
    options = parser.parse_args(words)
    groups = options.only.split(",") if options.only else list(GROUPS)
    if unknown := set(groups) - set(GROUPS):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    effort = attrs.evolve(
        QUICK if options.quick else Effort(), peers=None if options.no_peers else options.peers
    )
    about, measured = machine(), list[Measured]()
    for group in groups:
        print(f"measuring {group}", file=sys.stderr)
        measured += _measured(group, effort)
    found = rows(measured, groups)
    print(table(found, about))
    if options.json:
        text = json.dumps({"machine": about, "rows": found}, indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", "utf-8")
    return 0


def _measured(group: str, effort: Effort) -> list[Measured]:
    """Measure a group; if it breaks, its rows say so and the others stay."""
    found: list[Measured] = []
    try:
        found.extend(import_module(f"benchmarks.{_MODULES.get(group, group)}").measure(effort))
    except Exception as error:
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        known = {each.key for each in found}
        missing = [bar.key for bar in BARS if bar.group == group and bar.key not in known]
        found += [Measured(key, None, said) for key in missing]
    return found


if __name__ == "__main__":
    sys.exit(main())
