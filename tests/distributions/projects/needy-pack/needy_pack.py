"""Needs a library of its own extra."""

from import_marks import mark

mark(__name__)

import libbar_missing  # noqa: E402, F401
