import itertools
import json
import shlex
from typing import Any

import hypothesis
import jsonschema
import pytest
from hypothesis import strategies as st

from toolseam import ToolSpec
from toolseam._arguments import ArgumentReader
from toolseam._closed import close
from toolseam_plugins.conformance._generate import (
    NoArguments,
    arguments,
    falsify,
    hostile,
    reproduce,
    samples,
)
from toolseam_plugins.conformance._hostile import TEXTS

TREE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
    "required": ["value", "children"],
    "additionalProperties": False,
}
# One property a keyword, or a mixture that a generator of another draft gets wrong.
KEYWORDS: dict[str, dict[str, Any]] = {
    "type": {"type": "string"},
    "types": {"type": ["string", "null", "integer"]},
    "anything": {},
    "enum": {"enum": [1, "one", None, True]},
    "enum-typed": {"type": "string", "enum": ["kg", "lb"]},
    "const": {"const": "kg"},
    "any-of": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
    "one-of": {
        "oneOf": [{"type": "integer", "multipleOf": 3}, {"type": "integer", "multipleOf": 5}]
    },
    "all-of": {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 7}]},
    "all-of-numbers": {"allOf": [{"type": "number"}, {"type": "integer"}, {"multipleOf": 4}]},
    "not": {"type": "string", "not": {"const": ""}},
    "integer": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "multipleOf": 4},
    "number": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "quarters": {"type": "number", "minimum": 0, "maximum": 2, "multipleOf": 0.25},
    "lengths": {"type": "string", "minLength": 3, "maxLength": 4},
    "pattern": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
    "pattern-inside": {"type": "string", "pattern": "b+"},
    "pattern-long": {"type": "string", "pattern": "^[a-z_]+$", "minLength": 20, "maxLength": 25},
    "format": {"type": "string", "format": "date"},
    "items": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
    "prefix": {"type": "array", "prefixItems": [{"type": "integer"}, {"const": "x"}]},
    "tuple": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "items": False,
        "minItems": 2,
    },
    "contains": {
        "type": "array",
        "items": {"type": "integer"},
        "contains": {"const": 7},
        "minContains": 2,
        "maxItems": 6,
    },
    "unique": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 6},
        "uniqueItems": True,
        "minItems": 3,
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    "names": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "maxProperties": 2}
    | {"additionalProperties": True},
    "patterns": {
        "type": "object",
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    },
    "unevaluated": {
        "type": "object",
        "allOf": [{"properties": {"a": {"type": "integer"}}}],
        "properties": {"b": {"type": "integer"}},
        "unevaluatedProperties": False,
    },
    "needs": {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
        "dependentRequired": {"x": ["y"]},
    },
    "then": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "value": {}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["value"]},
        "else": {"properties": {"value": False}},
        "additionalProperties": False,
    },
    "reference": {"$ref": "#/$defs/tree", "description": "beside it"},
    "closed-twice": {
        "allOf": [
            {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"b": {}, "c": {}}, "additionalProperties": False},
        ]
    },
    "default": {"type": "integer", "minimum": 1, "default": 5},
}


def schema_of(rules: dict[str, Any]) -> dict[str, Any]:
    """Put one property into the schema of arguments, which needs it."""
    return {
        "type": "object",
        "properties": {"it": rules},
        "required": ["it"],
        "additionalProperties": False,
        "$defs": {"tree": TREE},
    }


@pytest.mark.parametrize("nasty", [False, True])
@pytest.mark.parametrize("rules", KEYWORDS.values(), ids=KEYWORDS)
def test_every_keyword_of_the_draft_is_met(rules: dict[str, Any], nasty: bool) -> None:
    """What is made fits the schema, in the eyes of another validator too."""
    judge = jsonschema.Draft202012Validator(schema_of(rules))

    made = samples(schema_of(rules), seed=1, count=15, nasty=nasty)

    assert made
    assert [each for each in made if not judge.is_valid(each)] == []


@pytest.mark.parametrize("start", range(5))
def test_two_keywords_that_meet_are_met_together(start: int) -> None:
    """Where a value of one schema fits the other too, arguments are made for both at once."""
    pairs = list(itertools.combinations(KEYWORDS.values(), 2))[start::75]
    missed = []
    for one, other in pairs:
        schema = schema_of({"allOf": [one, other]})
        judge = jsonschema.Draft202012Validator(schema)
        known = samples(schema_of(one), count=20) + samples(schema_of(other), count=20)
        if not any(map(judge.is_valid, known)):
            continue
        made = samples(schema, count=5)
        missed += [(one, other, each) for each in made if not judge.is_valid(each)]

    assert missed == []


@pytest.mark.parametrize(
    "rules",
    [
        {"type": "number", "minimum": 0, "maximum": 2, "multipleOf": 0.01},
        {"type": "string", "pattern": "^\\p{Lu}[\\p{L}\\d]*$"},
        {"type": "string", "pattern": r"^\w+\s\d{2,}$", "minLength": 8},
    ],
)
def test_what_validators_disagree_about_is_made_for_ours(rules: dict[str, Any]) -> None:
    """Decimal steps, Unicode classes and ASCII digits are what the seam's validator takes."""
    reader = ArgumentReader(close(schema_of(rules)))

    made = samples(schema_of(rules), count=20)

    assert len(made) > 5
    assert [reader.read(each).value for each in made] == made


