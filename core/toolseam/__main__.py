"""`python -m toolseam`: the command line, without the modules that lie in the current folder."""

from __future__ import annotations

import sys

from toolseam.cli import main

sys.exit(main())
