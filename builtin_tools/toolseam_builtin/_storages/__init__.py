"""Storages: folders of files that the workspace names, behind one protocol and one guard.

Tools know nothing below it, and import it when they run.
"""

from __future__ import annotations

from toolseam_builtin._amounts import size_text
from toolseam_builtin._storages._columns import (
    FileColumns,
    FileRow,
    ShownRow,
    columns_said,
    file_columns,
    file_tables,
)
from toolseam_builtin._storages._facts import (
    FileFacts,
    Target,
    describing_rows,
    find_target,
    read_facts,
)
from toolseam_builtin._storages._images import Image, read_image
from toolseam_builtin._storages._missing import Comparison, Missing, MissingFile
from toolseam_builtin._storages._model import Clock, Storage, no_file
from toolseam_builtin._storages._names import mime_type, moment, shown_name
from toolseam_builtin._storages._open import Storages, open_storages
from toolseam_builtin._storages._places import State, states
from toolseam_builtin._storages._pointing import Pointer, Pointers, Pointing
from toolseam_builtin._storages._references import Reference, parse, plain, spellings, split
from toolseam_builtin._storages._search import Found, Hit, Place, Search
from toolseam_builtin._storages._stock import SECONDS, Stock, clock_of, take_stock
from toolseam_builtin._storages._view import View, look_into

__all__ = [
    "SECONDS",
    "Clock",
    "Comparison",
    "FileColumns",
    "FileFacts",
    "FileRow",
    "Found",
    "Hit",
    "Image",
    "Missing",
    "MissingFile",
    "Place",
    "Pointer",
    "Pointers",
    "Pointing",
    "Reference",
    "Search",
    "ShownRow",
    "State",
    "Stock",
    "Storage",
    "Storages",
    "Target",
    "View",
    "clock_of",
    "columns_said",
    "describing_rows",
    "file_columns",
    "file_tables",
    "find_target",
    "look_into",
    "mime_type",
    "moment",
    "no_file",
    "open_storages",
    "parse",
    "plain",
    "read_facts",
    "read_image",
    "shown_name",
    "size_text",
    "spellings",
    "split",
    "states",
    "take_stock",
]
