"""A soak of durable runs: `python -m benchmarks.soak`, 1,000 on 4 workers, killed at random.

It needs the extra `durable` and PostgreSQL's server programs, and prints a row for the page of
results. It ends with 1 where a run is neither ended nor held, or a write was made twice.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Run it, and say what came of it."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    words.add_argument("--runs", type=int, default=1_000)
    words.add_argument("--workers", type=int, default=4)
    words.add_argument("--kills", type=int, default=100)
    words.add_argument("--every", type=float, default=2.0, help="seconds between two kills")
    words.add_argument("--within", type=float, default=3_600.0, help="seconds")
    given = words.parse_args()
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from support.postgres import server
    from support.soaking import soak

    with tempfile.TemporaryDirectory() as state, server() as running:
        os.environ["XDG_STATE_HOME"] = state
        url = running.url(running.database())
        made = soak(url, given.runs, given.workers, given.kills, given.every, given.within)
    stands = ", ".join(f"{count} {status}" for status, count in sorted(made.status.items()))
    print(
        f"| {given.runs:,} runs, {given.workers} workers, {made.kills} times kill -9 | {stands} |"
        f" {len(made.twice)} writes made twice | {made.reads:,} reads for {2 * given.runs:,} |"
        f" {made.seconds:.0f} s |"
    )
    sound = set(made.status) <= {"completed", "held"} and not made.twice and not made.wrong
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
