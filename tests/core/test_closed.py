"""Closing a given JSON Schema, and refusing what a schema must not do."""

import copy
import socket
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam._closed import SCHEMA_BYTES, SCHEMA_DEPTH, close
from toolseam._errors import SpecError
from toolseam._validator import validator_for

NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {"x": {"type": "integer"}}}


def below(schema: Any) -> dict[str, Any]:
    """Put a schema where an argument's stands."""
    return {"properties": {"a": schema}}


@pytest.mark.parametrize("given_schema", [None, {}, {"type": "object"}, NO_ARGUMENTS])
def test_a_tool_without_arguments_is_an_object_without_keys(given_schema: Any) -> None:
    """P10: no schema, an empty one and a bare object all become the same closed object."""
    assert close(given_schema) == NO_ARGUMENTS


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (("a",), OPEN),
        (("a", "items"), {"type": "array", "items": OPEN}),
        (("a", "prefixItems", 0), {"type": "array", "prefixItems": [OPEN]}),
        (("a", "properties", "x"), {"type": "object", "properties": {"x": OPEN}}),
        (("a", "patternProperties", "^x"), {"type": "object", "patternProperties": {"^x": OPEN}}),
        (("a", "additionalProperties"), {"type": "object", "additionalProperties": OPEN}),
        (("a",), {"properties": {"x": True}}),
        (("a",), {"type": ["object", "null"], "properties": {"x": True}}),
    ],
)
def test_every_object_outside_combinators_is_closed(path: Any, schema: Any) -> None:
    """Each object schema that does not say otherwise gets `additionalProperties: false`."""
    node: Any = close(below(schema))["properties"]
    for step in path:
        node = node[step]

    assert node["additionalProperties"] is False
    assert "properties" in node


def test_definitions_are_closed_too() -> None:
    """An object in `$defs` is closed where it stands."""
    closed = close({**below({"$ref": "#/$defs/o"}), "$defs": {"o": OPEN}})

    assert closed["$defs"]["o"]["additionalProperties"] is False
    assert closed["properties"]["a"] == {"$ref": "#/$defs/o"}


@pytest.mark.parametrize(
    "said", [{"additionalProperties": {"type": "string"}}, {"unevaluatedProperties": False}]
)
def test_what_the_author_said_about_other_keys_stays(said: dict[str, Any]) -> None:
    """An object that speaks of other keys itself is left as it is."""
    closed = close(below({"type": "object", **said}))["properties"]["a"]

    assert closed == {"type": "object", **said, "properties": {}}


def test_the_given_schema_stays_as_it_is() -> None:
    """Closing works on a copy, and takes any mapping."""
    schema = below({"type": "array", "items": OPEN})
    before = copy.deepcopy(schema)

    closed = close(types.MappingProxyType(schema))
    closed["properties"]["a"]["items"]["properties"].clear()

    assert schema == before


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize(
    "inner",
    [
        OPEN,
        {"properties": {"x": True}},
        {"type": "array", "items": OPEN},
        {"type": "object", "properties": {"x": OPEN}, "additionalProperties": False},
    ],
)
def test_an_object_inside_a_combinator_must_say_it_itself(keyword: str, inner: object) -> None:
    """Inside a combinator closing would change the meaning, so silence is refused."""
    with pytest.raises(
        SpecError, match=rf"\$\.properties\.a\.{keyword}\[0\].*additionalProperties"
    ):
        close(below({keyword: [inner]}))


@pytest.mark.parametrize("keyword", ["not", "if", "then", "else", "contains"])
def test_an_object_inside_a_condition_must_say_it_itself(keyword: str) -> None:
    """A condition is a combinator too."""
    with pytest.raises(SpecError, match=rf"\$\.properties\.a\.{keyword}"):
        close(below({keyword: OPEN}))


def test_what_constrains_keys_without_describing_them_may_stand_inside() -> None:
    """`anyOf` over `required` names no keys of its own, and the object around it is closed."""
    closed = close({**OPEN, "anyOf": [{"required": ["x"]}, {"minProperties": 0}]})

    assert closed["additionalProperties"] is False
    assert closed["anyOf"] == [{"required": ["x"]}, {"minProperties": 0}]


@pytest.mark.parametrize("beside", [{"allOf": [{"$ref": "#/$defs/o"}]}, {"$ref": "#/$defs/o"}])
def test_an_object_put_together_of_others_must_say_it_itself(beside: dict[str, Any]) -> None:
    """Closing an object that names no keys itself would shut out those of its parts."""
    with pytest.raises(SpecError, match=r"put together"):
        close({"type": "object", **beside, "$defs": {"o": OPEN}})


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1/schema.json",
        "file:///etc/passwd",
        "other.json",
        "#",
        "#/properties/a",
        "#/$defs/missing",
        "#/$defs/o/properties/x",
        "#anchor",
        "https://json-schema.org/draft/2020-12/schema",
        7,
    ],
)
def test_references_lead_to_own_definitions_only(reference: object) -> None:
    """A `$ref` to anything but `#/$defs/<name>` of the same schema is refused."""
    with pytest.raises(SpecError):
        close({**below({"$ref": reference}), "$defs": {"o": OPEN}})


