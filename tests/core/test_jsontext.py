"""The one strict, bounded JSON codec (contract §1, §4, §7)."""

import json
import math
from decimal import Decimal
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam._jsontext import (
    ARGUMENT_BYTES,
    DEPTH,
    JSON_BYTES,
    BadText,
    TooLarge,
    Unencodable,
    decode,
    encode,
    parse,
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), inner)
    ),
    max_leaves=20,
)


def nested(levels: int, outermost: type = list) -> Any:
    """Make a value of that many levels."""
    value: Any = [] if outermost is list else {} if outermost is dict else ()
    for _ in range(levels - 1):
        value = {"k": value} if outermost is dict else outermost((value,))
    return value


def reference(value: object) -> bytes:
    """Encode by the standard library, as plainly as it can be said."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


@given(json_values)
def test_whatever_json_can_say_is_encoded_as_the_reference_says(value: object) -> None:
    """The codec and the standard library agree on every strict value."""
    assert json.loads(encode(value)) == json.loads(reference(value))
    assert decode(encode(value)) == json.loads(reference(value))


@given(st.integers(-60, 60), st.sampled_from(["x", "€", "ж", "😀"]), st.integers(0, 3))
def test_the_budget_is_exact_around_its_edge(off: int, character: str, wraps: int) -> None:
    """A text of at most 50,000 bytes passes and one byte more is too large."""
    width = len(character.encode())
    value: object = character * ((JSON_BYTES + off - 2 - 2 * wraps) // width)
    for _ in range(wraps):
        value = [value]

    size = len(reference(value))
    if size <= JSON_BYTES:
        assert len(encode(value)) == size
    else:
        with pytest.raises(TooLarge):
            encode(value)


@pytest.mark.parametrize("piece", [1, 1.5, True, None, "", [], {}, {"a": 1}, "\x00", '"', "\\"])
def test_the_budget_is_exact_for_many_small_members(piece: object) -> None:
    """The largest list of one sort of member that fits is taken, one member more is not."""
    step = len(reference([piece, piece])) - len(reference([piece]))
    most = (JSON_BYTES - 1) // step

    assert len(encode([piece] * most)) <= JSON_BYTES
    with pytest.raises(TooLarge):
        encode([piece] * (most + 1))


@pytest.mark.parametrize("value", [[None] * 2_000_000, ["x" * 5_000_000], {"k" * 60_000: 1}])
def test_a_giant_is_too_large(value: object) -> None:
    """Many members, a long text and a long key all exceed the budget."""
    with pytest.raises(TooLarge):
        encode(value)


def test_a_limit_of_the_caller_is_kept() -> None:
    """The budget is a parameter, down to nothing."""
    assert encode([1, 2], limit=5) == b"[1,2]"
    with pytest.raises(TooLarge):
        encode([1, 2], limit=4)


@pytest.mark.parametrize("kind", [list, dict, tuple])
def test_sixty_four_levels_pass_and_one_more_does_not(kind: type) -> None:
    """Depth counts lists, dicts and tuples alike."""
    assert encode(nested(DEPTH, kind))
    with pytest.raises(Unencodable, match="deeper than 64 levels"):
        encode(nested(DEPTH + 1, kind))


class Text(str):
    """A subclass that no strict JSON value may be."""

    __slots__ = ()


class Items(dict[str, object]):
    """A dict that lies about what it holds."""

    def items(self) -> Any:
        """Give other members than the storage has."""
        return [("ok", 1)]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": math.nan}]}, "$.a[1].b"),
        ({"a": -math.inf}, "$.a"),
        ([0, 2**63], "$[1]"),
        ([-(2**63) - 1], "$[0]"),
        ({"x": Decimal("19.90")}, "$.x"),
        ({"x": {"y": b"raw"}}, "$.x.y"),
        ([{1, 2}], "$[0]"),
        ([Text("t")], "$[0]"),
        ({"d": Items()}, "$.d"),
        ([0, {1: "a"}], "$[1]"),
        ({"k": {Text("t"): 1}}, "$.k"),
        (object(), "$"),
    ],
)
def test_a_wrong_kind_is_refused_with_its_path(value: object, path: str) -> None:
    """What JSON cannot say is refused, and the refusal tells where it stands."""
    with pytest.raises(Unencodable) as refusal:
        encode(value)

    assert refusal.value.path == path
    assert str(refusal.value).startswith(f"{path}: ")


def test_a_refusal_never_quotes_the_value() -> None:
    """The reason names the type; the value is somebody's data."""
    with pytest.raises(Unencodable) as refusal:
        encode({"price": Decimal("4000.7741")})

    assert "4000" not in str(refusal.value)
    assert "Decimal" in refusal.value.reason


def test_the_root_of_the_path_is_the_callers() -> None:
    """A channel names itself in the path of its refusals."""
    with pytest.raises(Unencodable) as refusal:
        encode({"rows": [{}, {"price": Decimal(1)}]}, root="data")

    assert refusal.value.path == "data.rows[1].price"


