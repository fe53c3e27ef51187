"""From raw text or a mapping to the one JSON text of the arguments (contract §4)."""

import collections
import json
import math
import multiprocessing
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ErrorCode, ToolError
from toolseam._arguments import ArgumentReader, Arguments
from toolseam._closed import close
from toolseam._jsontext import ARGUMENT_BYTES, encode

READ_RECORDS = {
    "type": "object",
    "properties": {
        "table": {"type": "string"},
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20},
        "ratio": {"type": "number"},
        "desc": {"type": "boolean"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "where": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["table"],
}


def reader(schema: Any = None) -> ArgumentReader:
    """Make the reader of a schema that is closed first."""
    return ArgumentReader(close(READ_RECORDS if schema is None else schema))


def one(schema: Any, **others: Any) -> ArgumentReader:
    """Make the reader of a tool with the one optional argument `x`."""
    return reader({"properties": {"x": schema}, **others})


def refused(raw: Any, by: ArgumentReader | None = None) -> ToolError:
    """Return the error that reading `raw` raises."""
    with pytest.raises(ToolError) as caught:
        (by or reader()).read(raw)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENTS
    assert set(caught.value.metadata.value) == {"path", "rule"}
    return caught.value


@pytest.mark.parametrize(
    "raw",
    [
        {"table": "stock", "limit": 5},
        '{"table": "stock", "limit": 5}',
        b'{"table": "stock", "limit": 5}',
        types.MappingProxyType({"table": "stock", "limit": 5}),
        collections.OrderedDict(table="stock", limit=5),
        collections.UserDict({"table": "stock", "limit": 5}),
    ],
)
def test_text_and_mappings_are_read_alike(raw: Any) -> None:
    """JSON text, its bytes and any mapping give the same one text and a copy of it."""
    text, value, repairs = reader().read(raw)

    assert json.loads(text) == value == {"table": "stock", "limit": 5}
    assert repairs == ()


def test_the_tool_gets_a_copy_of_its_own() -> None:
    """Neither the caller's mapping, nor another call, nor the schema shares anything with it."""
    by = one({"type": "array", "items": {}, "default": []})
    given_value = {"x": [[1]]}

    first, second = by.read(given_value), by.read({})
    first.value["x"][0].append(2)
    second.value["x"].append(3)

    assert given_value == {"x": [[1]]}
    assert first.text == b'{"x":[[1]]}'
    assert by.read({}).value == {"x": []}


@pytest.mark.parametrize(
    "raw", ["", "   ", "\n\t ", "null", " null ", "{}", b"", b"null", None, {}]
)
def test_nothing_means_no_arguments(raw: Any) -> None:
    """P10, P14: empty text, blanks, null and absent arguments are an empty object."""
    for schema in ({"type": "object"}, {}, None, {"type": "object", "additionalProperties": False}):
        assert ArgumentReader(close(schema)).read(raw) == (b"{}", {}, ())


def test_nothing_names_the_key_that_is_missing() -> None:
    """P14: empty text for a tool that needs a table names the table, in our words."""
    error = refused("")

    assert error.message == "$.table: is required"
    assert error.metadata == {"path": "$.table", "rule": "required"}


def test_an_object_inside_a_json_string_is_unpacked_once() -> None:
    """P14: one layer of quotes is taken off at the top, and noted."""
    inside = json.dumps({"table": "stock"})
    read = reader().read(json.dumps(inside))

    assert read.value == {"table": "stock", "limit": 20}
    assert read.repairs == ("$: an object inside a JSON string, unpacked",)
    assert refused(json.dumps(json.dumps(inside))).metadata == {"path": "$", "rule": "type"}


def test_nothing_is_unpacked_inside_the_arguments() -> None:
    """P14: JSON in a declared text stays that text; where an array is declared it is refused."""
    assert reader().read({"table": "s", "query": '["id"]'}).value["query"] == '["id"]'

    assert refused({"table": "stock", "columns": '["id"]'}).message == (
        "$.columns: text where an array is declared"
    )
    assert refused({"table": "stock", "where": '{"a": "b"}'}).message == (
        "$.where: text where an object is declared"
    )


@pytest.mark.parametrize(
    "raw",
    [
        "[]",
        "42",
        '"x"',
        "true",
        '"[]"',
        '"42"',
        '```json\n{"table": "stock"}\n```',
        '{"table": "stock",}',
        '{"table": "sto',
        '{"table": "stock"} {"table": "stock"}',
        '{"table": "stock", "table": "other"}',
        '{"table": "stock", "ratio": NaN}',
        '{"table": "stock", "ratio": -Infinity}',
        '{"table": "stock", "ratio": 1e999}',
        '{"table": "stock", "limit": 9223372036854775808}',
        "{'table': 'stock'}",
        "\ufeff{}",
        b"\xff\xfe{}",
        [],
        42,
        2.5,
        True,
        object(),
        {"table"},
        bytearray(b"{}"),
    ],
)
def test_whatever_is_no_single_object_is_refused(raw: Any) -> None:
    """Text must parse as one JSON object; anything else is refused, whatever the tool."""
    refused(raw)
    refused(raw, reader({}))


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ('{"table": "sto', "line 1 column 11"),
        ('{"table": "stock",}', "line 1 column"),
        ('{"table": 1, "table": 2}', "'table'"),
        (b'{"table": "\xff"}', "byte 11"),
        ({"table": "s", "where": {"a": b"x"}}, "$.where.a"),
        ({"table": "s", "columns": [1, math.nan]}, "$.columns[1]"),
        ({"table": "s", "limit": 2**63}, "$.limit"),
        ({"table": "s", 7: 1}, "int"),
    ],
)
def test_a_refusal_names_the_place(raw: Any, place: str) -> None:
    """Where text breaks off, which key stands twice, which path is foreign: all are named."""
    assert place in refused(raw).message


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (r'{"table": "stock", "query": "ship \ud83d now"}', "$.query"),
        ({"table": "stock", "query": "ship \ud83d now"}, "$.query"),
        ({"table": "stock", "columns": ("a", "b\udce9")}, "$.columns[1]"),
        ({"table": "stock", "where": {"k": {"\ud800": ""}}}, "$.where.k"),
        ({"table": "stock", "\udfff": 1}, "key"),
        (r'{"table": "stock", "\udfff": 1}', "key"),
    ],
)
def test_a_lone_surrogate_is_refused_by_place(raw: Any, place: str) -> None:
    """P02: half a pair, in a text or a key, is refused from text and mappings alike."""
    error = refused(raw)

    assert place in error.message
    assert error.message.encode()


