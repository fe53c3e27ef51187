"""What makes a given JSON Schema closed, and which ones are refused (contract §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from toolseam._errors import SpecError
from toolseam._jsontext import TooLarge, Unencodable, decode, encode
from toolseam._plain import fits_plainly, is_plain
from toolseam._repairs import fill, nodes_of
from toolseam._text import is_clean, short
from toolseam._validator import path_text, validator_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCHEMA_BYTES = 16_384
SCHEMA_DEPTH = 12
_DEFS = 64
_UNFOLDED = 10_000
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REF = "#/$defs/"
# An `$anchor` alone changes nothing, for no `$ref` may lead to one.
_FOREIGN = ("$id", "$dynamicRef", "$dynamicAnchor", "$schema", "$vocabulary")

# Where schemas stand below a keyword: one, a list of them, or an object of them.
_ONE = frozenset({"additionalProperties", "items", "unevaluatedItems", "unevaluatedProperties"})
_MANY = frozenset({"prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "$defs"})
# These judge the same value again, or a value that another keyword describes.
_ONE_INSIDE = frozenset({"not", "if", "then", "else", "contains", "propertyNames"})
_MANY_INSIDE = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED_INSIDE = frozenset({"dependentSchemas"})
_INSIDE = _ONE_INSIDE | _MANY_INSIDE | _NAMED_INSIDE

Path = tuple[str | int, ...]


def close(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a closed copy of the JSON Schema of an object; the given one stays as it is (§3).

    Adds `additionalProperties: false` to every object schema below `properties`, `items` and
    `$defs` that does not say otherwise, and `properties: {}` where an object names none. `None`
    and `{}` are the schema of no arguments.

    Args:
        schema: draft 2020-12, which its root may say, at most 16,384 bytes of JSON and 12 levels.

    Raises `SpecError`, naming the place, for a schema that is too large or no object's, for an
    object inside a combinator that leaves open whether it is closed, for references that leave
    the schema's own `$defs` or unfold to more than 10,000 parts, for patterns that no linear
    engine compiles, for control, bidi and tag characters anywhere, and for a default that does
    not fit.
    """
    closed, text = _copy({} if schema is None else schema)
    _check_shape(closed)
    _open_root(closed)
    found = _Found()
    _close_node(closed, (), found, inside=False)
    if not found.plain:
        validator_for(closed)
    if b'"$ref"' in text:
        _check_references(closed, found)
    _check_defaults(closed, found)
    return closed


class _Found:
    """What the walk collects for the checks that need the whole schema."""

    __slots__ = ("defaults", "plain", "references")

    def __init__(self) -> None:
        self.plain = True
        self.defaults: list[tuple[Path, dict[str, Any]]] = []
        self.references: list[tuple[Path, str]] = []


def _refuse(path: Path, reason: str) -> SpecError:
    return SpecError(f"{path_text(path)}: {reason}")


