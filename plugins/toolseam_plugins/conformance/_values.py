"""Draws one value that fits a schema; hypothesis shrinks what it draws.

A generator of our own, because hypothesis-jsonschema stops at draft 7 and breaks on today's
hypothesis, and schemathesis, whose generator copes, keeps it internal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from hypothesis import reject
from hypothesis import strategies as st

from toolseam_plugins.conformance._fold import Schema, as_list, both, fold, for_key
from toolseam_plugins.conformance._hostile import (
    INTEGERS,
    MOST_CHARACTERS,
    NUMBERS,
    TEXTS,
    fitted,
)
from toolseam_plugins.conformance._pattern import readable

Draw = Callable[[st.SearchStrategy[Any]], Any]
Judge = Callable[[object], bool]

_LEAST, _MOST = -(2**63), 2**63 - 1
_TRIES = 4
_DEEP = 4
_DEEPEST = 24
_ITEMS = 4
_MANY_ITEMS = 20
_EXTRA = 2
_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_MEANT = {
    "properties": "object",
    "required": "object",
    "items": "array",
    "prefixItems": "array",
    "pattern": "string",
    "minLength": "string",
    "maxLength": "string",
    "format": "string",
    "minimum": "number",
    "maximum": "number",
    "multipleOf": "number",
}
_JUDGED = frozenset({"not", "if", "anyOf", "oneOf", "allOf", "contains", "pattern", "$ref"})
# The same ones as `codec="utf-8"`, which every process would find out by encoding each of them.
_LETTERS = st.characters(exclude_categories=["Cs"])
_FORMATS: dict[str, Callable[[], st.SearchStrategy[str]]] = {
    "date": lambda: st.dates().map(lambda day: day.isoformat()),
    "time": lambda: st.times().map(lambda time: f"{time.isoformat()}Z"),
    "date-time": lambda: st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
    "uuid": lambda: st.uuids().map(str),
    "ipv4": lambda: st.ip_addresses(v=4).map(str),
    "ipv6": lambda: st.ip_addresses(v=6).map(str),
    "email": st.emails,
    "hostname": lambda: st.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?\.test", fullmatch=True),
    "uri": lambda: st.from_regex(r"https://[a-z]{1,9}\.test/[a-z0-9/]{0,20}", fullmatch=True),
}


class Drawing:
    """One example that is being drawn.

    Args:
        draw: hypothesis' own.
        root: the whole schema, for `$ref`.
        judge: tells whether a value fits a schema that is part of `root`.
        nasty: texts and numbers are hostile ones where they fit.
    """

    def __init__(
        self,
        draw: Draw,
        root: Mapping[str, Any],
        judge: Callable[[dict[str, Any]], Judge | None],
        *,
        nasty: bool,
    ) -> None:
        self._draw = draw
        self._defs: Mapping[str, Schema] = root.get("$defs", {})
        self._judge = judge
        self._nasty = nasty

    def value(self, node: Schema, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
        """Draw a value that fits `node`, or give the example up."""
        judge = None
        if isinstance(node, dict) and not _JUDGED.isdisjoint(node):
            judge = self._judge(node)
        for _ in range(_TRIES):
            rules = fold(node, self._defs, self._choose)
            if rules is None or depth > _DEEPEST:
                continue
            value = self._of(rules, depth)
            if judge is None or judge(value):
                return value
        reject()
        return None

    def _choose(self, branches: int) -> int:
        return cast("int", self._draw(st.integers(0, branches - 1)))

    def _one_of(self, values: list[Any]) -> Any:  # noqa: ANN401 - JSON
        if not values:
            reject()
        return json.loads(json.dumps(values[self._choose(len(values))]))

    def _of(self, rules: dict[str, Any], depth: int) -> Any:  # noqa: ANN401 - JSON
        known = [*rules.get("examples", []), *([rules["default"]] if "default" in rules else [])]
        if known and self._choose(4) == 0:
            return self._one_of(known)
        kinds = _kinds(rules)
        if "enum" in rules:
            return self._one_of([v for v in rules["enum"] if kind_of(v) & kinds])
        wanted = [kind for kind in _KINDS if kind in kinds]
        if depth > _DEEP:
            wanted = [kind for kind in wanted if kind not in ("array", "object")] or wanted
        kind = self._one_of(wanted)
        if kind == "object":
            return self._object(rules, depth)
        if kind == "array":
            return self._array(rules, depth)
        if kind == "string":
            return self._string(rules)
        if kind in ("integer", "number"):
            return self._number(rules, kind)
        return None if kind == "null" else self._choose(2) == 1

    # -- objects and arrays

    def _object(self, rules: dict[str, Any], depth: int) -> dict[str, Any]:
        named: dict[str, Schema] = rules.get("properties", {})
        keys = dict.fromkeys(rules.get("required", []))
        least, most = rules.get("minProperties", 0), rules.get("maxProperties", 1_000)
        for name, schema in named.items():
            wanted = schema is not False and name not in keys and len(keys) < most
            if wanted and (len(keys) < least or (depth <= _DEEP and self._choose(2))):
                keys[name] = None
        for name in list(keys):
            keys |= dict.fromkeys(rules.get("dependentRequired", {}).get(name, []))
        drawn = {name: self.value(for_key(rules, name), depth + 1) for name in keys}
        for name in self._other_keys(rules, least - len(drawn), most - len(drawn), depth):
            if name not in named and name not in drawn:
                drawn[name] = self.value(self._open(rules, name), depth + 1)
        return drawn

    def _open(self, rules: dict[str, Any], name: str) -> Schema:
        return both(for_key(rules, name), rules.get("unevaluatedProperties", True))

    def _other_keys(self, rules: dict[str, Any], least: int, most: int, depth: int) -> list[str]:
        """Draw keys that no property names, where the schema is open."""
        patterns = list(rules.get("patternProperties", {}))
        rest = rules.get("additionalProperties", rules.get("unevaluatedProperties", True))
        if most <= 0 or (rest is False and not patterns):
            return []
        found: dict[str, None] = {}
        wanted = max(least, 0 if depth > _DEEP else self._choose(min(_EXTRA, most) + 1))
        for _ in range(wanted * 2):
            if len(found) >= wanted:
                break
            if patterns and (rest is False or self._choose(2) == 0):
                key = self._string({"pattern": self._one_of(patterns)})
            else:
                key = self.value(both({"type": "string"}, rules.get("propertyNames", True)))
            found[key] = None
        return list(found)

    def _array(self, rules: dict[str, Any], depth: int) -> list[Any]:
        first: list[Schema] = rules.get("prefixItems", [])
        rest: Schema = rules.get("items", rules.get("unevaluatedItems", True))
        least = rules.get("minItems", 0)
        contained: Schema = rules.get("contains", False)
        if contained is not False:
            least = max(least, rules.get("minContains", 1))
        usual = _MANY_ITEMS if self._nasty and depth <= 1 else _ITEMS
        most = min(rules.get("maxItems", least + usual), least + _MANY_ITEMS)
        if rest is False:
            most = min(most, len(first))
        if depth > _DEEP:
            most = least
        if least > most:
            reject()
        size = least + self._choose(most - least + 1)
        asked = rules.get("minContains", 1) if contained is not False else 0
        drawn: list[Any] = []
        for place in range(size):
            schema = first[place] if place < len(first) else rest
            if size - place <= asked:
                schema = both(schema, contained)
            new = self._new_item(schema, drawn if rules.get("uniqueItems") else [], depth + 1)
            if not new:
                break
            drawn += new
        return drawn

    def _new_item(self, schema: Schema, others: list[Any], depth: int) -> list[Any]:
        """Draw one item that is none of the others; after a few tries, give none."""
        for _ in range(_TRIES):
            item = self.value(schema, depth)
            if all(_told_apart(item, other) for other in others):
                return [item]
        return []

    # -- texts and numbers

    def _string(self, rules: dict[str, Any]) -> str:
        least, most = rules.get("minLength", 0), rules.get("maxLength")
        if "pattern" in rules:
            return self._matching(rules["pattern"], least, most)
        if self._nasty:
            return self._hostile(least, most)
        form = _FORMATS.get(rules.get("format", ""))
        if form is not None and self._choose(4):
            return cast("str", self._draw(form()))
        return cast("str", self._draw(st.text(_LETTERS, min_size=least, max_size=most)))

    def _hostile(self, least: int, most: int | None) -> str:
        place = self._choose(len(TEXTS) + 1)
        if place < len(TEXTS):
            return fitted(TEXTS[place], least, most)
        return "\u20ac" * min(MOST_CHARACTERS if most is None else most, 2 * MOST_CHARACTERS)

    def _matching(self, pattern: str, least: int, most: int | None) -> str:
        compiled = readable(pattern, least, most)
        if self._nasty and (least or compiled is None or self._choose(2)):
            fits = [fitted(text, least, most) for text in TEXTS]
            found = [text for text in fits if compiled is not None and compiled.search(text)]
            if found:
                return cast("str", self._one_of(found))
        if compiled is None:
            return cast("str", self._draw(st.text(_LETTERS, min_size=least, max_size=most)))
        text: str = self._draw(st.from_regex(compiled, alphabet=_LETTERS))
        return text

    def _number(self, rules: dict[str, Any], kind: str) -> int | float:
        low, high = _bounds(rules, kind)
        step = rules.get("multipleOf")
        if step is not None and (kind == "number" or float(step).is_integer()):
            least, most = math.ceil(low / step), math.floor(high / step)
            times = self._integer(max(least, _LEAST // 4), min(most, _MOST // 4))
            return times * int(step) if float(step).is_integer() else round(times * step, 12)
        exact = (math.ceil(low), math.floor(high))
        if kind == "integer" or (exact[0] <= exact[1] and self._choose(2) == 0):
            return self._integer(*exact)
        return self._float(rules, low, high)

    def _integer(self, low: int, high: int) -> int:
        if low > high:
            reject()
        if self._nasty:
            ends = [number for number in (*INTEGERS, low, high) if low <= number <= high]
            return cast("int", self._one_of(list(dict.fromkeys(ends))))
        return cast("int", self._draw(st.integers(low, high)))

    def _float(self, rules: dict[str, Any], low: float, high: float) -> float:
        if self._nasty:
            fits = [number for number in (*NUMBERS, low, high) if low <= number <= high]
            return cast("float", self._one_of(fits))
        stated = {"minimum", "exclusiveMinimum"} & rules.keys()
        limited = {"maximum", "exclusiveMaximum"} & rules.keys()
        drawn = st.floats(
            float(low) if stated else None,
            float(high) if limited else None,
            allow_nan=False,
            allow_infinity=False,
        )
        return cast("float", self._draw(drawn))


def _kinds(rules: dict[str, Any]) -> set[str]:
    if "type" in rules:
        return set(as_list(rules["type"]))
    meant = {_MEANT[key] for key in rules.keys() & _MEANT.keys()}
    return meant if meant and "enum" not in rules else set(_KINDS)


def kind_of(value: object) -> set[str]:
    """Name the JSON types that a value has."""
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    if isinstance(value, float):
        return {"integer", "number"} if value.is_integer() else {"number"}
    if value is None:
        return {"null"}
    return {
        "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    }


def _told_apart(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)


def _bounds(rules: dict[str, Any], kind: str) -> tuple[float, float]:
    """Return the least and the greatest number that an integer, or a number, may be."""
    low, high = rules.get("minimum", _LEAST), rules.get("maximum", _MOST)
    above, below = rules.get("exclusiveMinimum"), rules.get("exclusiveMaximum")
    whole = kind == "integer"
    if above is not None:
        low = max(low, math.floor(above) + 1 if whole else math.nextafter(above, math.inf))
    if below is not None:
        high = min(high, math.ceil(below) - 1 if whole else math.nextafter(below, -math.inf))
    return low, high
