"""What of a tool a provider refuses or cannot be told, where it stands, and what to write instead.

Adapters lower a schema to what their provider takes, and the seam checks every call against the
tool's own schema. So a finding is about what the model is told, never about what is let through.
Ours save what they can of what is refused: a choice at the top is told beside each other, and only
a tool that cannot be told at all is left out. For Google they send the whole schema, by the API's
own field for it; what is said here of Google is of the classic form, which others send.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import attrs

from toolseam import ToolseamError, ToolSpec
from toolseam.providers import Dialect, Lowering
from toolseam_plugins.conformance._fold import as_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Severity(StrEnum):
    """How much of a tool is lost at a provider.

    `refused`: the provider takes no such tool, and with it none of the others in the request.
    `lossy`: the rule, or strict mode, is left out, so the model hears of it only when a call is
    refused. `lowered`: the adapter says the same in other words, and there is nothing to do.
    """

    REFUSED = "refused"
    LOSSY = "lossy"
    LOWERED = "lowered"


@attrs.frozen
class Finding:
    """One thing that a provider does not take as it is written.

    Args:
        provider: one of `PROVIDERS`.
        keyword: of JSON Schema, or `name`, `description`.
        path: where it stands, for example `$.properties.limit`.
        severity: how much is lost.
        why: what the provider does with it.
        instead: what an author can write.
    """

    provider: str
    keyword: str
    path: str
    severity: Severity
    why: str
    instead: str

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.provider}: {self.path}: {self.keyword}: {self.severity}: {self.why}; "
            f"{self.instead}"
        )


class _Rule(NamedTuple):
    severity: Severity
    why: str
    instead: str


class _Place(NamedTuple):
    """A schema, where it stands, and how deep in objects and arrays.

    `aside` means inside of a keyword that strict mode is not told.
    """

    rules: dict[str, Any]
    path: str
    depth: int
    aside: bool


_Named = tuple[str, _Rule]

_UNSTRICT = "is not strict, so the tool goes out without strict mode"
_PLAIN = "write one schema without it"
_PLAINER = "write plain keys outside of choices, and let null be the default of what may be null"
_DESCRIBE = "say it in the description; the seam checks it all the same"
_COMBINED = "write one object with optional properties, and refuse a wrong mixture in execute"
_MAP = "write a list of objects with a key and a value, both named"

_ROOT = ("anyOf", "oneOf", "allOf", "enum", "not")
_FREE = ("$ref", "enum", "const", "anyOf", "oneOf", "allOf")
_OPEN_WORDS = (
    *("not", "if", "dependentSchemas", "dependentRequired", "patternProperties"),
    *("unevaluatedProperties", "unevaluatedItems"),
)


def _rules(severity: Severity, why: str, instead: str, *keywords: str) -> dict[str, _Rule]:
    return dict.fromkeys(keywords, _Rule(severity, why, instead))


_GOOGLE: Final = {
    **_rules(Severity.LOSSY, "is not in the subset", _PLAIN, *_OPEN_WORDS),
    **_rules(Severity.LOSSY, "is not in the subset", "write the parts as one schema", "allOf"),
    **_rules(
        *(Severity.LOSSY, "is not in the subset", _DESCRIBE),
        *("multipleOf", "uniqueItems", "contains", "propertyNames"),
    ),
    **_rules(
        *(Severity.LOSSY, "is not in the subset", "write an object with a named key for each"),
        "prefixItems",
    ),
    **_rules(Severity.LOWERED, "becomes anyOf", "nothing", "oneOf"),
}
_STRICT: Final = {
    **_rules(Severity.LOSSY, _UNSTRICT, _PLAIN, *_OPEN_WORDS, "allOf"),
    **_rules(Severity.LOSSY, _UNSTRICT, "write an object with a named key for each", "prefixItems"),
    **_rules(
        *(Severity.LOSSY, "is left out in strict mode", _DESCRIBE),
        *("minLength", "maxLength", "uniqueItems", "contains", "propertyNames"),
        *("minProperties", "maxProperties"),
    ),
    **_rules(Severity.LOWERED, "becomes anyOf", "nothing", "oneOf"),
    **_rules(Severity.LOWERED, "is left out; the seam fills it in", "nothing", "default"),
}
_STRICT_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_GOOGLE_FORMATS = frozenset(("float", "double", "int32", "int64"))
_NAMES: Final = {
    "openai": (re.compile(r"[A-Za-z0-9_-]{1,64}"), "letters, digits, _ and -, at most 64"),
    "anthropic": (re.compile(r"[A-Za-z0-9_-]{1,128}"), "letters, digits, _ and -, at most 128"),
    "google": (
        re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}"),
        "a letter or _ first, then letters, digits, _ and -, at most 64",
    ),
    "mcp": (re.compile(r"[A-Za-z0-9_.-]{1,128}"), "letters, digits, _ . and -, at most 128"),
}
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DESCRIPTION = 1_024
_STRICT_DEPTH = 10
_OWN_SYNTAX = re.compile(r"\(\?(?!:)|\[\[|\[:|&&|--|~~|\\[^dDwWsSbBnrtfv0.\\/\-+*?()\[\]{}^$|]")


def lint(
    schema: Mapping[str, Any],
    name: str,
    description: str = "",
    *,
    output_schema: Mapping[str, Any] | None = None,
) -> tuple[Finding, ...]:
    """Return what each provider does not take of a tool as it is written.

    Args:
        schema: the closed JSON Schema of the arguments (contract §3).
        name: the tool's, or a remote server's own.
        description: what the model is told.
        output_schema: of the data that was promised, if any.
    """
    found: list[Finding] = []
    for provider in PROVIDERS:
        named = _NAMES.get(provider)
        if named is not None and not named[0].fullmatch(name):
            rule = _Rule(Severity.LOWERED, f"wants {named[1]}", "it goes out under an alias")
            found.append(_finding(provider, "name", "name", rule))
        root = cast("dict[str, Any]", schema)
        for place in _places(root, "$", 0):
            found += [
                _finding(provider, keyword, place.path, rule)
                for keyword, rule in PROVIDERS[provider](place, root)
            ]
    if not any(each.provider == "openai-strict" and each.why == _UNSTRICT for each in found):
        found += _otherwise_unstrict(schema)
    if len(description) > _DESCRIPTION:
        rule = _Rule(
            Severity.REFUSED, f"more than {_DESCRIPTION:,} characters", "say it more briefly"
        )
        found.append(_finding("openai", "description", "description", rule))
    if output_schema is not None and output_schema.get("type") != "object":
        rule = _Rule(Severity.LOSSY, "structured content is an object", "promise an object")
        found.append(_finding("mcp", "type", "output_schema", rule))
    return tuple(found)


def _otherwise_unstrict(schema: Mapping[str, Any]) -> list[Finding]:
    """Return why our lowering finds no strict form, where no keyword alone forbids one."""
    try:
        spec = ToolSpec(name="x", description="x", effect="read_only", parameters=dict(schema))
    except ToolseamError:
        return []  # it is no tool's schema
    reasons = Lowering(Dialect.OPENAI)([spec]).unstrict.values()
    return [
        Finding("openai-strict", "strict", "$", Severity.LOSSY, f"{why}: {_UNSTRICT}", _PLAINER)
        for why in reasons
    ]


def _finding(provider: str, keyword: str, path: str, rule: _Rule) -> Finding:
    return Finding(provider, keyword, path, *rule)


# -- the providers ---------------------------------------------------------------------------------


def _openai(place: _Place, root: dict[str, Any]) -> Iterator[_Named]:
    rules = place.rules
    if rules is root:
        for keyword in _ROOT:
            if keyword in rules:
                why = "is refused at the top"
                yield keyword, _Rule(Severity.REFUSED, why, _COMBINED)
    if "array" in _types(rules) and "items" not in rules and "prefixItems" not in rules:
        why = "an array without items is refused"
        yield "items", _Rule(Severity.REFUSED, why, "say what the items are")


def _openai_strict(place: _Place, root: dict[str, Any]) -> Iterator[_Named]:
    rules, types = place.rules, _types(place.rules)
    yield from _openai(place, root)
    if place.aside:
        return
    yield from ((key, _STRICT[key]) for key in rules if key in _STRICT)
    if _is_open(rules):
        yield "additionalProperties", _Rule(Severity.LOSSY, _UNSTRICT, _MAP)
    if not types and not any(keyword in rules for keyword in _FREE):
        yield "type", _Rule(Severity.LOSSY, _UNSTRICT, "say which type it has")
    if set(rules.get("properties", {})) - set(rules.get("required", [])):
        why = "optional properties become required ones that may be null"
        yield "required", _Rule(Severity.LOWERED, why, "nothing")
    if rules.get("format", "date") not in _STRICT_FORMATS:
        yield "format", _Rule(Severity.LOSSY, f"{rules['format']} is not known", _DESCRIBE)
    if "$ref" in rules and len(rules) > 1:
        why = "a reference stands alone, so the rest of it is dropped or inlined"
        yield "$ref", _Rule(Severity.LOWERED, why, "nothing")
    if _OWN_SYNTAX.search(rules.get("pattern", "")):
        why = "is of one engine's syntax, and left out in strict mode"
        yield (
            "pattern",
            _Rule(Severity.LOSSY, why, "write it without classes and groups of its own"),
        )
    if place.depth == _STRICT_DEPTH + 1:
        yield "properties", _Rule(Severity.LOSSY, _UNSTRICT, "put less into one another")


def _anthropic(place: _Place, root: dict[str, Any]) -> Iterator[_Named]:
    rules = place.rules
    if rules is root:
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in rules:
                yield keyword, _Rule(Severity.REFUSED, "is refused at the top", _COMBINED)
    for name in rules.get("properties", {}):
        if not _PROPERTY.fullmatch(name):
            why = f"the property {ascii(name)[:70]} is not of letters, digits, _ . - (at most 64)"
            yield "properties", _Rule(Severity.REFUSED, why, "give it another name")


def _google(place: _Place, root: dict[str, Any]) -> Iterator[_Named]:
    rules, types = place.rules, _types(place.rules)
    yield from ((key, _GOOGLE[key]) for key in rules if key in _GOOGLE)
    yield from _google_types(rules, types)
    yield from _google_values(rules, types)
    if _is_open(rules):
        yield "additionalProperties", _Rule(Severity.LOSSY, "only named keys can be told", _MAP)
    elif rules is not root and "object" in types and not rules.get("properties"):
        why = "an object without properties is refused"
        yield "properties", _Rule(Severity.REFUSED, why, "name a property, or leave it out")
    if "$ref" in rules:
        if _reaches(rules["$ref"], rules["$ref"], root, set()):
            why = "references are inlined, and this one leads back to itself"
            yield "$ref", _Rule(Severity.LOSSY, why, "write a list, each item naming its parent")
        else:
            yield "$ref", _Rule(Severity.LOWERED, "references are inlined", "nothing")


def _google_types(rules: dict[str, Any], types: list[str]) -> Iterator[_Named]:
    if "null" in types:
        yield "type", _Rule(Severity.LOWERED, "null becomes nullable", "nothing")
    if len([kind for kind in types if kind != "null"]) > 1:
        yield "type", _Rule(Severity.LOWERED, "several types become anyOf", "nothing")
    if not types and not any(keyword in rules for keyword in _FREE):
        yield "type", _Rule(Severity.LOSSY, "any value cannot be told", "say which type it has")
    if "array" in types and "items" not in rules and "prefixItems" not in rules:
        why = "an array without items is refused, so any item is told as text"
        yield "items", _Rule(Severity.LOSSY, why, "say what the items are")
    form = rules.get("format")
    known = _GOOGLE_FORMATS | ({"date-time"} if "string" in types else set[str]())
    if form is not None and form not in known:
        yield "format", _Rule(Severity.LOSSY, f"{form} is not known", _DESCRIBE)


def _google_values(rules: dict[str, Any], types: list[str]) -> Iterator[_Named]:
    for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        if keyword in rules and types == ["integer"]:
            yield keyword, _Rule(Severity.LOWERED, "becomes the bound that it means", "nothing")
        elif keyword in rules:
            yield keyword, _Rule(Severity.LOSSY, "is not in the subset", "use an inclusive bound")
    for keyword in ("enum", "const"):
        if keyword not in rules:
            continue
        values = as_list(rules[keyword]) if keyword == "enum" else [rules[keyword]]
        if not all(isinstance(value, str) or value is None for value in values):
            why = "choices are texts, so these go into the description"
            yield keyword, _Rule(Severity.LOSSY, why, "let the choices be texts")
        elif keyword == "const":
            yield keyword, _Rule(Severity.LOWERED, "becomes an enum of one", "nothing")


def _mcp(_: _Place, __: dict[str, Any]) -> Iterator[_Named]:
    """Say nothing: a server lists the schema as it is, draft 2020-12 being MCP's own."""
    yield from ()