@pytest.mark.parametrize("query", ["\U0001f680", "already \ufffd replaced", "e\u0301 \u200d \x00"])
def test_every_other_character_is_untouched(query: str) -> None:
    """P02: whole pairs, U+FFFD of the caller's own, joiners and controls arrive as they are."""
    for raw in ({"table": "s", "query": query}, json.dumps({"table": "s", "query": query})):
        assert reader().read(raw).value["query"] == query


def test_an_unknown_key_is_named_with_the_accepted_ones() -> None:
    """Near misses come first, also when the misspelt key is a required one."""
    schema: dict[str, Any] = {
        "properties": {"alpha": {}, "table": {}, "limit": {"type": "integer"}},
        "required": ["table"],
    }

    assert refused({"tabel": "x"}, reader(schema)).message == (
        "$: unknown key 'tabel'; accepted: table, alpha, limit"
    )
    assert refused({"table": 1, "zzz": 2}, reader(schema)).message == (
        "$: unknown key 'zzz'; accepted: alpha, table, limit"
    )
    assert "no keys are accepted" in refused({"x": 1}, reader({})).message


@pytest.mark.parametrize("required", [["table"], ["table", "query"], ["query", "limit", "table"]])
def test_a_misspelt_key_is_named_before_the_missing_one(required: list[str]) -> None:
    """However many keys are required, the one that nobody knows is what the complaint is about."""
    by = reader({**READ_RECORDS, "required": required})

    assert refused({"tabel": "x"}, by).metadata["rule"] == "additionalProperties"
    assert refused({}, by).metadata["rule"] == "required"


