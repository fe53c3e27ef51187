"""What can be said of a schema without the validator (contract §3).

Importing the validator costs more than a bare start of Python, and most schemas consist of
keywords whose soundness shows at a glance. Here a yes is certain; a no means: ask the validator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES: dict[type, frozenset[str]] = {
    bool: frozenset({"boolean"}),
    dict: frozenset({"object"}),
    float: frozenset({"number"}),
    int: frozenset({"integer", "number"}),
    list: frozenset({"array"}),
    str: frozenset({"string"}),
    type(None): frozenset({"null"}),
}
_NAMES = frozenset[str]().union(*_TYPES.values())
_INFINITE = float("inf")
# Up to here every engine has the same number, whatever it keeps numbers in.
_EXACT = 2**53


def is_plain(rules: dict[str, Any]) -> bool:
    """Tell whether each keyword of one schema is sound; the schemas below it are not looked at."""
    return all(key in _SOUND and _SOUND[key](value) for key, value in rules.items())


def fits_plainly(rules: dict[str, Any], value: object) -> bool:
    """Tell whether a JSON value fits a plain schema; of lists and objects only empty ones do."""
    declared = rules.get("type", [])
    types = [declared] if isinstance(declared, str) else declared
    return (
        "anyOf" not in rules
        and is_plain(rules)
        and not _TYPES[type(value)].isdisjoint(types)
        and ("enum" not in rules or any(_is_same(value, choice) for choice in rules["enum"]))
        and _is_bounded(rules, value)
    )


def _is_same(value: object, choice: object) -> bool:
    return type(value) is type(choice) and value == choice


def _is_bounded(rules: dict[str, Any], value: object) -> bool:
    if isinstance(value, str):
        return _is_within(rules, len(value), "minLength", "maxLength")
    if isinstance(value, dict | list):
        return not value and rules.keys().isdisjoint({"minItems", "minProperties", "required"})
    if value is None or isinstance(value, bool):
        return True
    number = cast("float", value)
    least, most = (
        rules.get("exclusiveMinimum", -_INFINITE),
        rules.get("exclusiveMaximum", _INFINITE),
    )
    return least < number < most and _is_within(rules, number, "minimum", "maximum")


def _is_within(rules: dict[str, Any], measure: float, least: str, most: str) -> bool:
    return bool(rules.get(least, -_INFINITE) <= measure <= rules.get(most, _INFINITE))


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in _NAMES
    return _is_names(value) and _NAMES.issuperset(cast("list[str]", value))


def _is_names(value: object) -> bool:
    """Tell whether a value is a list of texts, at least one and none twice."""
    if not isinstance(value, list):
        return False
    names = cast("list[object]", value)
    return {*map(type, names)} == {str} and len({*names}) == len(names)


def _is_choices(value: object) -> bool:
    return _is_list(value) and all(
        choice is None or isinstance(choice, str | bool) or _is_number(choice)
        for choice in cast("list[object]", value)
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list) and value != []


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and -_EXACT <= cast("float", value) <= _EXACT


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _EXACT


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_any(_: object) -> bool:
    return True


# Whoever asks looks at the schemas below by himself, and at the default by `fits_plainly`.
_SOUND: dict[str, Callable[[object], bool]] = {
    "additionalProperties": _is_any,
    "anyOf": _is_list,
    "default": _is_any,
    "description": _is_text,
    "enum": _is_choices,
    "exclusiveMaximum": _is_number,
    "exclusiveMinimum": _is_number,
    "items": _is_any,
    "maxItems": _is_count,
    "maxLength": _is_count,
    "maxProperties": _is_count,
    "maximum": _is_number,
    "minItems": _is_count,
    "minLength": _is_count,
    "minProperties": _is_count,
    "minimum": _is_number,
    "prefixItems": _is_list,
    "properties": _is_object,
    "required": _is_names,
    "title": _is_text,
    "type": _is_type,
}
