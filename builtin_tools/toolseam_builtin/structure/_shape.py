"""The shape of many JSON values: which keys they have and of what types, never what they hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import attrs

from toolseam.guards import MASK, mask_fields, mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = 50
"""An object with more distinct keys than that is a map: its keys are values too."""

WITHHELD = "withheld"
"""The type of what stands under a sensitive key."""

ITEMS, VALUES = "[]", "*"
"""How a path names the items of an array and the values of a map."""

SAID = {ITEMS: "[] (items)", VALUES: "* (keys that are values)"}
"""The same in words."""

_NAME = re.compile(r"[@$]?[^\W\d][\w$.:\-/]{0,63}")
_MIXED = re.compile(r"\d(?=[^\W\d_])")
_MIXED_OFTEN = 3
_HEX = re.compile(r"[0-9a-fA-F\-]{16,}")
_TYPES: dict[type[object], str] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
}


def _no_shapes() -> dict[str, Shape]:
    return {}


@attrs.define
class Shape:
    """What was found at one place of all the values: how often, of what types, and what is below.

    `keys` are the names of an object's members in the order in which they were found; below
    `VALUES` are all members whose keys are no names, and below `ITEMS` all items of arrays.
    """

    types: dict[str, int] = attrs.field(factory=dict[str, int])
    keys: dict[str, Shape] = attrs.field(factory=_no_shapes)
    values: Shape | None = None
    items: Shape | None = None
    is_map: bool = False

    @property
    def seen(self) -> int:
        """How many values were found here."""
        return sum(self.types.values())

    def take(self, value: object) -> None:
        """Add one JSON value.

        Raises `RecursionError` for one that is nested more than 64 deep, before anything is added.
        """
        self.add(mask_fields(value, str))

    def below(self) -> Iterator[tuple[str, Shape]]:
        """Return what is below by the name that a path gives it: the most frequent first."""
        yield from sorted(self.keys.items(), key=lambda pair: (-pair[1].seen, pair[0]))
        if self.values is not None:
            yield VALUES, self.values
        if self.items is not None:
            yield ITEMS, self.items

    def add(self, value: object) -> None:
        """Add a value in which sensitive keys are masked already."""
        kind = _type(value)
        self.types[kind] = self.types.get(kind, 0) + 1
        if isinstance(value, dict):
            for key, member in cast("dict[str, object]", value).items():
                self._member(key).add(member)
            if len(self.keys) > KEYS:
                self._become_map()
        elif isinstance(value, list):
            self.items = self.items or Shape()
            for item in cast("list[object]", value):
                self.items.add(item)

    def absorb(self, other: Shape) -> None:
        """Add all that another shape has taken."""
        for kind, count in other.types.items():
            self.types[kind] = self.types.get(kind, 0) + count
        for key, shape in other.keys.items():
            self._member(key).absorb(shape)
        if len(self.keys) > KEYS:
            self._become_map()
        if other.values is not None:
            self.is_map |= other.is_map
            self.values = self.values or Shape()
            self.values.absorb(other.values)
        if other.items is not None:
            self.items = self.items or Shape()
            self.items.absorb(other.items)

    def _member(self, key: str) -> Shape:
        if self.is_map or not is_name(key):
            self.values = self.values or Shape()
            return self.values
        return self.keys.setdefault(key, Shape())

    def _become_map(self) -> None:
        self.is_map = True
        self.values = self.values or Shape()
        for shape in self.keys.values():
            self.values.absorb(shape)
        self.keys.clear()


def is_name(key: str) -> bool:
    """Tell whether a key is a name that somebody gave, and no date, number, address or token."""
    return (
        _NAME.fullmatch(key) is not None
        and _HEX.fullmatch(key) is None
        and len(_MIXED.findall(key)) < _MIXED_OFTEN
        and mask_secrets(key)[1] == 0
    )


def deepest(shape: Shape, limit: int) -> int:
    """Return how many levels below fit, all of each or none of it, but always the first."""
    depth = total = 0
    level = [shape]
    while level:
        total += len(level)
        if total > limit and depth > 1:
            break
        depth += 1
        level = [below for node in level for _, below in node.below()]
    return depth - 1


def places(
    shape: Shape, path: list[str], above: Shape | None, level: int, depth: int
) -> Iterator[tuple[int, list[str], Shape, Shape | None]]:
    """Return each place with its level, its path and the one above it, in reading order."""
    yield level, path, shape, above
    if level < depth:
        for key, below in shape.below():
            yield from places(below, [*path, key], shape, level + 1, depth)


def _type(value: object) -> str:
    if value is None:
        return "null"
    if value == MASK and isinstance(value, str):
        return WITHHELD
    if isinstance(value, bool):
        return "boolean"
    return _TYPES[type(value)]