def test_many_accepted_keys_are_cut() -> None:
    """A tool with a hundred arguments lists twenty."""
    schema: dict[str, Any] = {"properties": {f"a{i}": {} for i in range(100)}}

    assert refused({"zz": 1}, reader(schema)).message.endswith("a19, …")


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "SECRET", "text where an integer is declared"),
        ({"type": ["integer", "null"]}, "SECRET", "text where null or an integer is declared"),
        ({"enum": ["a", "b"]}, "SECRET", 'expected one of "a", "b"'),
        ({"const": "a"}, "SECRET", 'expected "a"'),
        ({"minimum": 5}, 4, "expected at least 5"),
        ({"maximum": 5}, 6, "expected at most 5"),
        ({"exclusiveMinimum": 5}, 5, "expected more than 5"),
        ({"exclusiveMaximum": 5}, 5, "expected less than 5"),
        ({"multipleOf": 5}, 6, "expected a multiple of 5"),
        ({"minLength": 9}, "SECRET", "expected at least 9 characters"),
        ({"maxLength": 2}, "SECRET", "expected at most 2 characters"),
        ({"pattern": "^a"}, "SECRET", "expected text matching ^a"),
        ({"minItems": 2}, ["SECRET"], "expected at least 2 items"),
        ({"maxItems": 0}, ["SECRET"], "expected at most 0 items"),
        ({"uniqueItems": True}, ["SECRET", "SECRET"], "expected no item twice"),
        ({"minProperties": 1}, {}, "expected at least 1 keys"),
        ({"maxProperties": 0}, {"k": "SECRET"}, "expected at most 0 keys"),
        ({"not": {"type": "string"}}, "SECRET", "is excluded"),
        ({"contains": {"const": 1}}, ["SECRET"], "lacks an item that is asked for"),
        ({"propertyNames": {"maxLength": 1}}, {"SECRET": 1}, "a key is not accepted here"),
        (False, "SECRET", "is not accepted here"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "SECRET", "text where an integer or"),
        ({"anyOf": [{"minimum": 5}, {"const": 2}]}, 3, "fits none of the 2 declared forms"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 1}]}, 3, "fits more than one"),
        ({"if": {"type": "integer"}, "then": {"minimum": 4}}, 3, "expected at least 4"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": "SECRET"}, "is required"),
    ],
)
def test_a_complaint_says_what_was_expected(schema: Any, value: Any, expected: str) -> None:
    """Every rule has words of its own, and none of them quotes the value."""
    error = refused({"x": value}, one(schema))

    assert error.message.startswith("$.x")
    assert expected in error.message
    assert "SECRET" not in error.message


def test_the_only_form_of_the_right_type_explains_itself() -> None:
    """Within `anyOf` of an object and null, the complaint is about the object's own key."""
    form = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    by = one({"anyOf": [form, {"type": "null"}]})

    assert refused({"x": {"n": "many"}}, by).message == "$.x.n: text where an integer is declared"
    assert refused({"x": {}}, by).message == "$.x.n: is required"


def test_keys_and_paths_in_a_complaint_are_short() -> None:
    """No more than 64 characters of a key, on one line, without controls."""
    key = "k\n\x1b\u202e" + "y" * 500
    open_map = one({"type": "object", "additionalProperties": {"type": "object"}})

    for error in (refused({key: 1}), refused({"x": {key: 3}}, open_map)):
        assert "y" * 59 in error.message
        assert "y" * 65 not in error.message
        assert error.message.isprintable()


