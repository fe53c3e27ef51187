"""What is said of a schema without the validator is what the validator would say."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolseam._errors import SpecError
from toolseam._plain import fits_plainly, is_plain
from toolseam._validator import validator_for

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, 0.5, 2.0]), st.text("ab")
)
VALUES: st.SearchStrategy[Any] = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.just({}))
TYPES = st.sampled_from(
    ["string", "integer", "number", "boolean", "null", "array", "object", "float", 3]
)
NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 1e300, 10**30, True, "1", None]))
COUNTS = st.one_of(st.integers(-1, 3), st.sampled_from([1.0, 0.5, 10**30, True, "1"]))
LISTS = st.one_of(st.lists(SCALARS, max_size=3), SCALARS)
KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(TYPES, st.lists(TYPES, max_size=3)),
    "enum": LISTS,
    "required": st.one_of(st.lists(st.sampled_from(["a", "b", 1]), max_size=2), SCALARS),
    "description": st.one_of(st.text("ab"), st.integers()),
    "title": SCALARS,
    "properties": st.sampled_from([{}, {"a": {"type": "string"}}, [], None]),
    "items": st.booleans(),
    "prefixItems": st.sampled_from([[], [True], [{"type": "null"}], {}]),
    "anyOf": st.sampled_from([[], [True], [{"type": "null"}], {}]),
    "additionalProperties": st.booleans(),
    "pattern": st.sampled_from(["a", "("]),
    "multipleOf": NUMBERS,
    "uniqueItems": st.booleans(),
    "const": SCALARS,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), COUNTS),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), COUNTS),
}
SCHEMAS = st.lists(st.sampled_from(sorted(KEYWORDS)), max_size=4, unique=True).flatmap(
    lambda keys: st.fixed_dictionaries({key: KEYWORDS[key] for key in keys})
)


@given(schema=SCHEMAS)
@settings(max_examples=200)
def test_what_is_called_plain_compiles(schema: dict[str, Any]) -> None:
    """No schema is waved through that the validator would refuse."""
    if is_plain(schema):
        assert validator_for(schema).is_valid is not None


@given(schema=SCHEMAS, value=VALUES)
@settings(max_examples=200)
def test_what_is_said_to_fit_fits(schema: dict[str, Any], value: object) -> None:
    """No default is waved through that the validator would refuse."""
    if fits_plainly(schema, value):
        assert validator_for(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "maxLength": 2}, "ab"),
        ({"type": ["string", "null"], "minLength": 1}, None),
        ({"type": "integer", "minimum": 1, "maximum": 50}, 20),
        ({"type": "number", "exclusiveMinimum": 0}, 1),
        ({"type": "boolean"}, False),
        ({"type": "string", "enum": ["a", "b"], "description": "Which."}, "b"),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "object", "properties": {}, "additionalProperties": True}, {}),
    ],
)
def test_what_tools_write_every_day_needs_no_validator(schema: Any, value: object) -> None:
    """Typed arguments with bounds, choices and constant defaults are judged at a glance."""
    assert is_plain(schema)
    assert fits_plainly(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "integer", "minimum": 1}, 0),
        ({"type": "number", "exclusiveMaximum": 1}, 1),
        ({"type": "integer"}, True),
        ({"type": "integer", "enum": [1]}, 1.0),
        ({"type": "array", "minItems": 1}, []),
        ({"type": "object", "required": ["a"]}, {}),
        ({"anyOf": [{"type": "string"}]}, "a"),
        ({"type": "string", "pattern": "a"}, "a"),
        ({}, "a"),
    ],
)
def test_what_is_doubtful_is_left_to_the_validator(schema: Any, value: object) -> None:
    """A value that does not fit, or only the validator can tell, is not said to fit."""
    assert not fits_plainly(schema, value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "float"},
        {"type": []},
        {"type": ["string", "string"]},
        {"minimum": "1"},
        {"minLength": -1},
        {"required": ["a", "a"]},
        {"prefixItems": []},
    ],
)
def test_what_is_no_schema_is_not_plain(schema: Any) -> None:
    """What the validator refuses to compile is left to it, since it names the place."""
    assert not is_plain(schema)
    with pytest.raises(SpecError):
        validator_for(schema)
