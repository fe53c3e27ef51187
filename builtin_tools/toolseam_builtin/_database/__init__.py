"""Reading databases: one protocol, one gate, two engines. Tools know nothing below it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_builtin._answer import Answer
    from toolseam_builtin._database._answer import reading_spec
    from toolseam_builtin._database._cells import (
        engine_text,
        label_column,
        mask_json,
        show,
        show_row,
    )
    from toolseam_builtin._database._faults import no_column, no_table, unavailable
    from toolseam_builtin._database._history import History, find_history
    from toolseam_builtin._database._model import (
        Among,
        Cell,
        Column,
        Database,
        Entry,
        Query,
        Scalar,
        Structure,
        Table,
    )
    from toolseam_builtin._database._open import open_database
    from toolseam_builtin._page import Page, one_line

_HOMES = {
    "toolseam_builtin._answer": "Answer",
    "toolseam_builtin._database._answer": "reading_spec",
    "toolseam_builtin._database._cells": "engine_text label_column mask_json show show_row",
    "toolseam_builtin._database._faults": "no_column no_table unavailable",
    "toolseam_builtin._database._history": "History find_history",
    "toolseam_builtin._database._model": (
        "Among Cell Column Database Entry Query Scalar Structure Table"
    ),
    "toolseam_builtin._database._open": "open_database",
    "toolseam_builtin._page": "Page one_line",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Among",
    "Answer",
    "Cell",
    "Column",
    "Database",
    "Entry",
    "History",
    "Page",
    "Query",
    "Scalar",
    "Structure",
    "Table",
    "engine_text",
    "find_history",
    "label_column",
    "mask_json",
    "no_column",
    "no_table",
    "one_line",
    "open_database",
    "reading_spec",
    "show",
    "show_row",
    "unavailable",
]


def __getattr__(name: str) -> object:
    # Lazy: a listing asks every tool what it is, and none for a row.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found
