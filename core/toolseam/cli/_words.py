"""`--arg k=v` as arguments of a call: JSON where the schema declares no text, else text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_REF = "#/$defs/"
_TYPES: dict[type, str] = {
    dict: "object",
    list: "array",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}
_DEEPEST = 16


class UsageError(Exception):
    """The words of the command line do not go together; the text says how."""


def arguments_of(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that `--arg` words stand for.

    Args:
        words: `key=value` each; a key that is repeated must be declared as an array.
        schema: the tool's own; a key that it does not declare is taken as text, for the seam to
            refuse by name.

    Raises `UsageError` for a word without `=`, and for a key given twice that is no array.
    """
    given: dict[str, list[str]] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            message = f"--arg {word!r}: expected key=value"
            raise UsageError(message)
        given.setdefault(key, []).append(text)
    properties = schema.get("properties", {})
    return {
        key: _value(key, texts, properties.get(key, {}), schema) for key, texts in given.items()
    }


def _value(key: str, texts: Sequence[str], rules: object, root: Mapping[str, Any]) -> Any:  # noqa: ANN401
    types, items = _declared(rules, root)
    if "array" in types:
        whole = _read(texts[0]) if len(texts) == 1 else None
        return whole if _type_of(whole) == "array" else [_one(text, items, root) for text in texts]
    if len(texts) > 1:
        message = f"--arg {key}: given {len(texts)} times, and it is declared as no array"
        raise UsageError(message)
    return _one(texts[0], rules, root)


def _one(text: str, rules: object, root: Mapping[str, Any]) -> Any:  # noqa: ANN401
    types, _ = _declared(rules, root)
    if not types or types <= {"string", "null"}:
        return text
    value = _read(text)
    kind = _type_of(value)
    kinds = {kind, "number"} if kind == "integer" else {kind}
    # Where text is declared too, only what is declared besides it is read as JSON.
    return value if "string" not in types or kinds & (types - {"string"}) else text


def _type_of(value: object) -> str:
    return _TYPES.get(type(value), "string")


def _read(text: str) -> Any:  # noqa: ANN401
    """Read JSON; what is none stays text, which the seam judges."""
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _declared(
    rules: object, root: Mapping[str, Any], depth: int = 0
) -> tuple[frozenset[str], object]:
    """Return the types that a schema admits, as far as it says so outright, and its items."""
    if not isinstance(rules, dict) or depth > _DEEPEST:
        return frozenset(), {}
    known = cast("dict[str, Any]", rules)
    stated = known.get("type", [])
    types = frozenset([stated] if isinstance(stated, str) else stated)
    items: object = known.get("items", {})
    values = [*known.get("enum", []), *([known["const"]] if "const" in known else [])]
    types |= {_type_of(value) for value in values}
    reference = known.get("$ref", "")
    inside = [root.get("$defs", {}).get(reference.removeprefix(_REF))] if reference else []
    for part in [*inside, *known.get("anyOf", []), *known.get("oneOf", [])]:
        more, deeper = _declared(part, root, depth + 1)
        types |= more
        items = items or deeper
    return types, items
