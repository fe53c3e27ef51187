"""From an attrs class to the JSON Schema of its arguments."""

import enum
import typing
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import annotated_types
import attrs
import jsonschema
import pytest
from typing_extensions import Doc, TypeAliasType

from support.shapes import Order, Range, Table
from toolseam import Arg
from toolseam._closed import close
from toolseam._errors import SpecError
from toolseam._schema import hints_of, schema_of


class Bits(enum.Flag):
    """Flags have no JSON form of their own."""

    ONE = 1
    TWO = 2


@attrs.frozen
class Span:
    """A nested class."""

    seconds: float


@attrs.frozen
class Tree:
    """A class that contains itself."""

    children: "list[Tree]"


def one(hint: Any, default: Any = attrs.NOTHING) -> type:
    """Make an attrs class with the one field `x`."""
    return attrs.make_class("Made", {"x": attrs.field(type=hint, default=default)})


def postponed(text: Any) -> type:
    """Make an attrs class of this module whose field `x` has a text for its annotation."""
    made: Any = one(text)
    made.__module__, made.__annotations__ = __name__, {"x": text}
    return cast("type", made)


def of(hint: Any, default: Any = attrs.NOTHING) -> Any:
    """Return the schema of the one field `x`."""
    return schema_of(one(hint, default))["properties"]["x"]


def test_required_and_defaulted_fields_are_told_apart() -> None:
    """A field without a default is required, one with a default carries it."""

    @attrs.frozen
    class Arguments:
        table: str
        limit: int = 20

    assert schema_of(Arguments) == {
        "type": "object",
        "properties": {"table": {"type": "string"}, "limit": {"type": "integer", "default": 20}},
        "required": ["table"],
        "additionalProperties": False,
    }


def test_a_class_without_fields_takes_no_arguments() -> None:
    """An empty class is the closed schema of no arguments."""

    @attrs.frozen
    class Arguments:
        pass

    assert schema_of(Arguments) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (type(None), {"type": "null"}),
        (Table, {"type": "string"}),
        (TypeAliasType("Names", list[str]), {"type": "array", "items": {"type": "string"}}),
        (list[None], {"type": "array", "items": {"type": "null"}}),
        (int | None, {"type": ["integer", "null"]}),
        (int | str, {"type": ["integer", "string"]}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[int] | None, {"type": ["array", "null"], "items": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1] | None, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        (Order, {"type": "string", "enum": ["up", "down"]}),
        (Order | None, {"type": ["string", "null"], "enum": ["up", "down", None]}),
        (
            tuple[int, str],
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
                "minItems": 2,
            },
        ),
    ],
)
def test_each_supported_type_has_its_schema(hint: Any, schema: object) -> None:
    """Every supported type becomes the plainest schema that says it."""
    assert of(hint) == schema


def test_a_nested_class_stands_in_place_and_is_closed() -> None:
    """A nested class is closed where it stands, alone, optional or in a list."""
    inner = {
        "type": "object",
        "properties": {
            "first": {"type": "integer"},
            "last": {"type": ["integer", "null"], "default": None},
        },
        "required": ["first"],
        "additionalProperties": False,
    }

    assert of(Range) == inner
    assert of(Range | None) == {**inner, "type": ["object", "null"]}
    assert of(list[Range]) == {"type": "array", "items": inner}