@pytest.mark.parametrize(
    ("schema", "given_value", "taken", "note"),
    [
        ({"type": "integer"}, "25", 25, "text taken as integer"),
        ({"type": "integer"}, "-7", -7, "text taken as integer"),
        ({"type": "integer"}, "9223372036854775807", 2**63 - 1, "text taken as integer"),
        ({"type": "number"}, "25", 25, "text taken as number"),
        ({"type": "number"}, "2.5", 2.5, "text taken as number"),
        ({"type": "number"}, "-0.125", -0.125, "text taken as number"),
        ({"type": "boolean"}, "true", True, "text taken as boolean"),
        ({"type": "boolean"}, "false", False, "text taken as boolean"),
        ({"type": ["integer", "null"]}, "25", 25, "text taken as integer"),
        ({"type": "integer"}, 25.0, 25, "number taken as integer"),
        ({"type": "integer"}, -0.0, 0, "number taken as integer"),
        ({"type": "integer"}, 2.0**53, 2**53, "number taken as integer"),
    ],
)
def test_what_can_mean_one_thing_only_is_repaired(
    schema: Any, given_value: Any, taken: Any, note: str
) -> None:
    """Canonical decimal texts, the two boolean words and whole floats are taken, and noted."""
    for raw in ({"x": given_value}, json.dumps({"x": given_value})):
        read = one(schema).read(raw)

        assert repr(read.value["x"]) == repr(taken)
        assert orjson.loads(read.text) == read.value
        assert read.repairs == (f"$.x: {note}",)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, " 25"),
        ({"type": "integer"}, "025"),
        ({"type": "integer"}, "+25"),
        ({"type": "integer"}, "2_5"),
        ({"type": "integer"}, "-0"),
        ({"type": "integer"}, "0x19"),
        ({"type": "integer"}, "25.0"),
        ({"type": "integer"}, "1e3"),
        ({"type": "integer"}, "\u0662\u0665"),
        ({"type": "integer"}, "\uff12"),
        ({"type": "integer"}, ""),
        ({"type": "integer"}, "null"),
        ({"type": "integer"}, "None"),
        ({"type": "integer"}, "9223372036854775808"),
        ({"type": "integer"}, "9" * 5000),
        ({"type": "integer"}, True),
        ({"type": "integer"}, 2.5),
        ({"type": "integer"}, 2.0**53 + 2),
        ({"type": "integer"}, 1e300),
        ({"type": "number"}, "2.50"),
        ({"type": "number"}, ".5"),
        ({"type": "number"}, "5."),
        ({"type": "number"}, "1e5"),
        ({"type": "number"}, "nan"),
        ({"type": "number"}, "inf"),
        ({"type": "number"}, "0.1000000000000000055511151231257827"),
        ({"type": "number"}, "1.2.3"),
        ({"type": "number"}, "-"),
        ({"type": "number"}, True),
        ({"type": "boolean"}, "True"),
        ({"type": "boolean"}, "yes"),
        ({"type": "boolean"}, 1),
        ({"type": "array"}, "[]"),
        ({"type": "string"}, 25),
        ({"type": "null"}, "null"),
    ],
)
def test_what_could_mean_something_else_is_refused(schema: Any, value: Any) -> None:
    """Padding, signs, exponents, wide digits, lossy fractions and other words are no repairs."""
    error = refused({"x": value}, one(schema, required=["x"]))

    assert error.metadata["rule"] == "type"


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"oneOf": [{"type": "integer"}]},
        {"allOf": [{"type": "integer"}]},
        {"type": "integer", "enum": [25]},
        {"type": "integer", "const": 25},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ],
)
def test_nothing_is_repaired_where_the_type_is_not_outright(schema: Any) -> None:
    """Combinators, choices and open maps are judged as they are."""
    value = {"k": "25"} if "additionalProperties" in schema else "25"

    refused({"x": value}, one(schema))


