"""One JSON Schema validator, offline and linear, and complaints that never quote a value (§4).

jsonschema-rs was chosen because it is the only validator of draft 2020-12 within the seam's
budget (0.1 µs a call; the pure Python one takes 20) and because its regular expressions can be
held to a linear engine. Left alone it opens `file:` and `http:` references; here it is built so
that nothing is ever fetched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolseam._errors import SpecError
from toolseam._text import clean, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import jsonschema_rs

_PATTERN_BYTES = 1_000_000
_PATH_CHARACTERS = 200
_EXPECTED_CHARACTERS = 300
_SHOWN_KEYS = 20
_KINDS: dict[type, str] = {
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    type(None): "null",
}


class Complaint(NamedTuple):
    """Why a value does not fit: where, which rule, and what was expected; never the value."""

    path: str
    rule: str
    expected: str


class Validator:
    """A compiled schema; `is_valid` takes strict JSON values alone, and is the validator's own."""

    __slots__ = ("_compiled", "_schema", "is_valid")

    def __init__(self, compiled: jsonschema_rs.Draft202012Validator, schema: Any) -> None:  # noqa: ANN401
        self._compiled = compiled
        self._schema = schema
        self.is_valid: Callable[[object], bool] = compiled.is_valid

    def first_error(self, value: object) -> Complaint | None:
        """Return the first complaint about a strict JSON value, or None if it fits."""
        import jsonschema_rs

        try:
            self._compiled.validate(value)
        except jsonschema_rs.ValidationError as error:
            return _complaint(error, self._schema, value)
        except ValueError:
            return Complaint("$", "type", "expected strict JSON")
        return None


def validator_for(schema: Mapping[str, Any] | bool) -> Validator:  # noqa: FBT001 - a JSON Schema
    """Compile a JSON Schema of draft 2020-12; raises `SpecError` naming the place.

    References are never fetched, patterns are compiled by a linear engine or refused.
    """
    import jsonschema_rs

    plain = schema if isinstance(schema, bool) else dict(schema)
    try:
        compiled = jsonschema_rs.Draft202012Validator(
            plain,
            retriever=_no_retrieval,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
        )
    except jsonschema_rs.ValidationError as error:
        path = path_text(error.instance_path)
        raise SpecError(f"{path}: {_schema_fault(error)}") from None
    except ValueError as error:
        raise SpecError(f"$: no JSON Schema ({short(type(error).__name__)})") from None
    return Validator(compiled, plain)


def _no_retrieval(_: str) -> Any:  # noqa: ANN401
    raise LookupError


def _schema_fault(error: jsonschema_rs.ValidationError) -> str:
    kind = error.kind.name
    if kind == "$ref":
        return "a $ref that does not lead to the schema's own $defs"
    if kind == "format":
        return "a pattern that is malformed or not linear (no look-around, no back-reference)"
    return "no JSON Schema of draft 2020-12"


def path_text(steps: Sequence[str | int]) -> str:
    """Return a path as `$.a[3].b`, each key cut to 64 characters, the whole to 200."""
    text = "$"
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{short(step)}"
        if len(text) > _PATH_CHARACTERS:
            return text[:_PATH_CHARACTERS] + "…"
    return text


def kind_of(value: object) -> str:
    """Name the kind of a JSON value as a complaint does."""
    if isinstance(value, dict):
        return "an object"
    return _KINDS.get(type(value), "an array")


def _complaint(error: jsonschema_rs.ValidationError, schema: object, value: object) -> Complaint:
    rule = error.kind.name
    if rule in ("anyOf", "oneOf"):
        _, fitting = _branch_errors(error)
        if len(fitting) == 1:  # the only form of this type: its complaint says more
            return _complaint(fitting[0], schema, value)
    place = list(error.instance_path)
    if rule == "required":
        return _missing(error, schema, value)
    if rule in ("additionalProperties", "unevaluatedProperties"):
        unexpected: list[str] = cast("Any", error.kind).unexpected
        owner: dict[str, Any] = _descend(schema, error.schema_path[:-1])
        expected = _unknown(unexpected[0], list(owner.get("properties", {})))
        return Complaint(path_text(place), rule, expected)
    return Complaint(path_text(place), rule, _expected(rule, error, _descend(value, place)))