def test_members_of_a_union_whose_rules_could_meet_stand_apart() -> None:
    """Two objects, or a choice beside a free type, become `anyOf`, and every object says closed."""
    two = of(Range | Span | None)
    choice = of(Literal["all"] | int)

    assert [form["type"] for form in two["anyOf"]] == ["object", "object", "null"]
    assert all(form["additionalProperties"] is False for form in two["anyOf"][:2])
    assert choice == {"anyOf": [{"type": "string", "enum": ["all"]}, {"type": "integer"}]}


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Annotated[int, Arg("How many.", ge=1, le=50)], {"minimum": 1, "maximum": 50}),
        (Annotated[float, Arg("How many.", gt=0, lt=1)], {"exclusiveMinimum": 0}),
        (Annotated[str, Arg("How many.", min_length=1, max_length=9)], {"minLength": 1}),
        (Annotated[str | None, Arg("How many.", pattern="^a")], {"pattern": "^a"}),
        (Annotated[list[str], Arg("How many.", max_length=3)], {"maxItems": 3}),
        (Annotated[dict[str, int], Arg("How many.", max_length=3)], {"maxProperties": 3}),
        (Annotated[int, Doc("How many."), annotated_types.Interval(ge=1, lt=9)], {"minimum": 1}),
        (Annotated[str, "How many.", annotated_types.Len(2, 5)], {"minLength": 2, "maxLength": 5}),
        (Annotated[int, "How many.", annotated_types.MultipleOf(5)], {"multipleOf": 5}),
    ],
)
def test_documentation_and_bounds_are_read_from_annotations(hint: Any, expected: Any) -> None:
    """`Arg`, annotated-types, `Doc` and a plain text all say the same things in the schema."""
    schema = of(hint)

    assert schema["description"] == "How many."
    assert expected.items() <= schema.items()


def test_arg_can_be_hashed_and_compared() -> None:
    """`Annotated` hashes what it holds, so equal `Arg`s are equal and hash alike."""
    assert Arg("x", ge=1) == Arg("x", ge=1)
    assert hash(Arg("x", ge=1)) == hash(Arg("x", ge=1))
    assert Arg.__module__ == "toolseam"


def test_the_key_is_the_alias_of_the_field() -> None:
    """The model sees what `__init__` takes: the alias, or the name without its underscore."""

    @attrs.frozen
    class Arguments:
        _table: str
        begin: str = attrs.field(alias="start", default="")

    assert list(schema_of(Arguments)["properties"]) == ["table", "start"]


def test_a_field_that_is_no_parameter_is_no_argument() -> None:
    """What `__init__` does not take does not appear."""

    @attrs.frozen
    class Arguments:
        table: str
        seen: int = attrs.field(init=False, default=0)

    assert list(schema_of(Arguments)["properties"]) == ["table"]


def test_inherited_fields_come_first() -> None:
    """A subclass takes its base's arguments too."""

    @attrs.frozen
    class Arguments(Range):
        label: str = ""

    assert list(schema_of(Arguments)["properties"]) == ["first", "last", "label"]


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (list[str], attrs.Factory(list), []),
        (dict[str, int], attrs.Factory(dict), {}),
        (tuple[str, ...], attrs.Factory(tuple), []),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (Order, Order.DOWN, "down"),
        (dict[str, Order], {"a": Order.UP}, {"a": "up"}),
        (list[Order], [Order.UP], ["up"]),
        (int | None, None, None),
    ],
)
def test_a_constant_default_is_written_as_json(hint: Any, default: Any, written: object) -> None:
    """Defaults are constants of the schema; the three empty containers count as such."""
    assert of(hint, default)["default"] == written


def explode() -> list[str]:
    """Fail the test that calls it: no factory of an author runs for a schema."""
    raise AssertionError


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (list[str], attrs.Factory(explode)),
        (list[str], attrs.Factory(lambda self: [self.y], takes_self=True)),
        (str, Path("x")),
        (Range, Range(1)),
    ],
)
def test_a_default_that_is_no_constant_is_refused(hint: Any, default: Any) -> None:
    """A factory is not run, and an object is no JSON constant; the field is named."""
    with pytest.raises(SpecError, match=r"Made\.x"):
        schema_of(one(hint, default))


@pytest.mark.parametrize("default", ["text", None, 1.5, True])
def test_a_default_that_breaks_its_own_type_is_refused(default: object) -> None:
    """A default must fit the schema that it stands in."""
    with pytest.raises(SpecError, match=r"\$\.properties\.x\.default"):
        close(schema_of(one(int, default)))


