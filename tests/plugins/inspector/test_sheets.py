"""CSV of an artifact: no cell that a spreadsheet would run, and nothing else changed (H36)."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_plugins.inspector._sheets import cell, sheet

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
NUMBERS = st.one_of(
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda d: f"{d:f}"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@given(TEXT)
def test_a_cell_is_itself_or_has_one_apostrophe_before_it(text: str) -> None:
    """Nothing of it is lost, whatever it holds."""
    assert cell(text) in {text, f"'{text}"}


@given(st.sampled_from(FORMULA), TEXT.filter(lambda text: text.strip(".0123456789") != ""))
def test_what_begins_like_a_formula_is_none(first: str, rest: str) -> None:
    """Unless it is a number, an apostrophe stands before it."""
    assert cell(first + rest) == f"'{first}{rest}"


@given(NUMBERS)
def test_a_number_stays_one(number: str) -> None:
    """Negative ones too: a column of them is to be summed."""
    assert cell(number) == number
    assert cell(f"+{number.removeprefix('-')}") == f"+{number.removeprefix('-')}"


@pytest.mark.parametrize(
    "text", ["-", "+", "-.", "--1", "-1-1", "+1+cmd", "-\uff11", "=1", "@1", "-1\n"]
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    """Digits of other scripts, two signs, a formula of numbers."""
    assert cell(text) == f"'{text}"


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=5))
def test_a_table_is_read_back_cell_by_cell(rows: list[list[str]]) -> None:
    """With its heading, commas, quotes and line ends."""
    told = sheet("table", {"columns": ["a", "b"], "rows": rows})

    assert told is not None
    read = list(csv.reader(io.StringIO(told, newline="")))
    assert read == [["a", "b"], *([cell(each) for each in row] for row in rows)]


@pytest.mark.parametrize(
    ("kind", "data", "lines"),
    [
        ("key_value", {"items": [["=k", "v"]]}, ["key,value", "'=k,v"]),
        ("tree", {"nodes": [[0, "a"], [1, "@b"]]}, ["depth,text", "0,a", "1,'@b"]),
        ("text", {"text": "one\n-two"}, ["text", "one", "'-two"]),
        (
            "code",
            {"language": "python", "first_line": 7, "lines": ["x = 1", "+y"], "marked": [7]},
            ["line,text", "7,x = 1", "8,'+y"],
        ),
    ],
)
def test_every_type_with_rows_is_a_sheet(kind: str, data: Any, lines: list[str]) -> None:
    """With a heading of its own."""
    assert sheet(kind, data) == "".join(f"{line}\r\n" for line in lines)


@pytest.mark.parametrize(
    ("kind", "data"),
    [("hologram", {}), ("table", "[masked]"), ("table", {"rows": []}), ("tree", {"nodes": 7})],
)
def test_what_has_no_rows_is_no_sheet(kind: str, data: Any) -> None:
    """An unknown type, or a stored one that lost its shape to the redactor."""
    assert sheet(kind, data) is None
