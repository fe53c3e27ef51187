"""OpenAI's strict form of a schema, where there is one (P11).

In strict mode the model fills in every key, so an optional one becomes one that may be null;
§4 of the contract drops such a null again. Where that would not work, or where a rule cannot be
told without changing what is meant, there is no strict form.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 10
"""Objects and arrays in one another."""
CHOICES = 1_000
"""Members of all enums."""
PROPERTIES = 5_000

_REF = "#/$defs/"
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_WORDS = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated"),
        *("readOnly", "writeOnly", "$comment", "$defs"),
    }
)
"""Keywords that judge nothing."""
_KEPT = frozenset(
    {
        *("title", "description", "type", "enum", "const", "pattern", "multipleOf"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
    }
)
_UNTOLD = frozenset(
    {
        *("allOf", "not", "if", "dependentSchemas", "dependentRequired"),
        *("patternProperties", "unevaluatedProperties", "unevaluatedItems", "prefixItems"),
    }
)
_OWN_SYNTAX = re.compile(r"\(\?(?!:)|\[\[|\[:|&&|--|~~|\\[^dDwWsSbBnrtfv0.\\/\-+*?()\[\]{}^$|]")
"""What is the regular expression of one engine, and not of every one."""
_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


class Unstrict(Exception):
    """There is no strict form; the text says why."""


def strict_form(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the strict form of a closed schema, which stays as it is; raises `Unstrict`.

    What the strict form admits the tool's own schema admits too, once nulls of optional keys are
    dropped, but for bounds that strict mode cannot be told (lengths, counts of keys).
    """
    return _Strict(schema).root()