def test_repairs_reach_through_properties_items_and_references() -> None:
    """The walk follows the schema, and each note has its path."""
    schema = {
        "properties": {
            "o": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "l": {"type": "array", "items": {"$ref": "#/$defs/flag"}},
            "p": {
                "type": "array",
                "prefixItems": [{"type": "number"}],
                "items": {"$ref": "#/$defs/p"},
            },
        },
        "$defs": {
            "flag": {"$ref": "#/$defs/bool"},
            "bool": {"type": "boolean"},
            "p": {
                "type": "array",
                "items": {"$ref": "#/$defs/p"},
                "prefixItems": [{"type": "integer"}],
            },
        },
    }
    raw = {"o": {"n": "1"}, "l": [True, "false"], "p": ["1.5", ["2", [3.0]]]}

    read = reader(schema).read(raw)

    assert read.value == {"o": {"n": 1}, "l": [True, False], "p": [1.5, [2, [3]]]}
    assert read.repairs == (
        "$.o.n: text taken as integer",
        "$.l[1]: text taken as boolean",
        "$.p[0]: text taken as number",
        "$.p[1][0]: text taken as integer",
        "$.p[1][1][0]: number taken as integer",
    )


def test_a_repair_does_not_excuse_the_other_rules() -> None:
    """A repaired value is judged like any other."""
    assert refused({"table": "s", "limit": "51"}).message == "$.limit: expected at most 50"


def test_notes_are_few_and_tell_no_value() -> None:
    """A thousand repairs make twenty notes and a count."""
    by = one({"type": "array", "items": {"type": "integer"}})

    notes = by.read({"x": ["777"] * 1000}).repairs

    assert len(notes) == 21
    assert notes[-1] == "and 980 more"
    assert "777" not in "".join(notes)


def test_null_for_an_optional_key_counts_as_absent() -> None:
    """P11: what strict mode makes a model send is read as what it means."""
    schema = {
        "properties": {
            "table": {"type": "string"},
            "limit": {"type": "integer", "default": 20},
            "since": {"type": "string", "format": "date"},
            "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
        },
        "required": ["table"],
    }
    nothing = {"limit": None, "since": None, "opts": None}

    read = reader(schema).read({"table": "stock", **nothing})
    error = refused({"table": None, **nothing, "limit": 5}, reader(schema))

    assert read == (b'{"table":"stock","limit":20}', {"table": "stock", "limit": 20}, ())
    assert error.message == "$.table: null where text is declared"


def test_null_inside_a_nested_object_counts_as_absent_too() -> None:
    """The rule holds at every depth that the walk reaches, and not for keys of an open map."""
    by = one({"type": "object", "properties": {"y": {"type": "string"}}})

    assert by.read({"x": {"y": None}}).value == {"x": {}}
    assert refused({"table": "s", "where": {"k": None}}).metadata["path"] == "$.where.k"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["integer", "null"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"enum": ["a", None]},
        {},
        {"$ref": "#/$defs/n"},
    ],
)
def test_null_stays_where_the_schema_admits_it(schema: Any) -> None:
    """A declared null is a value, also when another argument made the walk necessary."""
    by = reader(
        {
            "properties": {"x": schema, "n": {"type": "integer"}},
            "$defs": {"n": {"type": ["string", "null"]}},
        }
    )

    assert by.read({"x": None, "n": "3"}).value == {"x": None, "n": 3}


def test_defaults_are_written_into_what_is_recorded() -> None:
    """Missing keys get their constants, in nested objects that are there, and no others."""
    schema = {
        "properties": {
            "limit": {"type": "integer", "default": 20},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "page": {
                "type": "object",
                "properties": {"size": {"type": "integer", "default": 5}},
            },
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
            "mode": {"$ref": "#/$defs/mode"},
        },
        "$defs": {
            "row": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
            "mode": {"type": "string", "default": "all"},
        },
    }

    empty = reader(schema).read({})
    there = reader(schema).read({"page": {}, "rows": [{}, {"n": 2}]})

    assert empty.value == {"limit": 20, "tags": [], "mode": "all"}
    assert there.value["page"] == {"size": 5}
    assert there.value["rows"] == [{"n": 1}, {"n": 2}]
    for read in (empty, there):
        assert orjson.loads(read.text) == read.value
        assert read.repairs == ()


