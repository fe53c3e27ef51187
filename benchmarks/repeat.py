"""`python -m benchmarks.repeat CALL COUNT`: one of our calls that often, to be counted."""

from __future__ import annotations

import asyncio
import sys
from itertools import repeat

from benchmarks.ours import calls


def main(name: str, count: int) -> None:
    """Make the calls."""
    with asyncio.Runner() as runner:
        call = calls(runner)[name]
        if name != "acall":
            for _ in repeat(None, count):
                call()
            return

        async def loop() -> None:
            for _ in repeat(None, count):
                await call()

        runner.run(loop())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