def _missing(error: jsonschema_rs.ValidationError, schema: object, value: object) -> Complaint:
    """Name the unknown key first: a key that is missing beside one is most often misspelt."""
    place = list(error.instance_path)
    owner: dict[str, Any] = _descend(schema, error.schema_path[:-1])
    known = owner.get("properties", {})
    if owner.get("additionalProperties") is False and "patternProperties" not in owner:
        for key in _descend(value, place):
            if key not in known:
                expected = _unknown(key, list(known))
                return Complaint(path_text(place), "additionalProperties", expected)
    key = cast("Any", error.kind).property
    return Complaint(path_text([*place, key]), "required", "is required")


def _unknown(key: str, known: list[str]) -> str:
    if not known:
        return f"unknown key {short(key)!r}; no keys are accepted"
    import difflib

    near = difflib.get_close_matches(short(key), known, n=1)
    ordered = [*near, *(name for name in known if name not in near)]
    shown = ", ".join(short(name) for name in ordered[:_SHOWN_KEYS])
    more = ", …" if len(ordered) > _SHOWN_KEYS else ""
    return f"unknown key {short(key)!r}; accepted: {shown}{more}"


def _descend(node: Any, steps: Sequence[str | int]) -> Any:  # noqa: ANN401
    for step in steps:
        node = node[step]
    return node


def _expected(rule: str, error: jsonschema_rs.ValidationError, found: object) -> str:
    facts = error.kind.as_dict()
    if rule == "type":
        return f"{kind_of(found)} where {_types(facts['types'])} is declared"
    if rule == "enum":
        return _listed("expected one of", facts["options"])
    if rule == "const":
        return _listed("expected", [facts["expected_value"]])
    if rule in _LIMITS:
        return _LIMITS[rule].format(_json(facts["limit"]))
    if rule == "multipleOf":
        return f"expected a multiple of {_json(facts['multiple_of'])}"
    if rule == "pattern":
        return _cut(f"expected text matching {facts['pattern']}")
    if rule in ("anyOf", "oneOf"):
        return _of_branches(error, found)
    return _PHRASES.get(rule, f"breaks the rule {rule}")


def _branch_errors(
    error: jsonschema_rs.ValidationError,
) -> tuple[list[jsonschema_rs.ValidationError], list[jsonschema_rs.ValidationError]]:
    """Return the first errors of all branches, and those of branches of the fitting type."""
    context: list[list[jsonschema_rs.ValidationError]] = cast("Any", error.kind).context
    first = [branch[0] for branch in context if branch]
    fitting = [
        one for one in first if one.kind.name != "type" or one.instance_path != error.instance_path
    ]
    return first, fitting


def _of_branches(error: jsonschema_rs.ValidationError, found: object) -> str:
    first, fitting = _branch_errors(error)
    if not first:
        return "fits more than one of the declared forms"
    if fitting:
        return f"fits none of the {len(first)} declared forms"
    types = [name for one in first for name in one.kind.as_dict()["types"]]
    return f"{kind_of(found)} where {_types(types)} is declared"


def _types(types: Sequence[str]) -> str:
    *rest, last = (_ARTICLES.get(name, name) for name in types)
    return f"{', '.join(rest)} or {last}" if rest else last


def _listed(lead: str, options: Sequence[object]) -> str:
    return _cut(f"{lead} {', '.join(_json(option) for option in options)}")


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _EXPECTED_CHARACTERS else text[:_EXPECTED_CHARACTERS] + "…"


_ARTICLES = {
    "array": "an array",
    "boolean": "a boolean",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "text",
}
_LIMITS = {
    "minimum": "expected at least {}",
    "maximum": "expected at most {}",
    "exclusiveMinimum": "expected more than {}",
    "exclusiveMaximum": "expected less than {}",
    "minLength": "expected at least {} characters",
    "maxLength": "expected at most {} characters",
    "minItems": "expected at least {} items",
    "maxItems": "expected at most {} items",
    "additionalItems": "expected at most {} items",
    "minProperties": "expected at least {} keys",
    "maxProperties": "expected at most {} keys",
}
_PHRASES = {
    "contains": "lacks an item that is asked for",
    "dependentRequired": "lacks a key that another key asks for",
    "falseSchema": "is not accepted here",
    "not": "is excluded",
    "propertyNames": "a key is not accepted here",
    "unevaluatedItems": "expected fewer items",
    "uniqueItems": "expected no item twice",
}
