"""One schema out of many: references followed, a branch chosen, what meets put together.

A value that fits the folded schema fits the given one in nearly every case; the rest is left to
a validator, which judges whole values anyway.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Schema: TypeAlias = bool | dict[str, Any]

_DEEPEST = 40
_REF = "#/$defs/"
_APART = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})
_HIGHEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_LOWEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_SCHEMAS = frozenset({"items", "contains", "propertyNames"})
_OBJECTS = frozenset({"properties", "patternProperties", "additionalProperties"})


def fold(
    node: Schema, defs: Mapping[str, Schema], choose: Callable[[int], int], depth: int = 0
) -> dict[str, Any] | None:
    """Return one schema without references and combinators, or None where nothing can fit.

    Args:
        node: the schema.
        defs: what `$ref` may name.
        choose: given a number of branches, at least one, returns which one is taken.
        depth: how many references and branches lead here; past 40 nothing fits.
    """
    if node is False or depth > _DEEPEST:
        return None
    if node is True:
        return {}
    own = {key: node[key] for key in node if key not in _APART}
    whole = meet(own, {"enum": [node["const"]]}) if "const" in node else own
    for part in _parts(node, defs, choose):
        folded = fold(part, defs, choose, depth + 1)
        whole = None if folded is None or whole is None else meet(whole, folded)
        if whole is None:
            return None
    return whole


def _parts(
    node: dict[str, Any], defs: Mapping[str, Schema], choose: Callable[[int], int]
) -> list[Schema]:
    parts: list[Schema] = []
    if "$ref" in node:
        parts.append(defs.get(str(node["$ref"]).removeprefix(_REF), False))
    parts += node.get("allOf", [])
    for key in ("anyOf", "oneOf"):
        if node.get(key):
            parts.append(node[key][choose(len(node[key]))])
    if "if" in node:
        met = choose(2) == 0
        parts += [node["if"], node.get("then", True)] if met else [node.get("else", True)]
    for name, more in node.get("dependentSchemas", {}).items():
        if choose(2):
            parts += [{"required": [name]}, more]
    return parts


def both(one: Schema, other: Schema) -> Schema:
    """Return a schema of what fits two; it is folded when a value is drawn."""
    if one is False or other is False:
        return False
    if one is True or one == {}:
        return other
    if other is True or other == {}:
        return one
    return {"allOf": [one, other]}


def meet(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of what fits two folded schemas, or None where nothing does."""
    found = {**other, **one}
    for key in one.keys() & other.keys() - _OBJECTS:
        found[key] = _meet_key(key, one[key], other[key])
    if "type" in one and "type" in other and not found["type"]:
        return None
    if "enum" in found and not found["enum"]:
        return None
    if not _OBJECTS.isdisjoint(one) and not _OBJECTS.isdisjoint(other):
        found |= _meet_objects(one, other)
    return found


def _meet_key(key: str, one: Any, other: Any) -> Any:  # noqa: ANN401 - any keyword's value
    if key in _HIGHEST:
        return max(one, other)
    if key in _LOWEST:
        return min(one, other)
    if key in _SCHEMAS:
        return both(one, other)
    meeting = _MEETINGS.get(key)
    return one if meeting is None else meeting(one, other)


def _meet_first(one: list[Schema], other: list[Schema]) -> list[Schema]:
    longer, shorter = sorted([one, other], key=len, reverse=True)
    return [
        both(each, shorter[place]) if place < len(shorter) else each
        for place, each in enumerate(longer)
    ]


def _meet_steps(one: float, other: float) -> float:
    if isinstance(one, int) and isinstance(other, int):
        return math.lcm(one, other)
    return one


def _meet_needs(one: dict[str, list[str]], other: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: [*one.get(name, []), *other.get(name, [])] for name in {**one, **other}}


def _meet_types(one: list[str], other: list[str]) -> list[str]:
    met = [kind for kind in one if kind in other]
    if "integer" not in met and "integer" in one + other and "number" in one + other:
        met.append("integer")
    return met


def _meet_objects(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    names = {**one.get("properties", {}), **other.get("properties", {})}
    patterns = {**one.get("patternProperties", {}), **other.get("patternProperties", {})}
    met: dict[str, Any] = {
        "properties": {name: both(for_key(one, name), for_key(other, name)) for name in names},
        "additionalProperties": both(
            one.get("additionalProperties", True), other.get("additionalProperties", True)
        ),
    }
    if patterns:
        met["patternProperties"] = {
            pattern: both(
                one.get("patternProperties", {}).get(pattern, True),
                other.get("patternProperties", {}).get(pattern, True),
            )
            for pattern in patterns
        }
    return met


def for_key(rules: Mapping[str, Any], name: str) -> Schema:
    """Return the schema that a folded object schema has for the value of one key."""
    found: Schema = True
    named = rules.get("properties", {})
    matching = [
        schema
        for pattern, schema in rules.get("patternProperties", {}).items()
        if matches(pattern, name)
    ]
    if name not in named and not matching:
        return cast("Schema", rules.get("additionalProperties", True))
    for schema in [*([named[name]] if name in named else []), *matching]:
        found = both(found, schema)
    return found


def matches(pattern: str, text: str) -> bool:
    """Tell whether a text holds a match; a pattern that Python does not read matches nothing."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - one or many
    """Return a list as it is, and anything else as the list of it."""
    return value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]


_MEETINGS: dict[str, Callable[[Any, Any], Any]] = {
    "dependentRequired": _meet_needs,
    "enum": lambda one, other: [value for value in one if value in other],
    "multipleOf": _meet_steps,
    "prefixItems": _meet_first,
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "type": lambda one, other: _meet_types(as_list(one), as_list(other)),
    "uniqueItems": lambda one, other: one or other,
}