class _Strict:
    """One schema on its way; it counts what strict mode bounds."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._defs: dict[str, Any] = schema.get("$defs", {})
        self._choices = 0
        self._properties = 0

    def root(self) -> dict[str, Any]:
        """Return the whole."""
        defs = {name: self._form(each, 0) for name, each in self._defs.items()}
        root = self._form(self._schema, 0)
        if not {"anyOf", "enum", "const", "$ref"}.isdisjoint(root):
            raise Unstrict("a choice at the top")
        if defs:
            root["$defs"] = defs
        self._refuse_unreached(self._schema, set(), inside=False)
        return root

    def _form(self, given: object, depth: int) -> dict[str, Any]:
        if not isinstance(given, dict):
            raise Unstrict("a schema that takes anything, or nothing")
        if depth > DEPTH:
            raise Unstrict(f"more than {DEPTH} levels")
        rules = cast("dict[str, Any]", given)
        untold = _UNTOLD.intersection(rules)
        if untold:
            raise Unstrict(f"{min(untold)} cannot be told")
        made = {key: value for key, value in rules.items() if key in _KEPT}
        if rules.get("format") in _FORMATS:
            made["format"] = rules["format"]
        if "pattern" in made and _OWN_SYNTAX.search(made["pattern"]):
            del made["pattern"]
        self._tell_default(rules, made)
        if "$ref" in rules:
            return self._reference(rules, made)
        if "anyOf" in rules or "oneOf" in rules:
            return self._choice(rules, made, depth)
        self._type(rules, made)
        types = _types(made)
        if "object" in types:
            self._object(rules, made, depth)
        if "array" in types:
            made["items"] = self._form(rules.get("items"), depth + 1)
        return made

    @staticmethod
    def _tell_default(rules: dict[str, Any], made: dict[str, Any]) -> None:
        default = rules.get("default")
        if isinstance(default, str | int | float):
            import json

            told = f"Default: {json.dumps(default, ensure_ascii=False)}."
            made["description"] = f"{made.get('description', '')} {told}".strip()

    @staticmethod
    def _reference(rules: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
        if not _WORDS.issuperset(rules.keys() - {"$ref"}):
            raise Unstrict("a reference with rules beside it")
        target = {"$ref": rules["$ref"]}
        # A reference stands alone.
        return {**made, "anyOf": [target]} if made else target

    def _choice(self, rules: dict[str, Any], made: dict[str, Any], depth: int) -> dict[str, Any]:
        if not _WORDS.issuperset(rules.keys() - {"anyOf", "oneOf"}) or (
            "anyOf" in rules and "oneOf" in rules
        ):
            raise Unstrict("a choice with rules beside it")
        branches: list[object] = rules.get("anyOf") or rules.get("oneOf") or []
        made["anyOf"] = [self._form(branch, depth) for branch in branches]
        return made

    def _type(self, rules: dict[str, Any], made: dict[str, Any]) -> None:
        """Write down the type that an enum or a constant has anyway."""
        values: list[Any] = [
            *rules.get("enum", ()),
            *([rules["const"]] if "const" in rules else ()),
        ]
        self._choices += len(values)
        if self._choices > CHOICES:
            raise Unstrict(f"more than {CHOICES:,} choices")
        if "type" in made:
            return
        kinds = list(dict.fromkeys(_kind(value) for value in values))
        if not kinds or "" in kinds:
            raise Unstrict("a schema without a type")
        made["type"] = kinds[0] if len(kinds) == 1 else kinds

    def _object(self, rules: dict[str, Any], made: dict[str, Any], depth: int) -> None:
        if rules.get("additionalProperties") is not False:
            raise Unstrict("an open map")
        properties: dict[str, Any] = rules.get("properties", {})
        required: list[str] = rules.get("required", [])
        if not set(required) <= properties.keys():
            raise Unstrict("a required key that is not described")
        self._properties += len(properties)
        if self._properties > PROPERTIES:
            raise Unstrict(f"more than {PROPERTIES:,} properties")
        made["properties"] = told = dict[str, Any]()
        for name, child in properties.items():
            form = self._form(child, depth + 1)
            if name not in required and not self._admits_null(child):
                form = _nullable(form)
            told[name] = form
        made["required"] = list(properties)
        made["additionalProperties"] = False

    # -- nulls ---------------------------------------------------------------------------------

    def _admits_null(self, given: object, seen: frozenset[str] = frozenset()) -> bool:
        """Tell whether a schema that has a strict form takes null."""
        rules = cast("dict[str, Any]", given)
        if "type" in rules and "null" not in _types(rules):
            return False
        if None not in rules.get("enum", [None]) or rules.get("const") is not None:
            return False
        branches: list[object] = rules.get("anyOf") or rules.get("oneOf") or []
        if branches and not any(self._admits_null(branch, seen) for branch in branches):
            return False
        if "$ref" in rules:
            name: str = rules["$ref"]
            return name not in seen and self._admits_null(self._target(name), seen | {name})
        return True

    def _target(self, reference: str) -> object:
        return self._defs[reference.removeprefix(_REF)]

    def _refuse_unreached(
        self, given: object, seen: set[tuple[str, bool]], *, inside: bool
    ) -> None:
        """Refuse optional keys of which a null would not be taken for absence (§4).

        Nulls are dropped where a schema speaks of one thing outright, never inside a choice; and
        null is no absence where the key admits it and has another default.
        """
        rules = cast("dict[str, Any]", given)
        required = rules.get("required", ())
        for name, child in rules.get("properties", {}).items():
            if name in required:
                continue
            nullable = self._admits_null(child)
            if inside and not nullable:
                raise Unstrict("an optional key inside a choice")
            if nullable and any(each.get("default") is not None for each in self._steps(child)):
                raise Unstrict("null is not the default")
        for child, deeper in self._below(rules):
            self._refuse_unreached(child, seen, inside=inside or deeper)
        if "$ref" in rules and (rules["$ref"], inside) not in seen:
            seen.add((rules["$ref"], inside))
            self._refuse_unreached(self._target(rules["$ref"]), seen, inside=inside)

    @staticmethod
    def _below(rules: dict[str, Any]) -> Iterator[tuple[object, bool]]:
        for child in rules.get("properties", {}).values():
            yield child, False
        if "items" in rules:
            yield rules["items"], False
        for keyword in ("anyOf", "oneOf"):
            for branch in rules.get(keyword, ()):
                yield branch, True

    def _steps(self, given: object) -> Iterator[dict[str, Any]]:
        """Follow references, step by step."""
        seen: set[str] = set()
        rules = cast("dict[str, Any]", given)
        while True:
            yield rules
            name = rules.get("$ref", "")
            if not name or name in seen:
                return
            seen.add(name)
            rules = cast("dict[str, Any]", self._target(name))


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "")


def _types(rules: dict[str, Any]) -> list[str]:
    found = rules.get("type", [])
    return [found] if isinstance(found, str) else found


def _nullable(form: dict[str, Any]) -> dict[str, Any]:
    """Return a strict form that takes null besides."""
    if "anyOf" in form:
        return {**form, "anyOf": [*form["anyOf"], {"type": "null"}]}
    types = _types(form)
    if "enum" in form and "const" not in form:
        return {**form, "enum": [*form["enum"], None], "type": [*types, "null"]}
    if {"object", "array"}.isdisjoint(types) and "const" not in form and "$ref" not in form:
        return {**form, "type": [*types, "null"]}
    words: dict[str, Any] = {key: form[key] for key in ("title", "description") if key in form}
    rest = {key: value for key, value in form.items() if key not in words}
    return {**words, "anyOf": [rest, {"type": "null"}]}
