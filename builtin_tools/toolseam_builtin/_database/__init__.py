"""Reading databases: one protocol, one gate, two engines. Tools know nothing below it."""

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
from toolseam_builtin._database._model import (
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

__all__ = [
    "Answer",
    "Cell",
    "Column",
    "Database",
    "Entry",
    "Page",
    "Query",
    "Scalar",
    "Structure",
    "Table",
    "engine_text",
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
