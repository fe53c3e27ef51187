"""From validated JSON to the attrs instance that a tool is called with (contract §4)."""

from __future__ import annotations

import types
import typing
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast

import attrs

from toolseam._schema import fields_of, hints_of, schema_of_type, unwrapped
from toolseam._validator import validator_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import cattrs

    Structure = Callable[[Any], Any]

_AS_IS = frozenset({str, int, float, bool, type(None)})


def structurer(cls: type) -> Callable[[dict[str, Any]], Any]:
    """Return what makes an instance of the attrs class `cls` of arguments that fit its schema.

    A flat class is called directly; only one that nests others, enumerations or tuples needs
    cattrs, which is imported at the first call. What the author's own validators raise comes
    through as it is.
    """
    hints = hints_of(cls)
    if all(_is_plain(hints[field.name]) for field in fields_of(cls)):

        def call(arguments: dict[str, Any]) -> Any:  # noqa: ANN401
            return cls(**arguments)

        return call

    made: list[Structure] = []

    def structure(arguments: dict[str, Any]) -> Any:  # noqa: ANN401
        if not made:
            made.append(_nested(cls))
        return made[0](arguments)

    return structure


def _is_plain(hint: Any) -> bool:  # noqa: ANN401
    """Tell whether validated JSON of this type is what the tool shall get."""
    hint = unwrapped(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _is_plain(args[0])
    if origin in (Union, types.UnionType):
        return all(map(_is_plain, args))
    if origin in (list, dict):
        return _is_plain(args[-1])
    return hint in _AS_IS or hint is None or origin is Literal


def _nested(cls: type) -> Structure:
    import cattrs
    from cattrs.gen import make_dict_structure_fn

    converter = cattrs.Converter(detailed_validation=False)

    def of_class(inner: type) -> Any:  # noqa: ANN401
        return cast("Any", make_dict_structure_fn(inner, converter, _cattrs_use_alias=True))

    def of_union(hint: Any) -> Any:  # noqa: ANN401
        return _of_union(hint, converter)

    converter.register_structure_hook_factory(attrs.has, of_class)
    converter.register_structure_hook_factory(_is_union, of_union)
    converter.register_structure_hook_func(_is_plain, _as_is)
    # cattrs looks these up before any rule, and would convert: 1.9 to 1, "false" to True.
    for scalar in _AS_IS:
        converter.register_structure_hook(scalar, _as_is)
    make = converter.get_structure_hook(cls)
    return lambda arguments: make(arguments, cls)


def _as_is(value: Any, _: object) -> Any:  # noqa: ANN401
    return value


def _is_union(hint: Any) -> bool:  # noqa: ANN401
    return typing.get_origin(hint) in (Union, types.UnionType)


def _of_union(hint: Any, converter: cattrs.Converter) -> Any:  # noqa: ANN401
    """Return the hook of a union: the first member whose own schema the value fits."""
    branches = [
        (
            validator_for(schema_of_type(member, "union")).is_valid,
            converter.get_structure_hook(member),
            member,
        )
        for member in typing.get_args(hint)
    ]

    def structure(value: object, _: object) -> Any:  # noqa: ANN401
        for fits, make, member in branches:
            if fits(value):
                return make(value, member)
        raise ValueError("fits none of the declared forms")

    return structure