def test_the_default_of_a_required_key_is_not_taken() -> None:
    """Required means that the caller says it."""
    by = one({"type": "integer", "default": 3}, required=["x"])

    assert refused({}, by).message == "$.x: is required"


def test_an_open_object_keeps_the_keys_that_it_admits() -> None:
    """What the author left open passes through."""
    by = reader({"properties": {}, "additionalProperties": True})

    assert by.read({"any": [1]}).value == {"any": [1]}


def test_text_is_taken_up_to_its_limit() -> None:
    """1,000,000 bytes of text are taken, one more is refused; a mapping counts as its text."""
    by = one({"type": "string"})
    fits = '{"x":"' + "y" * (ARGUMENT_BYTES - 8) + '"}'

    for raw in (fits, fits.encode(), json.loads(fits)):
        assert len(by.read(raw).text) == ARGUMENT_BYTES
    for raw in (fits + " ", fits.encode() + b" ", {"x": json.loads(fits)["x"] + "y"}):
        assert "1000000" in refused(raw, by).message


def test_what_defaults_make_too_large_is_refused() -> None:
    """What is recorded could always be read again."""
    by = reader({"properties": {"x": {"type": "string"}, "y": {"type": "integer", "default": 1}}})

    assert "1000000" in refused({"x": "z" * (ARGUMENT_BYTES - 8)}, by).message


class Failing(Mapping[str, Any]):
    """A mapping of somebody else's that raises when it is read."""

    def __getitem__(self, key: str) -> Any:
        """Raise."""
        raise RuntimeError("hunter2")

    def __iter__(self) -> Iterator[str]:
        """Promise a key."""
        return iter(["table"])

    def __len__(self) -> int:
        """Promise a key."""
        return 1


def test_a_mapping_that_raises_is_refused_without_its_text() -> None:
    """What a foreign mapping raises is named by type alone."""
    error = refused(Failing())

    assert "RuntimeError" in error.message
    assert "hunter2" not in error.message


class Word(str):
    """A text of a class of its own."""

    __slots__ = ()


def test_texts_of_a_class_of_their_own_are_read_as_text_or_refused() -> None:
    """Raw text may be any `str`; inside a mapping only plain JSON types are taken."""
    assert reader().read(Word('{"table": "s"}')).value["table"] == "s"
    assert refused({"table": Word("s")}).metadata["path"] == "$.table"
    refused({Word("table"): "s"})


def deep(levels: int, kind: type) -> Any:
    """Nest lists, tuples or dicts."""
    value: Any = "leaf"
    for _ in range(levels):
        value = {"next": value} if kind is dict else kind([value])
    return value


def cyclic() -> Any:
    """Make a mapping that contains itself."""
    value: dict[str, Any] = {}
    value["next"] = value
    return value


def shared(levels: int) -> Any:
    """Make 2^n leaves of n objects."""
    value: Any = "leaf"
    for _ in range(levels):
        value = {"left": value, "right": value}
    return value


HOSTILE: list[Callable[[], Any]] = [
    lambda: deep(100_000, dict),
    lambda: {"next": deep(100_000, list)},
    lambda: {"next": deep(100_000, tuple)},
    lambda: '{"next":' * 100_000,
    lambda: '{"next":' * 100_000 + "1" + "}" * 100_000,
    lambda: "[" * 900_000,
    cyclic,
    lambda: shared(60),
    lambda: {"x": "y" * 50_000_000},
    lambda: {"x" * 50_000_000: 1},
    lambda: {str(i): i for i in range(300_000)},
    lambda: {"next": ["z" * 50_000] * 1_000_000},
    lambda: dict.fromkeys(map(str, range(300_000)), "z" * 50_000),
    lambda: {"x": 10**100_000},
    lambda: '{"x": ' + "9" * 900_000 + "}",
    lambda: '"' + "\\u0078" * 160_000 + '"',
    lambda: {"x": "\ud800" * 2_000_000},
    lambda: " " * 50_000_000,
    lambda: b"\xff" * 50_000_000,
]


