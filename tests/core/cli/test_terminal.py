import contextlib
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from toolseam._text import is_clean
from toolseam.cli._table import measure, table, wrapped
from toolseam.cli._terminal import Shown, joined, one_line, paint, safe, say_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.lists(st.text()))
def test_what_is_put_together_is_clean(parts: list[str]) -> None:
    """Nothing that was not made here keeps a control or bidi character."""
    assert is_clean(joined(*parts))


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    """A cell never breaks the table that it stands in."""
    assert not {"\n", "\t", "\r", "\x1b"} & set(one_line(text))


def test_what_was_shown_is_not_cleaned_twice() -> None:
    """Our own escape sequences survive, and only ours."""
    assert safe(Shown("\x1b[1mx\x1b[0m")) == "\x1b[1mx\x1b[0m"
    assert safe("\x1b[1mx") == "␛[1mx"


def test_nothing_is_painted_where_no_terminal_listens() -> None:
    """In a pipe a painted text is the text."""
    assert paint("x", "bold") == "x"


@given(value=JSON)
def test_json_is_safe_and_whole(value: object) -> None:
    """JSON that is printed holds no control or bidi character, and reads back the same."""
    with contextlib.redirect_stdout(io.StringIO()) as written:
        say_json(value)

    assert is_clean(written.getvalue())
    assert json.loads(written.getvalue()) == value


@given(st.text(), st.integers(2, 40))
def test_wrapping_loses_nothing_and_keeps_the_width(text: str, width: int) -> None:
    """Every letter of a cell is shown, on lines no wider than the column."""
    lines = list(wrapped(one_line(text), width))

    assert "".join(lines).replace(" ", "") == one_line(text).replace(" ", "")
    assert all(measure(line) <= width for line in lines)


@given(
    st.lists(st.lists(st.text(max_size=60), min_size=3, max_size=3), max_size=5),
    st.integers(40, 120),
)
def test_a_table_fits_the_terminal(rows: list[list[str]], width: int) -> None:
    """However long the cells are, no line is wider than the terminal."""
    lines = table(("A", "B", "C"), rows, width=width).splitlines()

    assert all(measure(line) <= width for line in lines)


def test_wide_letters_are_counted_as_wide() -> None:
    """A column of ideographs and one of letters line up."""
    lines = table(("NAME", "N"), [("東京", "1"), ("abc", "2")], width=None).splitlines()

    assert {measure(line) for line in lines} == {7}


def test_a_table_of_many_columns_is_shown_whole() -> None:
    """Where the terminal is too narrow for all columns, none is dropped."""
    heads = [f"column{n}" for n in range(20)]

    shown = table(heads, [[str(n) for n in range(20)]], width=40)

    assert all(head in shown for head in heads)
