"""Lossless repairs and defaults, guided by the schema (contract §4, points 3 and 4).

Both walk only where a schema speaks of one thing outright: through `properties`, `items`,
`prefixItems` and local `$ref`, never into a combinator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from toolseam._errors import ToolseamError
from toolseam._jsontext import _INT_MAX, _INT_MIN, decode, encode
from toolseam._validator import Complaint, path_text, validator_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EXACT = 2**53
_LONGEST_NUMBER = 40
_DECIMAL = frozenset("-.0123456789")
_MOST_NOTES = 20
_NO_TYPES: frozenset[str] = frozenset()


class Unfit(ToolseamError):
    """A value that the validator would let pass, but that a tool must not see."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint.expected)
        self.complaint = complaint


class Node:
    """What one schema says outright about a value, for the walks below."""

    __slots__ = (
        "_null",
        "_schema",
        "defaults",
        "fills",
        "has_integers",
        "items",
        "prefix",
        "properties",
        "required",
        "types",
    )

    def __init__(self, types: frozenset[str], required: frozenset[str]) -> None:
        self.types = types
        self.required = required
        self.properties: dict[str, Node] = {}
        self.prefix: list[Node] = []
        self.items: Node | None = None
        self.defaults: list[tuple[str, Callable[[], Any]]] = []
        self.fills = False
        self.has_integers = types.isdisjoint(("number",)) and "integer" in types
        self._schema: dict[str, Any] | bool = True
        self._null: bool | None = None

    def children(self) -> Iterator[Node]:
        """Give the nodes right below this one."""
        yield from self.properties.values()
        yield from self.prefix
        if self.items is not None:
            yield self.items

    def admits_null(self) -> bool:
        """Tell whether the whole schema, combinators included, takes `null`."""
        if self._null is None:
            self._null = validator_for(self._schema).is_valid(None)
        return self._null


def nodes_of(schema: dict[str, Any]) -> Node:
    """Return the node of a closed schema; those below hang on it."""
    return _Builder(schema).root


class _Builder:
    def __init__(self, schema: dict[str, Any]) -> None:
        self._defs: dict[str, Any] = schema.get("$defs", {})
        self._nodes: dict[int, Node] = {}
        self.root = self._node(schema)
        changed = True
        while changed:  # until nothing new is learnt: definitions may refer to each other
            changed = False
            for node in self._nodes.values():
                fills = bool(node.defaults) or any(child.fills for child in node.children())
                whole = node.has_integers or any(child.has_integers for child in node.children())
                changed |= fills != node.fills or whole != node.has_integers
                node.fills, node.has_integers = fills, whole

    def _node(self, given: object) -> Node:
        rules = self._resolved(given)
        if rules is None:
            return Node(_NO_TYPES, frozenset())
        if id(rules) in self._nodes:
            return self._nodes[id(rules)]
        declared = rules.get("type", [])
        types = frozenset([declared] if isinstance(declared, str) else declared)
        chosen = "enum" in rules or "const" in rules
        node = Node(_NO_TYPES if chosen else types, frozenset(rules.get("required", ())))
        node._schema = {**rules, "$defs": self._defs}  # noqa: SLF001 - its own builder
        self._nodes[id(rules)] = node
        for key, child in rules.get("properties", {}).items():
            node.properties[key] = self._node(child)
            default = self._default(child)
            if default is not None and key not in node.required:
                node.defaults.append((key, default))
        node.prefix = [self._node(child) for child in rules.get("prefixItems", ())]
        if isinstance(rules.get("items"), dict):
            node.items = self._node(rules["items"])
        return node

    def _steps(self, given: object) -> Iterator[dict[str, Any]]:
        """Follow a `$ref` that stands alone, step by step."""
        seen: set[str] = set()
        while isinstance(given, dict):
            rules = cast("dict[str, Any]", given)
            yield rules
            name = rules.get("$ref", "").rpartition("/")[2]
            if "type" in rules or not name or name in seen:
                return
            seen.add(name)
            given = self._defs.get(name)

    def _resolved(self, given: object) -> dict[str, Any] | None:
        last: dict[str, Any] | None = None
        for rules in self._steps(given):
            last = rules
        return last

    def _default(self, given: object) -> Callable[[], Any] | None:
        for rules in self._steps(given):
            if "default" in rules:
                return _constant(rules["default"])
        return None


