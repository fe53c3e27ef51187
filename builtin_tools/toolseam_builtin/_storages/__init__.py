"""Storages: folders of files that the workspace names, behind one protocol and one guard.

Tools know nothing below it, and import it when they run.
"""

from __future__ import annotations

from toolseam_builtin._storages._columns import (
    FileColumns,
    FileRow,
    ShownRow,
    file_columns,
    file_tables,
)
from toolseam_builtin._storages._model import Clock, Storage, no_file
from toolseam_builtin._storages._names import human_size, mime_type, moment, shown_name
from toolseam_builtin._storages._open import Storages, open_storages
from toolseam_builtin._storages._places import State, states
from toolseam_builtin._storages._references import Reference, parse, plain, spellings
from toolseam_builtin._storages._stock import SECONDS, Stock, clock_of, take_stock
from toolseam_builtin._storages._view import View, look_into

__all__ = [
    "SECONDS",
    "Clock",
    "FileColumns",
    "FileRow",
    "Reference",
    "ShownRow",
    "State",
    "Stock",
    "Storage",
    "Storages",
    "View",
    "clock_of",
    "file_columns",
    "file_tables",
    "human_size",
    "look_into",
    "mime_type",
    "moment",
    "no_file",
    "open_storages",
    "parse",
    "plain",
    "shown_name",
    "spellings",
    "states",
    "take_stock",
]
