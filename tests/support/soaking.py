"""Many durable runs at once on workers that are killed at random: what is left in the end."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING

import attrs

from support.durable import ENDED, approve, durable, log, workers
from support.postgres import server
from support.tools import ADA
from toolseam.runs import RunError

if TYPE_CHECKING:
    from support.durable import Workers
    from toolseam_plugins.durable import Durable


@attrs.frozen
class Soak:
    """What a soak came to.

    Args:
        status: how many runs stand how.
        kills: how often a worker was killed.
        reads: executions of reads, of which each run has two.
        twice: keys of writes that were made more than once.
        wrong: runs that completed without their one write.
        seconds: of the clock on the wall.
    """

    status: dict[str, int]
    kills: int
    reads: int
    twice: tuple[str, ...]
    wrong: tuple[str, ...]
    seconds: float


def soak(url: str, runs: int, processes: int, kills: int, every_s: float, within_s: float) -> Soak:
    """Drive runs, each with two reads and a write that people approve, and kill workers meanwhile.

    Args:
        url: of a database.
        runs: how many.
        processes: workers, each with 4 runs at once.
        kills: how often one is killed, at most.
        every_s: how often, on average, in seconds.
        within_s: when it is given up.
    """
    began = time.monotonic()
    with durable(url) as found, workers(url, processes) as kept:
        ids = {
            found.start("told", f"read r{number};write w{number} 0.02;read s{number}", actor=ADA): (
                f"w{number}"
            )
            for number in range(runs)
        }
        killed = _until_all_ended(found, kept, len(ids), kills, every_s, began + within_s)
        stands = dict(found.records.rows("SELECT id, status FROM run"))
    lines = Counter(log().read_text().splitlines())
    return Soak(
        dict(Counter(stands.values())),
        killed,
        sum(count for key, count in lines.items() if key[0] in "rs"),
        tuple(key for key in ids.values() if lines[key] > 1),
        tuple(key for run, key in ids.items() if stands[run] == "completed" and lines[key] != 1),
        time.monotonic() - began,
    )


def _until_all_ended(
    found: Durable, kept: Workers, runs: int, kills: int, every_s: float, until: float
) -> int:
    """Approve what waits and kill at random; return how often."""
    chance, killed = random.Random(7), 0
    next_kill = time.monotonic() + every_s
    while time.monotonic() < until:
        stands = found.records.rows("SELECT id, status FROM run")
        if len(stands) == runs and all(status in ENDED for _, status in stands):
            break
        for run_id in (run_id for run_id, status in stands if status == "waiting_for_approval"):
            try:
                approve(found, run_id)
            except RunError as error:
                # Between two looks a worker has taken it, or it waits for other decisions.
                if error.code not in {"not_found", "conflict", "invalid_arguments"}:
                    raise
            if killed < kills and time.monotonic() > next_kill:
                break
        if killed < kills and time.monotonic() > next_kill:
            kept.kill(chance.randrange(1_000))
            killed += 1
            next_kill = time.monotonic() + every_s * chance.uniform(0.2, 1.8)
        time.sleep(0.05)
    return killed


def main() -> int:
    """Run a long one and print a row of what came of it; 1 where that is not sound."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    words.add_argument("--runs", type=int, default=1_000)
    words.add_argument("--workers", type=int, default=4)
    words.add_argument("--kills", type=int, default=100)
    words.add_argument("--every", type=float, default=2.0, help="seconds between two kills")
    words.add_argument("--within", type=float, default=3_600.0, help="seconds")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as state, server() as running:
        os.environ["XDG_STATE_HOME"] = state
        url = running.url(running.database())
        made = soak(url, given.runs, given.workers, given.kills, given.every, given.within)
    stands = ", ".join(f"{count} {status}" for status, count in sorted(made.status.items()))
    sys.stdout.write(
        f"| {given.runs:,} runs, {given.workers} workers, {made.kills} times kill -9 | {stands} |"
        f" {len(made.twice)} writes made twice, {len(made.wrong)} missing | {made.reads:,} reads"
        f" for {2 * given.runs:,} | {made.seconds:.0f} s |\n"
    )
    sound = set(made.status) <= {"completed", "held"} and not made.twice and not made.wrong
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
