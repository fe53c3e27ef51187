"""Needs a library that nobody declares."""

from import_marks import mark

mark(__name__)

import libfoo_missing  # noqa: E402, F401
