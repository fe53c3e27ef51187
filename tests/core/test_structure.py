"""From validated JSON to the attrs instance that a tool is called with."""

import enum
import json
import subprocess
import sys
import textwrap
from typing import Annotated, Any, Literal

import attrs
import cattrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.shapes import Order, Range, Table
from toolseam import Arg
from toolseam._arguments import ArgumentReader
from toolseam._closed import close
from toolseam._schema import schema_of
from toolseam._structure import structurer


class Level(enum.IntEnum):
    """A number with names."""

    LOW = 1
    HIGH = 2


@attrs.frozen
class Words:
    """Another form of the same argument."""

    words: tuple[str, ...] = ()


@attrs.frozen
class Flat:
    """What needs no conversion."""

    table: Table
    _limit: Annotated[int, Arg(ge=1)] = 20
    mode: Literal["all", "none"] = "all"
    tags: list[str] = attrs.Factory(list)
    where: dict[str, int | None] | None = None
    ratio: float = attrs.field(default=0.5, alias="share", kw_only=True)


@attrs.frozen
class Rich:
    """What needs cattrs."""

    order: Order
    level: Level | None = None
    pair: tuple[int, Order] = (1, Order.UP)
    ranges: list[Range] = attrs.Factory(list)
    form: Range | Words | Order | int | None = None
    named: dict[str, Range] = attrs.Factory(dict)
    maybe: Range | None = None


def made(cls: type, **arguments: Any) -> Any:
    """Read arguments by the schema of `cls` and structure them."""
    return structurer(cls)(ArgumentReader(close(schema_of(cls))).read(arguments).value)


def test_a_flat_class_gets_its_arguments_by_alias() -> None:
    """Keys are aliases, defaults are those of the schema."""
    assert made(Flat, table="s") == Flat(Table("s"))
    assert made(Flat, table="s", limit=3, share=1, where={"a": None}) == Flat(
        Table("s"), 3, where={"a": None}, share=1
    )


def test_a_nested_class_gets_instances() -> None:
    """Enumerations, tuples and nested classes, also in lists and dicts, become what is declared."""
    assert made(Rich, order="down") == Rich(Order.DOWN)
    assert made(
        Rich,
        order="up",
        level=2,
        pair=[3, "down"],
        ranges=[{"first": 1}, {"first": 2, "last": 3}],
        named={"a": {"first": 1}},
        maybe={"first": 4},
    ) == Rich(
        Order.UP,
        Level.HIGH,
        (3, Order.DOWN),
        [Range(1), Range(2, 3)],
        named={"a": Range(1)},
        maybe=Range(4),
    )


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ({"first": 1}, Range(1)),
        ({"words": ["a"]}, Words(("a",))),
        ({}, Words()),
        ("down", Order.DOWN),
        (7, 7),
        (None, None),
    ],
)
def test_a_union_becomes_the_form_that_fits(given_value: object, expected: object) -> None:
    """The first member whose own schema takes the value is the one that is made."""
    form = made(Rich, order="up", form=given_value).form

    assert form == expected
    assert type(form) is type(expected)


def test_a_union_that_nothing_fits_is_refused() -> None:
    """Unjudged arguments do not slip through as they are."""
    with pytest.raises(ValueError, match="none of the declared forms"):
        structurer(Rich)({"order": "up", "form": 2.5})


def test_scalars_are_not_converted() -> None:
    """The schema has judged the value, so cattrs changes no number and no text."""
    rich = made(Rich, order="up", ranges=[{"first": 2**62}])

    assert rich.ranges[0] == Range(2**62)
    assert type(structurer(Range)({"first": 1.9})._first) is float


@attrs.frozen
class Checked:
    """A class with rules of its own, flat."""

    first: int = attrs.field(validator=attrs.validators.ge(3))
    last: int = 9

    def __attrs_post_init__(self) -> None:
        """Refuse an empty range."""
        if self.last < self.first:
            raise ValueError("the range is empty")


@attrs.frozen
class Outer:
    """A class with rules of its own, below."""

    inner: Checked


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: made(Checked, first=1), "must be >= 3"),
        (lambda: made(Checked, first=10), "the range is empty"),
        (lambda: made(Outer, inner={"first": 10}), "the range is empty"),
    ],
)
def test_the_authors_own_rules_speak_for_themselves(make: Any, words: str) -> None:
    """A ValueError of the author comes through as it is, from nested classes too."""
    with pytest.raises(ValueError, match=words) as caught:
        make()

    assert type(caught.value) is ValueError


def test_nothing_of_the_author_runs_before_the_call() -> None:
    """Reading the schema and building the structurer make no instance."""
    ran: list[str] = []

    def check(*_: object) -> None:
        ran.append("validator")

    made_class = attrs.make_class("Made", {"x": attrs.field(type=int, validator=check)})
    by = ArgumentReader(close(schema_of(made_class)))
    make = structurer(made_class)
    value = by.read({"x": 1}).value

    assert ran == []
    assert make(value).x == 1
    assert ran == ["validator"]


def test_cattrs_is_imported_only_for_who_needs_it() -> None:
    """A flat class is made without cattrs, and even a rich one waits for its first call."""
    code = """
        import enum, sys, attrs
        from toolseam._structure import structurer

        class Order(enum.Enum):
            UP = "up"

        @attrs.frozen
        class Flat:
            x: int

        @attrs.frozen
        class Rich:
            x: Order

        structurer(Flat)({"x": 1})
        rich = structurer(Rich)
        assert "cattrs" not in sys.modules
        assert rich({"x": "up"}) == Rich(Order.UP)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


ranges = st.builds(Range, st.integers(0, 9), st.none() | st.integers(0, 9))
words = st.builds(Words, st.lists(st.text(st.characters(codec="utf-8"), max_size=3)).map(tuple))
rich = st.builds(
    Rich,
    st.sampled_from(Order),
    st.none() | st.sampled_from(Level),
    st.tuples(st.integers(0, 9), st.sampled_from(Order)),
    st.lists(ranges, max_size=2),
    st.one_of(ranges, words, st.sampled_from(Order), st.integers(0, 9), st.none()),
    st.dictionaries(st.sampled_from("ab"), ranges, max_size=2),
    st.none() | ranges,
)


@given(rich)
def test_what_cattrs_takes_apart_is_put_together_again(value: Rich) -> None:
    """Unstructured by cattrs, sent as JSON, read and structured, an instance equals itself."""
    apart = cattrs.Converter(use_alias=True).unstructure(value)

    make = structurer(Rich)
    read = ArgumentReader(close(schema_of(Rich))).read(json.dumps(apart))

    assert make(read.value) == value
    assert make(json.loads(read.text)) == value