@pytest.mark.parametrize(
    ("hint", "advice"),
    [
        (Any, "a JSON type"),
        (list, r"list\[X\]"),
        (set[str], r"list\[X\]"),
        (dict, r"dict\[str, X\]"),
        (dict[int, str], r"dict\[str, X\]"),
        (bytes, "base64"),
        (Path, "str"),
        (Bits, "Enum"),
        (complex, "attrs class"),
        (Literal[Order.UP], "choices"),
    ],
)
def test_a_type_without_json_form_is_refused_with_advice(hint: Any, advice: str) -> None:
    """The refusal names the field and says what to write instead."""
    with pytest.raises(SpecError, match=rf"Made\.x.*{advice}"):
        schema_of(one(hint))


@pytest.mark.parametrize(
    "hint",
    [
        Annotated[str, Arg(ge=1)],
        Annotated[int, Arg(min_length=1)],
        Annotated[int, Arg(pattern="a")],
        Annotated[bool, Arg(le=1)],
        Annotated[str | list[str], Arg(max_length=3)],
    ],
)
def test_a_bound_that_says_nothing_about_its_type_is_refused(hint: Any) -> None:
    """A bound that would be ignored is a mistake of the author, and named."""
    with pytest.raises(SpecError, match=r"Made\.x"):
        schema_of(one(hint))


def test_a_converter_is_refused() -> None:
    """Nothing of the author's runs before the call, so a field has no converter."""

    @attrs.frozen
    class Arguments:
        limit: int = attrs.field(converter=int)

    with pytest.raises(SpecError, match=r"Arguments\.limit.*converter"):
        schema_of(Arguments)


def test_a_class_that_contains_itself_is_refused() -> None:
    """Recursion needs `$defs`, which only a JSON Schema has."""
    with pytest.raises(SpecError, match=r"Tree contains itself.*\$defs"):
        schema_of(Tree)


def test_annotations_that_cannot_be_resolved_are_refused_with_advice() -> None:
    """A class inside a function whose annotations are texts says so, instead of a NameError."""

    @attrs.frozen
    class Inner:
        x: int

    @attrs.frozen
    class Arguments:
        inner: "Inner"

    with pytest.raises(SpecError, match=r"Arguments.*'Inner'.*module level"):
        schema_of(Arguments)


@pytest.mark.parametrize(
    "text",
    [
        "int",
        "None",
        "Annotated[int | None, Arg('How many.', ge=1)]",
        "list['Span']",
        "Annotated[dict[str, 'Span'], 'text']",
        "Literal['a', 'b']",
        "'int'",
    ],
)
def test_postponed_annotations_are_what_typing_makes_of_them(text: str) -> None:
    """Texts that are resolved without `typing` come to the same, and so do those that are not."""
    made = postponed(text)

    assert hints_of(made) == typing.get_type_hints(made, include_extras=True)


def test_inherited_fields_are_resolved_too() -> None:
    """A class has the arguments of those that it extends."""

    @attrs.frozen
    class Arguments(Range):
        more: "int" = 0

    assert schema_of(Arguments)["properties"].keys() == {"first", "last", "more"}


def test_a_text_that_is_no_type_is_refused() -> None:
    """Two types are not one."""
    with pytest.raises(SpecError, match=r"Made.*cannot be resolved"):
        schema_of(postponed("int, str"))


def test_what_is_no_attrs_class_is_refused() -> None:
    """A plain class is refused, with the line that is missing."""
    with pytest.raises(SpecError, match=r"int is no attrs class.*@attrs\.frozen"):
        schema_of(int)


def test_a_field_without_a_type_is_refused() -> None:
    """Every argument needs a type."""
    with pytest.raises(SpecError, match=r"Made\.x.*no type"):
        schema_of(attrs.make_class("Made", ["x"]))


def test_the_second_opinion_agrees_on_what_is_a_schema() -> None:
    """The reference implementation takes every schema that we make for one of draft 2020-12."""

    @attrs.frozen
    class Arguments:
        one: Annotated[str | None, Arg("A text.", max_length=3, pattern="^a")] = None
        two: Range | Span | None = None
        three: tuple[int, Order] = (1, Order.UP)
        four: dict[str, list[Range]] = attrs.Factory(dict)

    jsonschema.Draft202012Validator.check_schema(close(schema_of(Arguments)))
