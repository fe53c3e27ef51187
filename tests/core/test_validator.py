"""One JSON Schema validator, and complaints that never quote a value."""

from typing import Any

import pytest

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
