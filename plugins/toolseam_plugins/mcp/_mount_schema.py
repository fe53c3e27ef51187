"""A remote tool's schema in the form that a tool's schema has here (contract §3).

Only the form changes: `definitions` are called `$defs`, and an object says that it is open where
the dialect means it and we want it said. What cannot be said here refuses the tool.
"""

from __future__ import annotations

from typing import Any, cast

_DRAFTS = (
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
_OLD, _NEW = "#/definitions/", "#/$defs/"
_DEEPEST = 60
_NAMED = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
_INSIDE = frozenset({"not", "if", "then", "else", "contains", "propertyNames", "dependentSchemas"})
_TOGETHER = frozenset({"allOf", "anyOf", "oneOf"})
_VALUES = frozenset({"const", "default", "enum", "examples", "required", "type"})
_OPEN = ("additionalProperties", "unevaluatedProperties")


class BadSchema(ValueError):
    """A schema that has no form here; the text says why."""


def adapted(schema: object, *, defaults: bool = True) -> dict[str, Any]:
    """Return a copy of a schema in our form; none at all is that of no arguments.

    Args:
        schema: what the server said.
        defaults: False leaves them out, where one does not fit its own schema.

    Raises `BadSchema`.
    """
    if schema is None:
        return {}
    if not isinstance(schema, dict):
        raise BadSchema("its schema is no object")
    root = dict(cast("dict[str, Any]", schema))
    draft = root.pop("$schema", None)
    if draft is not None and str(draft).rstrip("#") not in _DRAFTS:
        raise BadSchema("its schema is of a dialect that is not read here")
    return cast("dict[str, Any]", _Form(defaults=defaults).node(root, 0, inside=False))


class _Form:
    """Walks a schema once; `inside` is below a keyword that judges the same value again."""

    def __init__(self, *, defaults: bool) -> None:
        self._defaults = defaults

    def node(self, node: object, depth: int, *, inside: bool) -> object:
        if depth > _DEEPEST:
            raise BadSchema("its schema is nested too deeply")
        if isinstance(node, list):
            items = cast("list[object]", node)
            return [self.node(each, depth + 1, inside=inside) for each in items]
        if not isinstance(node, dict):
            return node
        rules = self._rules(cast("dict[str, Any]", node), depth, inside=inside)
        unsaid = not any(key in rules for key in _OPEN)
        together = not _TOGETHER.isdisjoint(rules) or "$ref" in rules
        if unsaid and _is_object(rules) and (inside or together):
            rules["additionalProperties"] = True
        return rules

    def _rules(self, node: dict[str, Any], depth: int, *, inside: bool) -> dict[str, Any]:
        rules: dict[str, Any] = {}
        for word, value in node.items():
            key = "$defs" if word == "definitions" else word
            if key == "default" and not self._defaults:
                continue
            if key in _VALUES:
                rules[key] = value
            elif key == "$ref" and isinstance(value, str):
                rules[key] = _NEW + value[len(_OLD) :] if value.startswith(_OLD) else value
            elif key in _NAMED and isinstance(value, dict):
                deeper = inside or key in _INSIDE
                named = cast("dict[str, object]", value)
                rules[key] = {
                    name: self.node(each, depth + 1, inside=deeper) for name, each in named.items()
                }
            else:
                deeper = inside or key in _INSIDE or key in _TOGETHER
                rules[key] = self.node(value, depth + 1, inside=deeper)
        return rules


def _is_object(rules: dict[str, Any]) -> bool:
    types: object = rules.get("type")
    if types is None:
        return "properties" in rules or "patternProperties" in rules
    return types == "object" or (isinstance(types, list) and "object" in types)
