"""Converting what programs hold into what JSON can say (contract §1; case P01)."""

import enum
import math
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ContractViolation, json_safe
from toolseam._jsontext import decode, encode


class Colour(str, enum.Enum):  # noqa: UP042 - the mixed-in kind is what P01 is about
    """An enum whose members are texts too."""

    RED = "red"


class Level(enum.Enum):
    """An enum that holds another enum's member."""

    HIGH = Colour.RED


class Size(enum.IntEnum):
    """An enum of integers."""

    BIG = 3


class Loud(str):
    """A text whose own methods raise."""

    __slots__ = ()

    def __str__(self) -> str:
        """Raise, as a broken plugin's class might."""
        raise RuntimeError("asked")


PARIS = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (float("inf"), "Infinity"),
        (Decimal("19.90"), "19.90"),
        (Decimal("0E-8"), "0.00000000"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.0000001"), "0.0000001"),
        (Decimal("1E+999999"), "1E+999999"),
        (Decimal("NaN"), "NaN"),
        (Decimal("-Infinity"), "-Infinity"),
        (datetime(2025, 3, 9, 2, 30, tzinfo=UTC), "2025-03-09T02:30:00+00:00"),
        (datetime(2025, 3, 9, 2, 30, tzinfo=PARIS), "2025-03-09T02:30:00+01:00"),
        (datetime(2025, 3, 9, 2, 30), "2025-03-09T02:30:00"),  # noqa: DTZ001 - naive on purpose
        (date(2025, 3, 9), "2025-03-09"),
        (time(2, 30), "02:30:00"),
        (timedelta(minutes=1.5), 90.0),
        (UUID("0b6f5c1e-7a55-4f0e-9a39-2f1f5d0c9e11"), "0b6f5c1e-7a55-4f0e-9a39-2f1f5d0c9e11"),
        (b"\x00\xff", {"bytes": 2, "base64": "AP8="}),
        (bytearray(b"\x00\xff"), {"bytes": 2, "base64": "AP8="}),
        (memoryview(b"\x00\xff"), {"bytes": 2, "base64": "AP8="}),
        (bytes(257), {"bytes": 257}),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({10, 9, 1}), [1, 9, 10]),
        ({"x", 2, None, 1.5, (1, 2)}, [1.5, 2, None, [1, 2], "x"]),
        (9007199254740993, 9007199254740993),
        (2**63 - 1, 2**63 - 1),
        (2**63, "9223372036854775808"),
        (-(2**63) - 1, "-9223372036854775809"),
        (Colour.RED, "red"),
        (Level.HIGH, "red"),
        (Size.BIG, 3),
        (True, True),
        (None, None),
        ((1, (2, [3])), [1, [2, [3]]]),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": {"b"}}), {"a": ["b"]}),
        (Loud("abc"), "abc"),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "null": "b", "false": "c"}),
        ({date(2025, 3, 9): 1, Decimal("1.0"): 2, 2.5: 3}, {"2025-03-09": 1, "1.0": 2, "2.5": 3}),
    ],
)
def test_each_kind_has_one_json_form(value: object, safe: object) -> None:
    """Digits, offsets, lengths and order survive; nothing becomes a bare NaN or a Python repr."""
    found = json_safe(value)

    assert found == safe
    assert type(found) is type(safe)


def test_a_mixed_row_becomes_strict_json() -> None:
    """P01: one value of every troublesome kind passes the codec afterwards."""
    row = {
        "ratio": math.nan,
        "price": Decimal("19.90"),
        "raw": b"\x00\xff",
        "tags": {"b", "a"},
        "big": 9007199254740993,
        "kind": Colour.RED,
    }

    assert decode(encode(json_safe(row))) == {
        "ratio": "NaN",
        "price": "19.90",
        "raw": {"bytes": 2, "base64": "AP8="},
        "tags": ["a", "b"],
        "big": 9007199254740993,
        "kind": "red",
    }


@pytest.mark.parametrize(
    "clash",
    [
        {1: "a", "1": "b"},
        {None: 1, "null": 2},
        {date(2025, 3, 9): 1, "2025-03-09": 2},
        {Colour.RED: 1, UUID(int=0): 2, "00000000-0000-0000-0000-000000000000": 3},
    ],
)
def test_colliding_keys_raise(clash: dict[object, object]) -> None:
    """Two keys that become one are an error that names the key, never a silent loss."""
    with pytest.raises(ContractViolation, match="two keys become") as violation:
        json_safe({"rows": [clash]})

    assert violation.value.path == "$.rows[0]"


@pytest.mark.parametrize("key", [(1, 2), b"raw", frozenset({1})])
def test_a_key_without_a_text_raises(key: object) -> None:
    """A key that is no scalar has no JSON form."""
    with pytest.raises(ContractViolation):
        json_safe({key: 1})


@pytest.mark.parametrize("value", [object(), len, range(3), (x for x in "ab"), 1j, Colour])
def test_any_other_type_raises_with_its_path(value: object) -> None:
    """An unknown type is refused by name instead of shown as its repr."""
    with pytest.raises(ContractViolation, match="has no JSON form") as violation:
        json_safe({"a": [value]})

    assert violation.value.path == "$.a[0]"


def test_an_integer_too_long_to_print_becomes_hexadecimal() -> None:
    """Python refuses decimal text of a million digits; nothing is lost in hexadecimal."""
    number = 16**100_000

    assert json_safe(number) == hex(number)


@given(st.sets(st.one_of(st.integers(), st.text(max_size=3), st.booleans(), st.binary(max_size=3))))
def test_a_set_comes_in_one_order(members: set[object]) -> None:
    """The order of a set depends on its members alone, not on how they were hashed."""
    again: set[object] = set()
    for member in sorted(members, key=repr):
        again.add(member)

    assert json_safe(members) == json_safe(again)


def deep(levels: int) -> Any:
    """Nest an empty list that many times."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def cyclic() -> Any:
    """Make a list that holds itself."""
    value: list[object] = []
    value.append({"again": value})
    return value


def shared() -> Any:
    """Make sixty levels that spell out to 2**60 members."""
    value: Any = "x"
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize("make", [lambda: deep(65), lambda: deep(100_000), cyclic, shared])
def test_depth_cycles_and_shared_references_end(make: Callable[[], object]) -> None:
    """What cannot be written out is refused in bounded time."""
    with pytest.raises(ContractViolation, match=r"64 levels|1000000 values"):
        json_safe(make())


def test_sixty_four_levels_are_converted() -> None:
    """The depth limit is the codec's."""
    assert encode(json_safe(deep(64))) == b"[" * 64 + b"]" * 64