@pytest.mark.parametrize("name", ["a/b", "a~b", "a%b"])
def test_the_name_of_a_definition_needs_no_escapes(name: str) -> None:
    """Names that a pointer would have to escape are refused where they are referred to."""
    escaped = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    with pytest.raises(SpecError, match=r"\$ref"):
        close({**below({"$ref": f"#/$defs/{escaped}"}), "$defs": {name: OPEN, escaped: OPEN}})


@pytest.mark.parametrize(
    "keyword", ["$id", "$dynamicRef", "$dynamicAnchor", "$schema", "$vocabulary"]
)
def test_keywords_that_rename_a_schema_are_refused(keyword: str) -> None:
    """Whatever could give a reference another meaning is refused, but stays free as a key."""
    with pytest.raises(SpecError, match=r"\$\.properties\.a\.\$"):
        close(below({keyword: "x"}))

    assert close({"properties": {keyword: {"type": "string"}}})


def test_an_anchor_stays_and_leads_nowhere() -> None:
    """An `$anchor` has a name as the draft wants it, and no reference goes by it."""
    anchored = {"$defs": {"o": {**OPEN, "$anchor": "here"}}}

    assert close({**below({"$ref": "#/$defs/o"}), **anchored})["$defs"]["o"]["$anchor"] == "here"
    with pytest.raises(SpecError, match=r"\$ref"):
        close({**below({"$ref": "#here"}), **anchored})
    with pytest.raises(SpecError):
        close(below({"$anchor": "#no name"}))


def test_the_draft_is_2020_12() -> None:
    """The root may name its draft, and keeps the name; another one is refused."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

    assert close(draft) == {**NO_ARGUMENTS, **draft}
    with pytest.raises(SpecError, match=r"2020-12"):
        close({"$schema": "http://json-schema.org/draft-07/schema#"})


@pytest.mark.parametrize("pattern", [r"(?=a)", r"(?<!a)b", r"(a)\1", "(", r"(a{1000}){1000}"])
@pytest.mark.parametrize("place", ["pattern", "patternProperties"])
def test_a_pattern_that_no_linear_engine_compiles_is_refused(pattern: str, place: str) -> None:
    """Look-around, back-references and explosions are refused wherever a pattern stands."""
    rule = pattern if place == "pattern" else {pattern: True}
    with pytest.raises(SpecError, match=r"pattern"):
        close(below({place: rule}))


def test_a_hostile_pattern_costs_linear_time() -> None:
    """What makes a backtracking engine hang is judged at once."""
    judge = validator_for(close(below({"type": "string", "pattern": "^(a+)+$"})))

    assert not judge.is_valid({"a": "a" * 100_000 + "!"})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": ["object", "null"]},
        {"properties": 3},
        {"properties": {"a": 3}},
        below({"type": "text"}),
        below({"minimum": "x"}),
        below({"items": [True]}),
        below({"required": "x"}),
        {"x": b""},
        {"x": float("nan")},
        {1: 2},
    ],
)
def test_what_is_no_schema_of_an_object_is_refused(schema: Any) -> None:
    """A root of another type, malformed keywords and foreign values are refused."""
    with pytest.raises(SpecError, match=r"\$"):
        close(schema)


def test_size_is_bounded() -> None:
    """16,384 bytes of JSON are taken, one more is refused, at a bounded cost."""
    base = len('{"title":""}')

    assert close({"title": "x" * (SCHEMA_BYTES - base)})
    with pytest.raises(SpecError, match=r"16384 bytes"):
        close({"title": "x" * (SCHEMA_BYTES - base + 1)})
    shared: Any = {}
    for _ in range(60):
        shared = {"a": shared, "b": shared}
    with pytest.raises(SpecError):
        close(shared)


def test_depth_is_bounded() -> None:
    """12 levels are taken, 13 are refused."""
    deep: Any = "x"
    for _ in range(SCHEMA_DEPTH - 1):
        deep = [deep]

    assert close({"examples": deep})
    with pytest.raises(SpecError, match=r"12 levels"):
        close({"examples": [deep]})


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\x7f", "\x85", "\u202e", "\u2066", "\U000e0041"])
@pytest.mark.parametrize("place", ["title", "enum", "default", "key", "examples", "pattern"])
def test_hidden_characters_anywhere_refuse_the_schema(sign: str, place: str) -> None:
    """Control, bidi and tag characters are refused in texts, values and keys alike."""
    text = f"a{sign}b"
    schema: dict[str, Any] = (
        {"properties": {text: True}} if place == "key" else below({place: [text]})
    )
    with pytest.raises(SpecError, match=r"control, bidi or tag"):
        close(schema)


def test_a_default_must_fit_its_own_schema() -> None:
    """The default that does not fit is named, and its value is not told."""
    schema = {
        "properties": {
            "a": {"type": "integer", "default": 3},
            "b": {"$ref": "#/$defs/t", "default": "hunter2-long"},
        },
        "$defs": {"t": {"type": "string", "maxLength": 3}},
    }

    with pytest.raises(SpecError, match=r"\$\.properties\.b\.default.*3 characters") as caught:
        close(schema)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "complete"),
    [
        ({"type": "object", "properties": {"n": {"default": 1}}}, {"n": 1}),
        ({"type": "array", "items": {"$ref": "#/$defs/o"}}, [{"n": 1}, {"n": 2}]),
        ({"$ref": "#/$defs/o"}, {"n": 1}),
    ],
)
def test_a_default_is_complete_as_it_stands(schema: Any, complete: Any) -> None:
    """A default object that leaves out defaults of its own keys is refused, not completed."""
    defs = {"o": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}}
    short: Any = [{}] if isinstance(complete, list) else {}

    assert close({**below({**schema, "default": complete}), "$defs": defs})
    with pytest.raises(SpecError, match=r"\$\.properties\.a\.default.*write them out"):
        close({**below({**schema, "default": short}), "$defs": defs})


def test_a_default_that_would_never_end_is_refused() -> None:
    """An object whose default holds itself has no complete default."""
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node", "default": {}}},
    }
    with pytest.raises(SpecError, match=r"default"):
        close({**below({"$ref": "#/$defs/node"}), "$defs": {"node": node}})


def pairs(levels: int) -> dict[str, Any]:
    """Make a schema whose references double at every level."""
    defs: dict[str, Any] = {
        f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(levels)
    }
    return {**below({"$ref": "#/$defs/d0"}), "$defs": {**defs, f"d{levels}": {"type": "null"}}}


def test_references_that_unfold_without_end_are_refused() -> None:
    """Doubling references are refused before they can cost a validator 2^n visits."""
    chain: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(300)}
    chain["d300"] = True

    assert close(pairs(8))
    with pytest.raises(SpecError, match=r"unfold"):
        close(pairs(40))
    with pytest.raises(SpecError, match=r"64"):
        close({**below({"$ref": "#/$defs/d0"}), "$defs": chain})


def test_a_schema_may_refer_to_itself() -> None:
    """A tree is described by a definition that refers to itself, and judged as one."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    judge = validator_for(close({**below({"$ref": "#/$defs/node"}), "$defs": {"node": node}}))

    assert judge.is_valid({"a": {"next": {"next": {}}}})
    assert not judge.is_valid({"a": {"next": {"next": {"other": 1}}}})


