"""From an attrs class to the JSON Schema of its arguments (contract §3, §4)."""

from __future__ import annotations

import enum
import sys
import types
import typing
from typing import Annotated, Any, Literal, Union, cast

import attrs

from toolseam._errors import SpecError, publish

_SCALARS: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_INSTEAD = {
    "Any": "a JSON type",
    "bytes": "str, base64 if need be",
    "date": "str",
    "datetime": "str",
    "Decimal": "str",
    "dict": "dict[str, X]",
    "frozenset": "list[X]",
    "list": "list[X]",
    "Mapping": "dict[str, X]",
    "object": "a JSON type",
    "Path": "str",
    "Sequence": "list[X]",
    "set": "list[X]",
    "tuple": "tuple[X, ...]",
    "UUID": "str",
}
_WRITE = "str, int, float, bool, Literal, an Enum, list[X], dict[str, X] or an attrs class"
_NUMBERS = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


@attrs.frozen
class Arg:
    """Documentation and bounds of one argument: `Annotated[int, Arg("How many.", ge=1, le=50)]`.

    Args:
        description: what the model is told about the argument.
        ge, le, gt, lt: inclusive and exclusive bounds of a number.
        min_length, max_length: characters of a text, items of a list, keys of a mapping.
        pattern: a regular expression that the text must contain a match of; no look-around and
            no back-reference, since a linear engine runs it.

    A bound on a type that it says nothing about is refused with `SpecError` (§3).
    """

    description: str = ""
    ge: float | None = attrs.field(default=None, kw_only=True)
    le: float | None = attrs.field(default=None, kw_only=True)
    gt: float | None = attrs.field(default=None, kw_only=True)
    lt: float | None = attrs.field(default=None, kw_only=True)
    min_length: int | None = attrs.field(default=None, kw_only=True)
    max_length: int | None = attrs.field(default=None, kw_only=True)
    pattern: str | None = attrs.field(default=None, kw_only=True)


publish(globals(), "Arg")


def schema_of(cls: type) -> dict[str, Any]:
    """Return the closed JSON Schema (draft 2020-12) of an attrs class.

    Fields may be `str`, `int`, `float`, `bool`, `None`, `Literal`, an `Enum`, `list`, `tuple`,
    `dict[str, X]`, another attrs class, and unions of these. `Annotated` adds documentation and
    bounds: `Arg`, annotated-types, `typing_extensions.Doc` or a plain text. The key is the
    field's alias. A nested class stands in place, so one that contains itself is refused.

    Raises `SpecError`, naming the field and what to write instead, for everything else, for a
    converter, and for a default that is no constant (§4).
    """
    return _of_class(cls, ())


