"""One JSON Schema validator, and complaints that never quote a value."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam._errors import SpecError
from toolseam._validator import Complaint, path_text, validator_for


def test_a_value_that_fits_gets_no_complaint() -> None:
    """The two questions agree on what fits."""
    judge = validator_for({"type": "integer"})

    assert judge.is_valid(3)
    assert judge.first_error(3) is None


def test_a_complaint_is_three_facts() -> None:
    """Path, rule and what was expected can be read one by one."""
    complaint = validator_for({"items": {"type": "integer"}}).first_error([1, "SECRET"])

    assert complaint == Complaint("$[1]", "type", "text where an integer is declared")


@pytest.mark.parametrize("value", [b"SECRET", {1: 2}, {"a": {"SECRET"}}, "\ud800"])
def test_what_is_no_strict_json_never_fits(value: object) -> None:
    """A foreign value is a complaint and no crash, and is not told."""
    complaint = validator_for({"type": "string"}).first_error(value)

    assert complaint is not None
    assert "SECRET" not in repr(complaint)


@pytest.mark.parametrize("schema", [{"const": b""}, {"enum": [{1: 2}]}, {"type": 3}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    """Compilation fails with the one error of specifications."""
    with pytest.raises(SpecError, match=r"\$.*no JSON Schema"):
        validator_for(schema)


def test_a_boolean_is_a_schema() -> None:
    """`True` takes everything, `False` nothing."""
    assert validator_for(True).is_valid(1)
    assert validator_for(False).first_error(1) == Complaint(
        "$", "falseSchema", "is not accepted here"
    )


def test_many_choices_are_cut() -> None:
    """What was expected is told in at most 300 characters."""
    complaint = validator_for({"enum": [f"choice {i}" for i in range(1000)]}).first_error(1)

    assert complaint is not None
    assert len(complaint.expected) == 301
    assert complaint.expected.endswith("…")


def test_a_rule_of_other_keys_names_those_that_are_accepted() -> None:
    """`unevaluatedProperties` complains like `additionalProperties`."""
    judge = validator_for({"properties": {"table": True}, "unevaluatedProperties": False})

    assert judge.first_error({"tabel": 1}) == Complaint(
        "$", "unevaluatedProperties", "unknown key 'tabel'; accepted: table"
    )


def test_a_path_is_cut() -> None:
    """Keys are cut to 64 characters, the whole path to 200."""
    assert path_text(["a", 3, "b"]) == "$.a[3].b"
    assert path_text(["x" * 100]) == "$." + "x" * 64
    assert len(path_text(["x" * 100] * 50)) == 201


names = st.sampled_from("abc")
leaves: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([{"type": t} for t in ("string", "integer", "boolean", "null", "object")]),
    st.sampled_from([True, False, {"enum": [1, "a"]}, {"const": "b"}, {"minLength": 2}]),
    st.sampled_from([{"required": ["a"]}, {"maxItems": 1}, {"uniqueItems": True}]),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            lambda key, schema: {key: schema},
            st.sampled_from(
                ["items", "not", "contains", "additionalProperties", "unevaluatedProperties"]
            ),
            inner,
        ),
        st.builds(
            lambda key, several: {key: several},
            st.sampled_from(["anyOf", "oneOf", "allOf", "prefixItems"]),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(
            lambda properties, required, closed: {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": closed,
            },
            st.dictionaries(names, inner, max_size=3),
            st.lists(names, max_size=2, unique=True),
            st.booleans(),
        ),
        st.builds(lambda key, schema: {"dependentSchemas": {key: schema}}, names, inner),
        st.builds(lambda one, two: {"if": one, "then": two, "else": two}, inner, inner),
    ),
    max_leaves=6,
)
values = st.recursive(
    st.sampled_from([None, True, 0, 1, -7, "SECRET", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@given(schemas, values)
def test_there_is_a_complaint_exactly_when_the_second_opinion_has_one(
    schema: Any, value: Any
) -> None:
    """Whatever the schema, a complaint is given for what does not fit, and quotes nothing."""
    complaint = validator_for(schema).first_error(value)

    assert (complaint is None) == jsonschema.Draft202012Validator(schema).is_valid(value)
    assert "SECRET" not in repr(complaint)
