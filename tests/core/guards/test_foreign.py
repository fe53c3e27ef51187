"""JSON that somebody else wrote: one object of strict JSON, or an error that quotes nothing."""

import pytest

from toolseam import ToolseamError
from toolseam.guards import read_json_object


def test_an_object_is_read_as_it_is() -> None:
    """With the numbers and the order that it has."""
    found = read_json_object('{"b": 9007199254740993, "a": [1.5, null, "x"]}')

    assert list(found.items()) == [("b", 9007199254740993), ("a", [1.5, None, "x"])]


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", '"{}"', "{", '{"secret": 1, "secret": 2}', '{"a": NaN}'),
        *('{"a": 1e999}', '{"a": 99999999999999999999}', '{"a": "\\ud800secret"}'),
        '{"a": ' + "[" * 70 + "]" * 70 + "}",
        '{"a": "' + "x" * 1_000_001 + '"}',
    ],
    ids=lambda text: text[:20],
)
def test_anything_else_is_refused(text: str) -> None:
    """Cut off, doubled, no number, too large, too deep or no object: said without a value."""
    with pytest.raises(ToolseamError) as refused:
        read_json_object(text)

    assert "x" * 10 not in str(refused.value)
