"""The form of a schema in which nothing but what a provider refuses is told in another way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from toolseam._closed import schemas_below

if TYPE_CHECKING:
    from collections.abc import Iterator

_REF = "#/$defs/"
_CHOICES = ("anyOf", "oneOf", "allOf")
_OPENAI = frozenset((*_CHOICES, "enum", "not"))

WIDENED = {
    "openai": _OPENAI,
    "anthropic": frozenset(_CHOICES),
}
"""Keywords that a provider refuses at the top of a schema."""

_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def refusal_of(schema: dict[str, Any], dialect: str) -> str | None:
    """Say why a provider refuses a tool, and every other of the request, however it is put."""
    if dialect != "anthropic":
        return None
    for rules in _schemas(schema):
        for name in rules.get("properties", {}):
            if not _PROPERTY.fullmatch(name):
                return (
                    f"the property {ascii(name)[:70]} is not of letters, digits, _ . - (at most 64)"
                )
    return None


def whole_form(schema: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    """Return a schema of which a provider refuses nothing; it admits all that the given one does.

    Args:
        schema: may be changed.
        refused: keywords that are refused at the top; the properties that stand in a choice
            there are named beside each other instead.
    """
    root = {key: value for key, value in schema.items() if key not in refused}
    if len(root) < len(schema):
        root["properties"] = _merged(schema)
    for rules in _schemas(root):
        types = rules.get("type", [])
        is_array = types == "array" or "array" in types
        if is_array and "items" not in rules and "prefixItems" not in rules:
            rules["items"] = {}
    return root


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of an object and of all choices that it is put together from."""
    merged: dict[str, Any] = {}
    for rules in _parts(schema, schema.get("$defs", {}), set()):
        for name, child in rules.get("properties", {}).items():
            before = merged.get(name)
            if before is None or before == child:
                merged[name] = child
            elif isinstance(before, dict) and before.keys() == {"anyOf"}:
                if child not in before["anyOf"]:
                    merged[name] = {"anyOf": [*cast("list[Any]", before["anyOf"]), child]}
            else:
                merged[name] = {"anyOf": [before, child]}
    return merged


def _parts(rules: dict[str, Any], defs: dict[str, Any], seen: set[str]) -> Iterator[dict[str, Any]]:
    yield rules
    name: str = rules.get("$ref", "").removeprefix(_REF)
    inner: list[Any] = [each for key in _CHOICES for each in rules.get(key, ())]
    if name and name not in seen:
        seen.add(name)
        inner.append(defs[name])
    for each in inner:
        if isinstance(each, dict):
            yield from _parts(cast("dict[str, Any]", each), defs, seen)


def _schemas(node: object) -> Iterator[dict[str, Any]]:
    """Give every schema inside a schema, itself first."""
    if not isinstance(node, dict):
        return
    rules = cast("dict[str, Any]", node)
    yield rules
    for _, child, _ in schemas_below(rules, ()):
        yield from _schemas(child)
