"""Reading databases: one protocol, one gate, two engines. Tools know nothing below it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_builtin._answer import Answer
    from toolseam_builtin._database._answer import reading_spec
    from toolseam_builtin._database._asking import (
        Where,
        columns_of,
        comparable_column,
        echo,
        equalities,
        find_record,
        listed,
        never_shown,
        no_record,
        number_of,
        read_until,
        readable_column,
        scalar,
        stopped,
        where_words,
    )
    from toolseam_builtin._database._cells import (
        Shown,
        begins_json,
        engine_text,
        label_column,
        mask_json,
        show,
        show_row,
        speaks_of_secret,
    )
    from toolseam_builtin._database._faults import (
        Deadline,
        no_column,
        over_budget,
        unavailable,
    )
    from toolseam_builtin._database._history import History, find_history
    from toolseam_builtin._database._model import (
        FETCH_CHARACTERS,
        READ_SECONDS,
        REFERRING_ROWS,
        Among,
        Cell,
        Column,
        Contains,
        Database,
        Entry,
        Excerpt,
        ForeignKey,
        Orphans,
        Query,
        Scalar,
        Structure,
        Table,
    )
    from toolseam_builtin._database._open import open_database
    from toolseam_builtin._database._parents import parent_columns
    from toolseam_builtin._database._text_search import SEARCH_CHARACTERS, hit, holds_text
    from toolseam_builtin._page import (
        PAGE_BYTES,
        Page,
        excerpt,
        larger,
        more_with,
        next_page,
        one_line,
        shown_range,
    )

_HOMES = {
    "toolseam_builtin._answer": "Answer",
    "toolseam_builtin._database._answer": "reading_spec",
    "toolseam_builtin._database._asking": (
        "Where columns_of comparable_column echo equalities find_record listed never_shown "
        "no_record number_of read_until readable_column scalar stopped where_words"
    ),
    "toolseam_builtin._database._cells": (
        "Shown begins_json engine_text label_column mask_json show show_row speaks_of_secret"
    ),
    "toolseam_builtin._database._faults": "Deadline no_column over_budget unavailable",
    "toolseam_builtin._database._history": "History find_history",
    "toolseam_builtin._database._model": (
        "Among FETCH_CHARACTERS READ_SECONDS REFERRING_ROWS Cell Column Contains "
        "Database Entry Excerpt ForeignKey Orphans Query Scalar Structure Table"
    ),
    "toolseam_builtin._database._open": "open_database",
    "toolseam_builtin._database._parents": "parent_columns",
    "toolseam_builtin._database._text_search": "SEARCH_CHARACTERS hit holds_text",
    "toolseam_builtin._page": (
        "PAGE_BYTES Page excerpt larger more_with next_page one_line shown_range"
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "FETCH_CHARACTERS",
    "PAGE_BYTES",
    "READ_SECONDS",
    "REFERRING_ROWS",
    "SEARCH_CHARACTERS",
    "Among",
    "Answer",
    "Cell",
    "Column",
    "Contains",
    "Database",
    "Deadline",
    "Entry",
    "Excerpt",
    "ForeignKey",
    "History",
    "Orphans",
    "Page",
    "Query",
    "Scalar",
    "Shown",
    "Structure",
    "Table",
    "Where",
    "begins_json",
    "columns_of",
    "comparable_column",
    "echo",
    "engine_text",
    "equalities",
    "excerpt",
    "find_history",
    "find_record",
    "hit",
    "holds_text",
    "label_column",
    "larger",
    "listed",
    "mask_json",
    "more_with",
    "never_shown",
    "next_page",
    "no_column",
    "no_record",
    "number_of",
    "one_line",
    "open_database",
    "over_budget",
    "parent_columns",
    "read_until",
    "readable_column",
    "reading_spec",
    "scalar",
    "show",
    "show_row",
    "shown_range",
    "speaks_of_secret",
    "stopped",
    "unavailable",
    "where_words",
]


def __getattr__(name: str) -> object:
    # Lazy: a listing asks every tool what it is, and none for a row.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_HOME[name]), name)
    globals()[name] = found
    return found