def survive(place: int) -> None:
    """Read one hostile value with a schema that refers to itself, and expect a refusal."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    by = ArgumentReader(
        close({"properties": {"next": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}})
    )
    try:
        by.read(HOSTILE[place]())
    except ToolError as error:
        raise SystemExit(0 if error.code is ErrorCode.INVALID_ARGUMENTS else 2) from None
    raise SystemExit(1)


@pytest.mark.parametrize("place", range(len(HOSTILE)))
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_hostile_values_are_refused_at_a_bounded_cost(place: int) -> None:
    """Depth, cycles, sharing and sheer size end in `invalid_arguments`, never in a crash."""
    child = multiprocessing.get_context("fork").Process(target=survive, args=(place,))
    child.start()
    child.join(120)
    if child.exitcode is None:
        child.kill()

    assert child.exitcode == 0


names = st.sampled_from(["a", "b", "c", "limit", "zz"])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.sampled_from(["1", "25", "2.5", "true", "-0", "1e3"]),
)
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)
anything = st.recursive(
    st.one_of(leaves, st.floats(), st.integers(), st.text(st.characters()), st.binary(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(
            st.one_of(names, st.integers(), st.text(st.characters())), inner, max_size=3
        ),
    ),
    max_leaves=10,
)
types_of_leaves = st.sampled_from(["string", "integer", "number", "boolean", "null"])
schemas = st.recursive(
    st.one_of(
        st.builds(lambda t: {"type": t}, types_of_leaves),
        st.builds(
            lambda t: {"type": t}, st.lists(types_of_leaves, min_size=1, max_size=3, unique=True)
        ),
        st.just({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}),
        st.just({"type": "integer", "default": 7}),
    ),
    lambda inner: st.one_of(
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(
            lambda p: {"type": "object", "properties": p},
            st.dictionaries(names, inner, max_size=3),
        ),
    ),
    max_leaves=4,
)
tools = st.builds(
    lambda p: close({"type": "object", "properties": p}),
    st.dictionaries(names, schemas, max_size=4).filter(lambda p: len(json.dumps(p)) < 200),
)


@given(tools, st.one_of(json_values, anything))
def test_reading_gives_arguments_or_one_error(schema: dict[str, Any], raw: Any) -> None:
    """Whatever comes in, out comes sound strict JSON that fits, or `invalid_arguments`."""
    by = ArgumentReader(schema)
    try:
        text, value, _ = by.read(raw)
    except ToolError:
        refused(raw, by)
    else:
        assert encode(value) == text
        assert by.read(value).text == text


@given(tools, st.dictionaries(names, json_values, max_size=4))
def test_text_and_mapping_never_part(schema: dict[str, Any], value: dict[str, Any]) -> None:
    """The same arguments are taken or refused alike, as text and as a mapping."""
    by = ArgumentReader(schema)

    def outcome(raw: Any) -> Arguments | str:
        try:
            return by.read(raw)
        except ToolError as error:
            return error.message

    assert outcome(value) == outcome(json.dumps(value)) == outcome(orjson.dumps(value))


@given(tools, st.dictionaries(names, json_values, max_size=4))
def test_what_is_read_is_read_again_without_change(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    """Reading what was recorded changes and repairs nothing more."""
    by = ArgumentReader(schema)
    try:
        first = by.read(value)
    except ToolError:
        return

    assert by.read(first.text) == (first.text, first.value, ())


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(-1e15, 1e15)))
def test_a_repaired_number_is_the_text_that_was_given(number: float) -> None:
    """What a repair took would write the same text again."""
    by = one({"type": "number"})
    text = repr(number)
    try:
        taken = by.read({"x": text}).value["x"]
    except ToolError:
        assert "e" in text  # no exponent is canonical
        return

    assert repr(taken) == text