def schema_of_type(hint: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - a type expression
    """Return the schema of one type; `where` names the field in the `SpecError` of a refusal."""
    return _of_type(hint, where, ())


def hints_of(cls: type) -> dict[str, Any]:
    """Return the resolved type of each field that is an argument, by the field's name."""
    hints = _evaluated(cls)
    if hints is not None:
        return hints
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as error:
        name = getattr(error, "name", None)
        what = f"the annotation {name!r}" if name else "an annotation"
        raise SpecError(
            f"{cls.__name__}: {what} cannot be resolved; define the class and its types at module "
            f"level and import them outside TYPE_CHECKING"
        ) from None
    return {field.name: hints.get(field.name, field.type) for field in fields_of(cls)}


def _evaluated(cls: type) -> dict[str, Any] | None:
    """Resolve annotations that are texts, as a module that postpones them has, or return None.

    `typing` comes to the same, and would be a twentieth of what a listing of many tools costs. It
    is asked where this is not the whole story: names that are unknown here, texts within types,
    fields of another class.
    """
    fields: list[Any] = fields_of(cls)
    if not all(type(field.type) is str and not field.inherited for field in fields):
        return None
    try:
        own, module = dict(vars(cls)), vars(sys.modules[cls.__module__])
        hints = [eval(field.type, own, module) for field in fields]  # noqa: S307 - the author's code
    except Exception:  # noqa: BLE001 - `typing` says what is wrong
        return None
    if not all(map(_is_whole, hints)):
        return None
    return {field.name: hint for field, hint in zip(fields, hints, strict=True)}


def _is_whole(hint: Any) -> bool:  # noqa: ANN401
    """Tell whether this is a type, and no part of it still a text."""
    if isinstance(hint, str | tuple | typing.ForwardRef | None):
        return False
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _is_whole(args[0])
    return origin is Literal or all(map(_is_whole, args))


def fields_of(cls: type) -> list[attrs.Attribute[Any]]:
    """Return the fields that are arguments: those that `__init__` takes."""
    return [field for field in attrs.fields(cls) if field.init]


def _of_class(cls: type, above: tuple[type, ...]) -> dict[str, Any]:
    if not attrs.has(cls):
        raise SpecError(f"{cls.__name__} is no attrs class; write @attrs.frozen above it")
    if cls in above:
        raise SpecError(f"{cls.__name__} contains itself; give a JSON Schema with $defs instead")
    properties: dict[str, Any] = {}
    required: list[str] = []
    hints = hints_of(cls)
    for field in fields_of(cls):
        where, key = f"{cls.__name__}.{field.name}", cast("str", field.alias)
        if cast("Any", field).converter is not None:
            raise SpecError(f"{where}: a converter is refused; convert inside execute")
        if hints[field.name] is None and field.type is None:
            raise SpecError(f"{where}: has no type; annotate it")
        schema = _of_type(hints[field.name], where, (*above, cls))
        if field.default is attrs.NOTHING:
            required.append(key)
        else:
            schema = {**schema, "default": _constant(field.default, where)}
        properties[key] = schema
    closed: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        closed["required"] = required
    return {**closed, "additionalProperties": False}


def _constant(default: object, where: str) -> object:
    if isinstance(default, enum.Enum):
        return default.value
    factory = getattr(default, "factory", None)
    if factory is not None:
        if factory is list or factory is tuple:
            return []
        if factory is dict:
            return {}
        raise SpecError(f"{where}: a default is a constant; no factory but list, dict and tuple")
    if isinstance(default, list | tuple):
        return [_constant(item, where) for item in cast("list[object]", default)]
    if isinstance(default, dict):
        pairs = cast("dict[object, object]", default).items()
        return {key: _constant(item, where) for key, item in pairs}
    if type(default) in _SCALARS:
        return default
    kind = type(default).__name__
    raise SpecError(f"{where}: the default is a {kind}, which is no JSON constant")


def _of_type(hint: Any, where: str, above: tuple[type, ...]) -> dict[str, Any]:  # noqa: ANN401
    hint = unwrapped(hint)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is None:
        hint = type(None)
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if origin is Annotated:
        return _annotated(_of_type(args[0], where, above), args[1:], where)
    if origin is Literal:
        return _of_values(args, where)
    if origin in (Union, types.UnionType):
        return _union([_of_type(arg, where, above) for arg in args])
    if origin in (list, tuple, dict) and args:
        return _of_container(origin, args, where, above)
    if isinstance(hint, type) and issubclass(hint, enum.Enum) and not issubclass(hint, enum.Flag):
        return _of_values([member.value for member in hint], where)
    if isinstance(hint, type) and attrs.has(hint):
        return _of_class(hint, above)
    raise _no_form(origin or hint, where)


def _no_form(hint: object, where: str) -> SpecError:
    name = getattr(hint, "__name__", str(hint))
    return SpecError(f"{where}: {name} has no JSON form; write {_INSTEAD.get(name, _WRITE)}")


def _of_container(
    origin: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    where: str,
    above: tuple[type, ...],
) -> dict[str, Any]:
    if origin is list:
        return {"type": "array", "items": _of_type(args[0], where, above)}
    if origin is tuple:
        return _of_tuple(args, where, above)
    if unwrapped(args[0]) is not str:
        raise SpecError(f"{where}: the keys of a JSON object are text; write dict[str, X]")
    return {"type": "object", "additionalProperties": _of_type(args[1], where, above)}


def unwrapped(hint: Any) -> Any:  # noqa: ANN401
    """Return what a `NewType` or a `type X = …` stands for."""
    while True:
        inner = getattr(hint, "__supertype__", None)
        if inner is None and type(hint).__name__ == "TypeAliasType":
            inner = hint.__value__
        if inner is None:
            return hint
        hint = inner


def _of_values(values: typing.Iterable[object], where: str) -> dict[str, Any]:
    listed = list(values)
    if not all(type(value) in _SCALARS for value in listed):
        raise SpecError(f"{where}: the choices are texts, numbers, booleans or None")
    kinds = list(dict.fromkeys(_SCALARS[type(value)] for value in listed))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": listed}


def _of_tuple(args: tuple[Any, ...], where: str, above: tuple[type, ...]) -> dict[str, Any]:
    if len(args) > 1 and args[1] is Ellipsis:
        return {"type": "array", "items": _of_type(args[0], where, above)}
    return {
        "type": "array",
        "prefixItems": [_of_type(arg, where, above) for arg in args],
        "items": False,
        "minItems": len(args),
    }


def types_of(schema: dict[str, Any]) -> list[str]:
    """Return the types that a schema declares outright, in order; empty if it declares none."""
    declared = schema.get("type", [])
    return [declared] if isinstance(declared, str) else list(declared)


def _union(members: list[dict[str, Any]]) -> dict[str, Any]:
    """Put members side by side in one schema if none of their rules can meet, else in `anyOf`.

    One schema keeps what §4 does for a declared type (repairs, defaults) for `X | None` too.
    """
    merged: dict[str, Any] = {}
    kinds: list[str] = []
    choices = [member for member in members if "enum" in member]
    for member in members:
        rules = {key: value for key, value in member.items() if key not in ("type", "enum")}
        closed_choice = "enum" in member or types_of(member) == ["null"]
        if (
            not types_of(member)
            or not merged.keys().isdisjoint(rules)
            or not set(kinds).isdisjoint(types_of(member))
            or (choices and not closed_choice)
        ):
            return {"anyOf": members}
        merged |= rules
        kinds += types_of(member)
    both = {"type": kinds[0] if len(kinds) == 1 else kinds, **merged}
    if choices:
        null = [None] if any(types_of(member) == ["null"] for member in members) else []
        listed = [value for member in choices for value in member["enum"]]
        both["enum"] = listed + [value for value in null if value not in listed]
    return both


def _annotated(schema: dict[str, Any], notes: tuple[object, ...], where: str) -> dict[str, Any]:
    """Add what `Arg`, annotated-types, `Doc` and plain texts say, read by attribute."""
    schema = dict(schema)
    kinds = types_of(schema)
    for note in notes:
        if isinstance(note, str):
            schema["description"] = note
            continue
        text = getattr(note, "description", None) or getattr(note, "documentation", None)
        if isinstance(text, str) and text:
            schema["description"] = text
        _bounds(schema, kinds, note, where)
    return schema


def _bounds(schema: dict[str, Any], kinds: list[str], note: object, where: str) -> None:
    for key, keyword in _NUMBERS.items():
        bound = getattr(note, key, None)
        if bound is not None:
            if not {"integer", "number"} & set(kinds):
                raise SpecError(f"{where}: {key} bounds numbers, this is {_named(kinds)}")
            schema[keyword] = bound
    for place, key in enumerate(("min_length", "max_length")):
        bound = getattr(note, key, None)
        if bound is None or (place == 0 and bound == 0):
            continue
        sized = [kind for kind in kinds if kind in _LENGTHS]
        if len(sized) != 1:
            raise SpecError(f"{where}: {key} bounds one text, list or dict; {_named(kinds)}")
        schema[_LENGTHS[sized[0]][place]] = bound
    pattern = getattr(note, "pattern", None)
    if pattern is not None:
        if "string" not in kinds:
            raise SpecError(f"{where}: a pattern is for text, this is {_named(kinds)}")
        schema["pattern"] = pattern


def _named(kinds: list[str]) -> str:
    return " or ".join(kinds) or "a union"
