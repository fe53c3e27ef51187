"""The full-text index: texts and columns that the workspace names, kept outside of it."""

from __future__ import annotations

from toolseam_builtin._index._build import Built, build_index
from toolseam_builtin._index._status import Status, age, index_file, index_status

__all__ = ["Built", "Status", "age", "build_index", "index_file", "index_status"]
