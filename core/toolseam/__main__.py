"""`python -m toolseam`: the command line, without the modules that lie in the current folder."""

import sys

from toolseam.cli import main

sys.exit(main())