PROVIDERS: Final = {
    "openai": _openai,
    "openai-strict": _openai_strict,
    "anthropic": _anthropic,
    "google": _google,
    "mcp": _mcp,
}
"""Whose rules are known, by name."""


# -- the schema ------------------------------------------------------------------------------------

_ONE = ("items", "contains", "propertyNames", "not", "if", "then", "else", "additionalProperties")
_MANY = ("prefixItems", "anyOf", "oneOf", "allOf")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
_DEEPER = ("items", "prefixItems", "properties", "additionalProperties", "patternProperties")
_ASIDE = ("contains", "propertyNames", "then", "else")


def _places(node: object, path: str, depth: int, *, aside: bool = False) -> Iterator[_Place]:
    """Give every schema inside a schema, itself first."""
    if not isinstance(node, dict):
        return
    rules = cast("dict[str, Any]", node)
    yield _Place(rules, path, depth, aside)
    for keyword in (*_ONE, *_MANY, *_NAMED):
        if keyword not in rules:
            continue
        inner: Any = rules[keyword]
        deeper, beside = depth + (keyword in _DEEPER), aside or keyword in _ASIDE
        if keyword in _ONE:
            parts = [("", inner)]
        elif keyword in _MANY:
            parts = [(f"[{place}]", each) for place, each in enumerate(inner)]
        else:
            parts = [(f".{name}", each) for name, each in inner.items()]
        for end, each in parts:
            yield from _places(each, f"{path}.{keyword}{end}", deeper, aside=beside)


def _types(rules: dict[str, Any]) -> list[str]:
    return as_list(rules.get("type", []))


def _is_open(rules: dict[str, Any]) -> bool:
    return rules.get("additionalProperties", False) is not False


def _reaches(start: str, wanted: str, root: dict[str, Any], seen: set[str]) -> bool:
    """Tell whether following a reference leads back to it."""
    if start in seen:
        return False
    seen.add(start)
    target = root.get("$defs", {}).get(start.removeprefix("#/$defs/"))
    onward = [p.rules["$ref"] for p in _places(target, "$", 0) if "$ref" in p.rules]
    return wanted in onward or any(_reaches(each, wanted, root, seen) for each in onward)
