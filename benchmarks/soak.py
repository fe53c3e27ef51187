"""A soak of durable runs: `python -m benchmarks.soak`, 1,000 on 4 workers, killed at random.

What it drives is the tests' own (`tests/support/soaking.py`); it needs the extra `durable` and
PostgreSQL's server programs.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    runpy.run_module("support.soaking", run_name="__main__")
