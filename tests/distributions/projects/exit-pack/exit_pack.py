"""Prints, and leaves."""

import sys

from import_marks import mark

mark(__name__)
print("printed by exit_pack")
sys.exit(3)