@pytest.fixture
def listener() -> Iterator[tuple[int, list[object]]]:
    """Listen on loopback and collect whoever connects."""
    server = socket.create_server(("127.0.0.1", 0))
    visitors: list[object] = []

    def accept() -> None:
        while True:
            try:
                connection, visitor = server.accept()
            except OSError:
                return
            visitors.append(visitor)
            connection.close()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield server.getsockname()[1], visitors
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$schema", "$id"])
def test_nothing_is_ever_fetched(
    keyword: str, listener: tuple[int, list[object]], tmp_path: Path
) -> None:
    """Neither closing nor a validator built directly opens a file or a connection."""
    port, visitors = listener
    file = tmp_path / "rule.json"
    file.write_text('{"type": "string"}')

    for address in (f"http://127.0.0.1:{port}/rule.json", file.as_uri()):
        schema = {keyword: address, "properties": {"a": {"$ref": "other.json"}}}
        with pytest.raises(SpecError):
            close(schema)
        with pytest.raises(SpecError):
            validator_for(schema)
        with pytest.raises(SpecError, match=r"own \$defs"):
            validator_for(below({"$ref": address}))

    assert visitors == []


words = st.sampled_from(["string", "integer", "number", "boolean", "null"])
leaves = st.one_of(
    st.builds(lambda t: {"type": t}, words),
    st.just(True),
    st.builds(lambda v: {"enum": v}, st.lists(st.integers(), min_size=1, max_size=3, unique=True)),
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(
            lambda p: {"type": "object", "properties": p},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        ),
    ),
    max_leaves=5,
)
arguments = st.builds(
    lambda p: {"type": "object", "properties": p},
    st.dictionaries(st.sampled_from("abc"), schemas, max_size=3),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(arguments)
def test_closing_twice_is_closing_once(schema: dict[str, Any]) -> None:
    """A closed schema is left as it is."""
    try:
        closed = close(schema)
    except SpecError:  # deeper than 12 levels
        return

    assert close(closed) == closed


@given(arguments, st.dictionaries(st.sampled_from("abcd"), values, max_size=3))
def test_the_second_opinion_agrees_on_what_fits(schema: dict[str, Any], value: Any) -> None:
    """Our validator and the reference implementation judge alike."""
    try:
        closed = close(schema)
    except SpecError:  # deeper than 12 levels
        return
    judge = validator_for(closed)
    fits = jsonschema.Draft202012Validator(closed).is_valid(value)

    assert judge.is_valid(value) == fits
    assert (judge.first_error(value) is None) == fits