def _copy(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        text = encode(dict(schema), limit=SCHEMA_BYTES)
    except TooLarge:
        raise SpecError(f"$: a schema has at most {SCHEMA_BYTES} bytes of JSON") from None
    except Unencodable as error:
        raise SpecError(str(error)) from None
    return decode(text), text


def _check_shape(schema: dict[str, Any]) -> None:
    texts: list[str] = []
    stack: list[tuple[Any, int]] = [(schema, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > SCHEMA_DEPTH:
            raise SpecError(f"$: a schema nests at most {SCHEMA_DEPTH} levels; use $defs")
        if isinstance(node, dict):
            texts += cast("dict[str, Any]", node)
        children: list[Any] = list(cast("Any", node).values() if isinstance(node, dict) else node)
        texts += [child for child in children if isinstance(child, str)]
        stack += [(child, depth + 1) for child in children if isinstance(child, dict | list)]
    if not is_clean("".join(texts)):
        culprit = next(text for text in texts if not is_clean(text))
        raise SpecError(f"$: a control, bidi or tag character in {short(culprit)!r}")


def _open_root(root: dict[str, Any]) -> None:
    draft = root.get("$schema", _DRAFT)
    if draft not in (_DRAFT, _DRAFT + "#"):
        raise _refuse(("$schema",), "only draft 2020-12 is read; leave $schema out")
    if root.setdefault("type", "object") != "object":
        raise _refuse(("type",), 'arguments are one object: write "type": "object"')


def _close_node(node: object, path: Path, found: _Found, *, inside: bool) -> None:
    if isinstance(node, bool):
        return
    if not isinstance(node, dict):
        raise _refuse(path, "a schema is an object or a boolean")
    rules = cast("dict[str, Any]", node)
    found.plain = found.plain and is_plain(rules)
    for key in _FOREIGN:
        if key in rules and (path or key != "$schema"):
            raise _refuse((*path, key), "is refused; use $defs and plain $ref")
    for where, child, deeper in list(schemas_below(rules, path)):
        _close_node(child, where, found, inside=inside or deeper)
    if "$ref" in rules:
        found.references.append((path, rules["$ref"]))
    if "default" in rules:
        found.defaults.append((path, rules))
    if _is_object(rules):
        _close_object(rules, path, inside=inside)


def schemas_below(rules: dict[str, Any], path: Path) -> Iterator[tuple[Path, object, bool]]:
    """Give place and value of every schema right below this one, and whether it stands inside."""
    for key, value in rules.items():
        deeper = key in _INSIDE
        if key in _ONE or key in _ONE_INSIDE:
            yield (*path, key), value, deeper
        elif (key in _MANY or key in _MANY_INSIDE) and isinstance(value, list):
            for i, child in enumerate(cast("list[object]", value)):
                yield (*path, key, i), child, deeper
        elif (key in _NAMED or key in _NAMED_INSIDE) and isinstance(value, dict):
            for name, child in cast("dict[str, object]", value).items():
                yield (*path, key, name), child, deeper


def _is_object(rules: dict[str, Any]) -> bool:
    types = rules.get("type")
    if types is None:
        return "properties" in rules or "patternProperties" in rules
    return types == "object" or (isinstance(types, list) and "object" in types)


def _close_object(rules: dict[str, Any], path: Path, *, inside: bool) -> None:
    if "additionalProperties" not in rules and "unevaluatedProperties" not in rules:
        if inside:
            raise _refuse(path, "an object inside a combinator must state additionalProperties")
        if "properties" not in rules and ("$ref" in rules or not _INSIDE.isdisjoint(rules)):
            raise _refuse(path, "an object that is put together must state additionalProperties")
        rules["additionalProperties"] = False
    rules.setdefault("properties", {})


def _check_references(root: dict[str, Any], found: _Found) -> None:
    defs = root.get("$defs", {})
    for path, target in found.references:
        name = target.removeprefix(_REF)
        if name == target or name not in defs:
            raise _refuse((*path, "$ref"), "only the schema's own #/$defs/<name> is followed")
        if not {"/", "~", "%"}.isdisjoint(name):
            raise _refuse((*path, "$ref"), "a name without '/', '~' and '%' is needed")
    # A validator visits every part as often as references lead to it: 2^n for n levels of pairs.
    if len(defs) > _DEFS or _unfold(root, defs, {}) > _UNFOLDED:
        raise SpecError(
            f"$: more than {_DEFS} $defs, or they unfold to more than {_UNFOLDED} parts"
        )


def _unfold(node: object, defs: dict[str, Any], known: dict[str, int]) -> int:
    """Return how many parts a schema has with every reference followed."""
    if not isinstance(node, dict):
        return 1
    rules = cast("dict[str, Any]", node)
    parts = 1
    for _, child, _ in schemas_below(rules, ()):
        parts += _unfold(child, defs, known)
    if "$ref" in rules:
        name: str = rules["$ref"].removeprefix(_REF)
        if name not in known:
            known[name] = 1  # a reference back to itself is remembered by the validator
            known[name] = _unfold(defs[name], defs, known)
        parts += known[name]
    return parts


def _check_defaults(root: dict[str, Any], found: _Found) -> None:
    doubted = [
        (path, rules) for path, rules in found.defaults if not _fits(rules, rules["default"])
    ]
    if not doubted:
        return
    # One compilation for all of them: each default is an item, judged by its own schema.
    shared = {"$defs": root.get("$defs", {})}
    judge = validator_for({**shared, "prefixItems": [rules for _, rules in doubted]})
    fits = judge.is_valid([rules["default"] for _, rules in doubted])
    for path, rules in doubted:
        default = rules["default"]
        if not fits:
            complaint = validator_for({**shared, **rules}).first_error(default)
            if complaint is not None:
                reason = f"does not fit its own schema: {complaint.expected}"
                raise _refuse((*path, "default"), reason)
        # What is written for a missing key is the default as it stands.
        if isinstance(default, dict | list) and fill(nodes_of({**rules, **shared}), default):
            raise _refuse((*path, "default"), "leaves out defaults of its own keys; write them out")


def _fits(rules: dict[str, Any], default: object) -> bool:
    """Tell whether a default surely fits and is complete: an object's own keys may have some."""
    return fits_plainly(rules, default) and not (default == {} and rules["properties"])