def _constant(value: Any) -> Callable[[], Any]:  # noqa: ANN401
    if type(value) in (dict, list):
        text = encode(value)
        return lambda: decode(text)
    return lambda: value


def fill(node: Node, value: Any) -> bool:  # noqa: ANN401
    """Write missing defaults into `value`, nested objects included; tell whether any was."""
    changed = False
    if type(value) is dict:
        found = cast("dict[str, Any]", value)
        for key, child in node.properties.items():
            if child.fills and key in found:
                changed |= fill(child, found[key])
        # Last, since a default is complete as it stands: `close` has seen to that.
        for key, default in node.defaults:
            if key not in found:
                found[key] = default()
                changed = True
    elif type(value) is list:
        for i, item in enumerate(cast("Any", value)):
            below = _item(node, i)
            if below is not None and below.fills:
                changed |= fill(below, item)
    return changed


def _item(node: Node, i: int) -> Node | None:
    return node.prefix[i] if i < len(node.prefix) else node.items


class Mender:
    """One walk over one value: drops `null` where it counts as absent, repairs, and notes it."""

    __slots__ = ("_notes", "_path", "_unnoted")

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._path: list[str | int] = []
        self._unnoted = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was repaired, without values: `$.limit: text taken as integer`."""
        more = (f"and {self._unnoted} more",) if self._unnoted else ()
        return (*self._notes, *more)

    def _note(self, what: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(f"{path_text(self._path)}: {what}")
        else:
            self._unnoted += 1

    def mend(self, node: Node, value: Any) -> Any:  # noqa: ANN401
        """Return `value`, mended in place, or what it is taken as.

        Raises `Unfit` for an integer that a float cannot hold exactly.
        """
        kind = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is str:
            return self._of_text(node.types, value)
        if kind is float:
            return self._of_float(node.types, value)
        if kind is dict:
            self._object(node, value)
        elif kind is list and (node.items is not None or node.prefix):
            self._array(node, value)
        return value

    def _object(self, node: Node, value: dict[str, Any]) -> None:
        for key, child in node.properties.items():
            if key not in value:
                continue
            held = value[key]
            if held is None:
                if key not in node.required and not child.admits_null():
                    del value[key]
                continue
            self._path.append(key)
            value[key] = self.mend(child, held)
            self._path.pop()

    def _array(self, node: Node, value: list[Any]) -> None:
        for i, held in enumerate(value):
            child = _item(node, i)
            if child is not None and type(held) in (str, float, dict, list):
                self._path.append(i)
                value[i] = self.mend(child, held)
                self._path.pop()

    def _of_text(self, types: frozenset[str], text: str) -> object:
        if "string" in types or not text or len(text) > _LONGEST_NUMBER:
            return text
        if "boolean" in types and text in ("true", "false"):
            self._note("text taken as boolean")
            return text == "true"
        if ("integer" in types or "number" in types) and _DECIMAL.issuperset(text):
            found = _number(text, fractions="number" in types)
            if found is not None:
                self._note("text taken as number" if "number" in types else "text taken as integer")
                return found
        return text

    def _of_float(self, types: frozenset[str], value: float) -> float:
        if "integer" not in types or "number" in types or not value.is_integer():
            return value
        if abs(value) > _EXACT:
            expected = "a number beyond 2^53 where an integer is declared; write all its digits"
            raise Unfit(Complaint(path_text(self._path), "type", expected))
        self._note("number taken as integer")
        return int(value)


def _number(text: str, *, fractions: bool) -> float | None:
    """Return the number that a canonical decimal text writes; it must come out the same again."""
    try:
        whole = int(text)
        if str(whole) == text:
            return whole if _INT_MIN <= whole <= _INT_MAX else None
    except ValueError:
        pass
    if fractions:
        try:
            number = float(text)
        except ValueError:
            return None
        return number if repr(number) == text else None
    return None
