import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_builtin._database._cells import mask_json, show
from toolseam_builtin._database._model import Blob, Cell, Column, Excerpt


def text(value: str) -> Excerpt:
    """Return a text cell that is there in full."""
    return Excerpt(value, len(value))


@pytest.mark.parametrize(
    ("cell", "declared", "shown", "value"),
    [
        (None, "date", "null", None),
        (True, "boolean", "true", True),
        (7, "integer", "7", 7),
        (2**63 - 1, "integer", "9223372036854775807", 2**63 - 1),
        (0.1, "real", "0.1", 0.1),
        (float("inf"), "real", "Infinity", "Infinity"),
        (Decimal("9.50"), "numeric", "9.50", "9.50"),
        (Decimal("1E+3"), "numeric", "1000", "1000"),
        (Blob(3), "blob", "(3 bytes)", {"bytes": 3}),
        (text("a\nb\r\nc\u2028d"), "text", "a↵b↵c↵d", "a\nb\r\nc\u2028d"),
        (text("2024-02-29"), "DATE", "2024-02-29", "2024-02-29"),
        (text("2024-02-29 10:00:00+02"), "timestamp", *["2024-02-29T10:00:00+02:00"] * 2),
        (text("2024-02-29"), "datetime", "2024-02-29", "2024-02-29"),
    ],
)
def test_cells_keep_their_facts(cell: Cell, declared: str, shown: str, value: object) -> None:
    """Each kind of cell has one text and one typed value."""
    found = show(cell, Column("c", declared))

    assert (found.text, found.value, found.doubt) == (shown, value, None)


@pytest.mark.parametrize("stored", [text("0000-00-00"), text(""), text("infinity"), 20240229])
def test_what_is_no_date_comes_as_stored(stored: Cell) -> None:
    """A value that its column's type does not hold is shown as it is, with a doubt."""
    found = show(stored, Column("c", "date"))

    assert found.text == (stored.text if isinstance(stored, Excerpt) else str(stored))
    assert found.doubt is not None


SECRET = "sesame"


@pytest.mark.parametrize(
    "stored",
    [
        '{"api_key": "sesame"}',
        '  {"a": [{"clientSecret": {"x": "sesame"}}]}',
        '{"a": "{\\"password\\": \\"sesame\\"}"}',
        '"{\\"password\\": \\"sesame\\"}"',
        '{"password": "sesame", ',
        "{'password': 'sesame'}",
        '{"p\\u0061ssword": "sesame"}',
        '{"p\\u0061ssword": "sesame"',
        '{"password": "sesame"} trailing',
        '\ufeff{"password": "sesame"}',
        '{"a": ' + "[" * 100 + '{"password": "sesame"}' + "]" * 100 + "}",
        "[" * 100_000 + '"password"' + SECRET,
    ],
)
def test_values_under_sensitive_keys_never_show(stored: str) -> None:
    """JSON is masked by its keys however it is nested, and withheld where it is broken."""
    found = show(text(stored), Column("c", "json"), characters=10**6)

    assert SECRET not in found.text
    assert SECRET not in str(found.value)


def test_json_that_is_longer_than_what_was_fetched_is_withheld() -> None:
    """JSON that cannot be judged whole shows as its length."""
    assert (
        show(Excerpt('{"a": 1', 50_000), Column("c", "text")).text == "[JSON of 50,000 characters]"
    )


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x, max_size=3)))
def test_json_without_secrets_stays_as_it_is(value: object) -> None:
    """Masking leaves harmless JSON to the letter, and does the same twice."""
    stored = json.dumps({"title": value})

    once = mask_json(stored)

    assert mask_json(once) == once
    if "\\u" not in stored and '"{' not in stored:
        assert once == stored