@hypothesis.given(st.data())
def test_what_is_made_is_what_a_host_takes(data: st.DataObject) -> None:
    """A strategy's value is JSON within signed 64 bits and without surrogates."""
    schema = schema_of({"type": ["integer", "number", "string", "array"]})

    value = data.draw(st.one_of(arguments(schema), hostile(schema)))

    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    assert text.encode()
    assert all(abs(n) <= 2**63 for n in [value["it"]] if isinstance(n, int))


def test_the_same_seed_makes_the_same_arguments() -> None:
    """A seed reproduces its arguments, and another one makes others."""
    schema = schema_of({"type": "string"})

    first, again, other = (samples(schema, seed=seed, count=20) for seed in (4, 4, 5))

    assert first == again
    assert first != other


def test_examples_and_defaults_of_the_schema_are_tried() -> None:
    """What an author wrote into the schema is among the arguments, the whole examples first."""
    schema = schema_of({"type": "string", "default": "usual"})
    schema["examples"] = [{"it": "told"}, {"misfit": 1}]

    made = samples(schema, count=20)

    assert made[0] == {"it": "told"}
    assert {"it": "usual"} in made
    assert {"misfit": 1} not in made


def test_hostile_arguments_are_hostile() -> None:
    """Control, bidirectional and invisible characters, markup, SQL and outermost numbers occur."""
    schema = schema_of({"type": ["string", "integer"]})

    made = [each["it"] for each in samples(schema, count=200, nasty=True)]
    texts = "".join(each for each in made if isinstance(each, str))

    assert all(sign in texts for sign in ("\x00", "\x1b", "\u202e", "\u200b", "DROP", "<script"))
    assert any(len(each) > 10_000 for each in made if isinstance(each, str))
    assert {2**63 - 1, -(2**63)} <= {each for each in made if isinstance(each, int)}


def test_a_hostile_text_is_as_long_as_it_may_be() -> None:
    """Where a schema bounds a text, the longest one that it admits is tried."""
    made = samples(schema_of({"type": "string", "maxLength": 70}), count=200, nasty=True)

    assert max(len(each["it"]) for each in made) == 70
    assert len(TEXTS) < 100


def test_a_recursive_schema_ends() -> None:
    """A reference to itself is followed, and not for ever."""
    made = samples(schema_of({"$ref": "#/$defs/tree"}), count=40)

    assert any(each["it"]["children"] for each in made)
    assert all(len(json.dumps(each)) < 20_000 for each in made)


def test_a_failure_is_shrunk() -> None:
    """What is told of a failure is the smallest that fails, whatever was found first."""
    schema = schema_of({"type": "integer", "minimum": 0, "maximum": 10_000})

    def judge(given: dict[str, Any]) -> None:
        if given["it"] > 137:
            raise LookupError("too many")

    found = falsify(schema, judge, count=50)

    assert found is not None
    assert found.arguments == {"it": 138}
    assert isinstance(found.error, LookupError)


def test_a_failure_that_does_not_come_back_is_told() -> None:
    """A tool that fails once and never again has failed."""
    seen: list[object] = []

    def judge(given: dict[str, Any]) -> None:
        seen.append(given)
        if len(seen) == 3:
            raise LookupError("now and then")

    found = falsify(schema_of({"type": "string"}), judge, count=20)

    assert found is not None
    assert isinstance(found.error, LookupError)


def test_a_judge_cannot_change_what_is_told() -> None:
    """The arguments that are told are those that were made, not what the tool made of them."""

    def judge(given: dict[str, Any]) -> None:
        given.clear()
        raise LookupError

    found = falsify(schema_of({"type": "boolean"}), judge)

    assert found is not None
    assert found.arguments == {"it": False}


def test_nothing_to_find_is_none() -> None:
    """A tool that never fails gives no failure."""
    assert falsify(schema_of({"type": "string"}), lambda _: None) is None


@pytest.mark.parametrize(
    "rules",
    [{"type": "integer", "minimum": 3, "maximum": 2}, False, {"enum": ["a"], "type": "null"}],
)
def test_a_schema_that_nothing_fits_is_said(rules: Any) -> None:
    """Where no arguments can be made, examples are asked for; nothing passes in silence."""
    with pytest.raises(NoArguments, match="examples"):
        samples(schema_of(rules), count=10)


def test_a_command_reproduces_the_call() -> None:
    """The command is one line of printable ASCII that a shell reads back as the arguments."""
    given = {"it": "it's \x1b[2J \u202e 'quoted' \U0001f600"}

    command = reproduce("greet", given)

    assert command.isascii()
    assert command.isprintable()
    assert shlex.split(command)[:4] == ["toolseam", "run", "greet", "--json-args"]
    assert json.loads(shlex.split(command)[4]) == given


def test_arguments_too_long_for_a_command_line_are_not_pasted() -> None:
    """A call with very long arguments is told by their size."""
    assert "characters" in reproduce("greet", {"it": "x" * 100_000})


def test_the_tools_own_schema_stays_as_it_is() -> None:
    """Making arguments changes no schema that was handed over."""
    spec = ToolSpec(
        name="greet",
        description="Greet.",
        effect="read_only",
        parameters=schema_of({"type": "string"}),
    )
    schema = spec.schema

    samples(schema, count=10)

    assert schema == spec.schema
