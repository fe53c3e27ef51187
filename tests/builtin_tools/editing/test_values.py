from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ToolError
from toolseam_builtin._database._model import Blob, Cell, Column, Excerpt, Scalar, Table
from toolseam_builtin._database._writing._values import CHARACTERS, fit, flag
from toolseam_builtin.editing._shown import differs, said

ENGINES = ("SQLite", "PostgreSQL")


def fitted(declared: str, value: Scalar, dialect: str = "SQLite") -> Scalar:
    """Return a value as a column of that type takes it."""
    column = Column("x", declared)
    return fit(Table("t", "main", "t", "table", (column,)), column, value, dialect)


@pytest.mark.parametrize(
    ("declared", "value", "kept"),
    [
        ("integer", 5, 5),
        ("BIGINT", -(2**63), -(2**63)),
        ("integer", True, 1),
        ("BOOLEAN", 1, True),
        ("boolean", False, False),
        ("numeric(10,2)", "12.50", "12.50"),
        ("DECIMAL", 3, 3),
        ("double precision", 1.5, 1.5),
        ("text", "", ""),
        ("varchar(3)", "äöü", "äöü"),
        ("character varying(3)", "abc", "abc"),
        ("text", "x" * CHARACTERS, "x" * CHARACTERS),
        ("date", "2024-02-29", "2024-02-29"),
        ("timestamp with time zone", "2024-02-29T10:00:00+01:00", "2024-02-29T10:00:00+01:00"),
        ("DATETIME", "2024-02-29 10:00:00", "2024-02-29 10:00:00"),
        ("json", '{"a": 1}', '{"a": 1}'),
        ("unknown", 5, 5),
        ("unknown", "5", "5"),
        ("interval", "P1D", "P1D"),
        ("mood", "happy", "happy"),
        ("text", None, None),
    ],
)
def test_what_fits_is_kept_as_it_is(declared: str, value: Scalar, kept: Scalar) -> None:
    """A value of the column's type goes through, and no other value comes of it."""
    found = fitted(declared, value)

    assert (found, type(found)) == (kept, type(kept))


@pytest.mark.parametrize("dialect", ENGINES)
@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("integer", "5"),
        ("integer", 1.0),
        ("integer", 2**63),
        ("boolean", 2),
        ("boolean", "true"),
        ("numeric", "1e5"),
        ("numeric", "0x1"),
        ("numeric", True),
        ("real", float("inf")),
        ("real", 2**63),
        ("text", 5),
        ("text", "a\0b"),
        ("text", "x" * (CHARACTERS + 1)),
        ("varchar(3)", "abcd"),
        ("CHAR (3)", "abcd"),
        ("date", "yesterday"),
        ("timestamp", "0000-00-00 00:00:00"),
        ("jsonb", "{"),
        ("jsonb", 5),
        ("jsonb", "[" * 100_000),
        ("bytea", "x"),
        ("text[]", "{a}"),
        ("point", "(1,2)"),
    ],
)
def test_what_does_not_fit_is_refused(dialect: str, declared: str, value: Scalar) -> None:
    """Wrong types, long texts and types that nobody writes name the column, never the value."""
    with pytest.raises(ToolError) as failure:
        fitted(declared, value, dialect)

    assert failure.value.code.value == "invalid_arguments"
    assert failure.value.message.startswith("t.x: ")
    assert "yesterday" not in failure.value.message


def test_the_engines_differ_in_a_few_types() -> None:
    """A flag is a number in SQLite alone; JSON without an equality is not written."""
    with pytest.raises(ToolError):
        fitted("integer", value=True, dialect="PostgreSQL")
    with pytest.raises(ToolError):
        fitted("json", "{}", "PostgreSQL")
    with pytest.raises(ToolError):
        fitted("unknown", 5, "PostgreSQL")


@pytest.mark.parametrize(
    ("declared", "on", "off"),
    [("boolean", True, False), ("integer", 1, 0), ("varchar(9)", "draft", "published")],
)
def test_a_flag_is_set_in_the_words_of_its_column(declared: str, on: Scalar, off: Scalar) -> None:
    """A boolean, a number or a word marks a draft."""
    column = Column("x", declared)

    assert flag(column, on=True) == on
    assert flag(column, on=False) == off


@pytest.mark.parametrize(
    ("cell", "value", "other"),
    [
        (Excerpt("a", 1), "a", False),
        (Excerpt("a", 1), "b", True),
        (Excerpt("a", 9), "a", True),
        (Excerpt("1", 1), 1, True),
        (None, None, False),
        (None, "", True),
        (5, None, True),
        (5, 5, False),
        (5, "5", False),
        (5, "x", True),
        (True, True, False),
        (1, True, False),
        (Decimal("12.50"), 12.5, False),
        (Decimal("12.50"), "12.5", False),
        (Decimal("12.51"), 12.5, True),
        (Blob(3), "abc", True),
    ],
)
def test_whether_a_cell_holds_a_value_already(cell: Cell, value: Scalar, other: bool) -> None:
    """Numbers are compared as numbers, text as text, and what was cut counts as another."""
    assert differs(cell, value) is other


@given(st.text(max_size=400))
def test_a_shown_text_is_one_visible_line(text: str) -> None:
    """Quotes end where the value does, and nothing in it is hidden or breaks the line."""
    shown = said(text, Column("x", "text"))

    assert shown.isprintable()
    assert shown.startswith('"')
    assert len(shown) < 3_000


def test_texts_that_are_cut_alike_are_told_apart() -> None:
    """The digits behind a long text are of the whole of it."""
    column = Column("x", "text")

    one, other = said("x" * 500 + "a", column), said("x" * 500 + "b", column)

    assert one[:160] == other[:160]
    assert one != other
    assert "501 characters" in one
