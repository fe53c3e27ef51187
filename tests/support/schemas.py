"""JSON schemas of arguments for property tests, and what is strict by OpenAI's rules."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from toolseam._closed import close

NAMES = st.sampled_from(["a", "b", "c"])
WORDS = {"description": "Words."}


def leaves(*, bounded: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of single values; `bounded` adds rules that strict mode leaves out."""
    plain: list[Any] = [
        {"type": "string"},
        {"type": "string", "format": "date"},
        {"type": "string", "format": "color"},
        {"type": "integer", "minimum": 1, "maximum": 9},
        {"type": "number"},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"type": ["integer", "string"]},
        {"enum": ["kg", "l"]},
        {"enum": [1, 2, None]},
        {"const": "kg"},
        {"type": "integer", "default": 20},
        {"type": "boolean", "default": False, "description": "Whether."},
        {"type": ["integer", "null"], "default": None},
        {"$ref": "#/$defs/unit"},
        {"$ref": "#/$defs/node", "description": "Beside it."},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}], **WORDS},
    ]
    rest: list[Any] = [
        {},
        {"type": ["integer", "null"], "default": 3},
        {"type": "array"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "string", "minLength": 2, "maxLength": 5, "title": "T", "examples": ["abc"]},
        {"type": "string", "pattern": "^a+$"},
        {"type": "string", "pattern": r"\p{Lu}"},
        {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        {"not": {"type": "null"}},
    ]
    return st.sampled_from([*plain, *rest] if bounded else plain).map(copy.deepcopy)


def nodes(*, bounded: bool) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of a few levels."""

    def deeper(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        return st.one_of(
            objects_of(inner),
            inner.map(lambda rules: {"type": "array", "items": rules, "maxItems": 3}),
        )

    return st.recursive(leaves(bounded=bounded), deeper, max_leaves=6)


@st.composite
def objects_of(draw: Any, inner: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Return an object of a few keys, some of them required."""
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    required = (
        draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    )
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


@st.composite
def schemas(draw: Any, *, bounded: bool) -> dict[str, Any]:
    """Return a closed schema of arguments, with definitions of which one leads to itself."""
    root = draw(objects_of(nodes(bounded=bounded)))
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}},
    }
    return close({**root, "$defs": {"unit": {"enum": ["kg", "l"]}, "node": node}})


ALLOWED = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const"),
    *("anyOf", "$ref", "$defs", "description", "title", "pattern", "format", "multipleOf"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
}


def complaints(node: Any, path: str = "$") -> list[str]:
    """Say what of a schema breaks a rule of OpenAI's strict mode, as its documentation has them."""
    found = [f"{path}: {key}" for key in node if key not in ALLOWED]
    if "$ref" in node and len(node) > 1:
        found.append(f"{path}: beside $ref")
    if not {"type", "anyOf", "$ref"} & node.keys():
        found.append(f"{path}: no type")
    if "properties" in node:
        closed = node.get("additionalProperties") is False
        if not closed or node.get("required") != list(node["properties"]):
            found.append(f"{path}: not closed, or not all required")
    if "array" in node.get("type", []) and "items" not in node:
        found.append(f"{path}: no items")
    for name, inner in [*node.get("properties", {}).items(), *node.get("$defs", {}).items()]:
        found += complaints(inner, f"{path}.{name}")
    for place, inner in enumerate(node.get("anyOf", [])):
        found += complaints(inner, f"{path}[{place}]")
    return [*found, *(complaints(node["items"], f"{path}[]") if "items" in node else [])]