def test_a_value_found_twice_is_named_where_it_stands() -> None:
    """A shared container is named by a path that leads to it."""
    shared = [math.nan]
    with pytest.raises(Unencodable) as refusal:
        encode({"a": 1, "b": shared, "c": shared})

    assert refusal.value.path in {"$.b[0]", "$.c[0]"}


def test_a_key_in_a_path_is_one_short_line() -> None:
    """A key of somebody else's can neither flood nor forge a message."""
    with pytest.raises(Unencodable) as refusal:
        encode({"k\r\nERROR forged" + "x" * 5_000_000: object()})

    assert refusal.value.path.startswith("$.k␊ERROR")
    assert len(refusal.value.path) <= 66


def test_lone_surrogates_become_the_replacement_character() -> None:
    """Half a pair is replaced in values and keys, one U+FFFD each; whole pairs stay."""
    value = {"caf\udce9": ["\ud83d now", {"🚀": "\udc00\udc00"}], "n": (1, None)}

    assert decode(encode(value)) == {
        "caf\ufffd": ["\ufffd now", {"🚀": "\ufffd\ufffd"}],
        "n": [1, None],
    }


def test_keys_that_collide_by_replacement_are_refused() -> None:
    """Two keys that become one are refused, not merged."""
    with pytest.raises(Unencodable, match="two keys become") as refusal:
        encode({"a": [{chr(0xD800): 1, chr(0xD801): 2}]})

    assert refusal.value.path == "$.a[0]"


def test_a_decoded_value_is_a_fresh_copy() -> None:
    """Whoever changes what he was given changes nothing else."""
    encoded = encode({"a": [1]})
    cast("dict[str, list[int]]", decode(encoded))["a"].append(2)

    assert decode(encoded) == {"a": [1]}


@given(json_values)
def test_foreign_text_reads_as_the_reference_reads_it(value: object) -> None:
    """The strict reader agrees with a plain one on every strict text."""
    text = json.dumps(value)

    assert parse(text) == json.loads(text)
    assert parse(orjson.dumps(value).decode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1', "line 1 column 8"),
        ('{"a": 1,}', "line 1 column"),
        ('{"a":\n 1\n b}', "line 3 column 2"),
        ("\ufeff{}", "line 1 column 1"),
        ('{"a": 1, "b": 2, "a": 3}', "'a' stands twice"),
        ('[{"x": {"k": 1, "k": 1}}]', "'k' stands twice"),
        ('{"\\u0061": 1, "a": 2}', "'a' stands twice"),
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "too large"),
        ("9223372036854775808", "64 bits"),
        ("-9223372036854775809", "64 bits"),
        ("1" * 900_000, "64 bits"),
        ('{"a": ["\\ud83d now"]}', "surrogate at $.a[0]"),
        ('{"q": {"\\udc00": 1}}', "surrogate in a key at $.q"),
        ('"\udce9"', "surrogate at $"),
        ("[" * 65 + "]" * 65, "64 levels"),
        ('{"a":' * 65 + "1" + "}" * 65, "64 levels"),
        ("[" * 100_000, "64 levels"),
        ("", "line 1 column 1"),
    ],
)
def test_a_text_that_is_no_strict_json_is_refused_with_its_place(text: str, said: str) -> None:
    """Whatever a lenient reader would let pass is refused, and the place is named."""
    with pytest.raises(BadText) as refusal:
        parse(text)

    assert said in str(refusal.value)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("[-9223372036854775808]", [-(2**63)]),
        ('"\\ud83d\\ude80"', "🚀"),
        ("[" * 64 + "]" * 64, nested(64)),
        ("[" + "[]," * 99 + "{}]", [[]] * 99 + [{}]),
        ('"caf\\u00e9\\n"', "café\n"),
    ],
)
def test_the_edges_of_strict_json_are_taken(text: str, value: object) -> None:
    """The last legal integer, level and escape pass unchanged."""
    assert parse(text) == value


def test_a_foreign_text_has_a_size_limit_in_bytes() -> None:
    """A million bytes are read, one more is refused before any parsing."""
    inside = '"' + "€" * 333_332 + '"'
    assert len(inside.encode()) == ARGUMENT_BYTES - 2
    assert parse(inside + "  ")

    with pytest.raises(BadText, match="1000001 bytes, at most 1000000"):
        parse(inside + "   ")
    with pytest.raises(BadText, match="at most 10 "):
        parse("[" + " " * 10 + "]", limit=10)


def test_a_bad_text_never_quotes_a_value() -> None:
    """The place of a fault is told, the data around it is not."""
    with pytest.raises(BadText) as refusal:
        parse('{"password": "hunter2", "x": 1e999}')

    assert "hunter2" not in str(refusal.value)
    assert "999" not in str(refusal.value)
