"""YAML from PyYAML's events: never an object, and never more than the limits allow."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import ErrorCode, ToolError
from toolseam.guards import is_sensitive_name
from toolseam_builtin._config._model import (
    NESTING,
    Broken,
    Findings,
    Parsed,
    Written,
    is_list,
    is_mapping,
    named,
    too_deep,
)
from toolseam_builtin._config._yaml_events import events
from toolseam_builtin._config._yaml_scalars import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPANSION = 100_000
"""How many values all aliases and merge keys of a file may stand for."""

_STANDARD = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(
    {"!", *(f"{_STANDARD}{each}" for each in ("map", "seq", "set", "omap", "pairs"))}
)
_SCALAR_TAGS = frozenset(
    {f"{_STANDARD}{each}" for each in ("str", "int", "float", "bool", "null", "timestamp")}
)


@attrs.define
class _Node:
    """A composed value; `size` counts the values in it, `height` the levels below and with it."""

    value: object = None
    text: str | None = None
    size: int = 1
    height: int = 0
    open: bool = False


@attrs.frozen
class _Place:
    """Where a value stands: its path, its depth, and the line of its key."""

    path: tuple[str, ...] = ()
    depth: int = 0

    def below(self, key: str) -> _Place:
        return _Place((*self.path, key), self.depth + 1)


def parse_yaml(text: str, end: float) -> Parsed:
    """Read all documents of a YAML text.

    Args:
        text: without a byte order mark.
        end: a moment of `time.monotonic()` at which reading stops.

    Raises `Broken`, and `ToolError` `unavailable` where PyYAML is not installed.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise ToolError(
            "YAML needs PyYAML: install toolseam[yaml].",
            ErrorCode.UNAVAILABLE,
            metadata={"reason": "missing_extra", "extra": "yaml"},
        ) from None
    composer = _Composer(yaml, events(yaml, text, end))
    documents = composer.documents()
    value = documents[0] if documents else None
    if len(documents) > 1:
        value = {f"document{number}": each for number, each in enumerate(documents, 1)}
    return Parsed(value, composer.findings, max(1, len(documents)))


class _Composer:
    """Makes values of events; aliases share what they stand for, and are counted."""

    def __init__(self, yaml: Any, events: Iterator[Any]) -> None:  # noqa: ANN401 - PyYAML's own
        self._yaml = yaml
        self._events = events
        self._anchors: dict[str, _Node] = {}
        self._expanded = 0
        self.findings = Findings()

    def documents(self) -> list[object]:
        """Compose all documents."""
        found: list[object] = []
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                self._anchors = {}
                found.append(self._node(next(self._events), _Place()).value)
        return found

    def _node(self, event: Any, place: _Place) -> _Node:  # noqa: ANN401 - PyYAML's own
        line = event.start_mark.line + 1
        if isinstance(event, self._yaml.AliasEvent):
            return self._alias(event.anchor, place, line)
        node = _Node(open=True)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        if isinstance(event, self._yaml.ScalarEvent):
            self._scalar(node, event, place)
        else:
            tag: str | None = event.tag
            foreign = "" if tag is None or tag in _PLAIN_TAGS else _tag(tag)
            inner = place.below(foreign) if foreign else place
            if inner.depth >= NESTING:
                raise too_deep(line)
            if isinstance(event, self._yaml.SequenceStartEvent):
                self._sequence(node, inner)
            else:
                self._mapping(node, inner)
            if foreign:
                node.value = {foreign: node.value}
                node.size += 1
                node.height += 1
        node.open = False
        return node

    def _alias(self, name: str, place: _Place, line: int) -> _Node:
        node = self._anchors.get(name)
        if node is None:
            raise Broken(line, "syntax", "an alias whose anchor is not set before it")
        if node.open:
            raise Broken(
                line, "aliases", "an alias that contains itself: alias expansion is endless"
            )
        self._expanded += node.size
        if self._expanded > EXPANSION:
            limit = (
                f"its aliases stand for more than {EXPANSION:,} values, the alias expansion limit"
            )
            raise Broken(line, "aliases", limit)
        if place.depth + node.height > NESTING:
            raise too_deep(line)
        return node

    def _scalar(self, node: _Node, event: Any, place: _Place) -> None:  # noqa: ANN401 - PyYAML's
        text: str = event.value
        tag: str | None = event.tag
        node.text = node.value = text
        if tag is None and event.implicit[0]:
            node.value, odd = resolve(text)
            if odd:
                self._retyped(event.start_mark.line + 1, place.path, odd)
        elif tag in _SCALAR_TAGS:
            node.value = text if tag == f"{_STANDARD}str" else resolve(text)[0]
        elif tag == f"{_STANDARD}binary":  # as base64 a secret would have lost its shape
            node.value = Written(f"[binary, {len(text):,} characters]", None)
        elif tag not in (None, "!"):
            node.value = f"{_tag(tag)} {text}".rstrip()

    def _retyped(self, line: int, path: tuple[str, ...], odd: str) -> None:
        if self.findings.full:
            self.findings.total += 1
            return
        if any(map(is_sensitive_name, path)):
            odd = "something else than its text"
        place = named(path) if path else "the document"
        advice = "write it in quotes if it is meant as text"
        self.findings.add(line, "retyped", f"{place} is read as {odd}; {advice}")

    def _sequence(self, node: _Node, place: _Place) -> None:
        items: list[object] = []
        node.value = items
        node.height = 1
        scalar, ends = self._yaml.ScalarEvent, self._yaml.SequenceEndEvent
        while not isinstance(event := next(self._events), ends):
            if isinstance(event, scalar) and event.anchor is None and event.tag is None:
                items.append(self._bare(event, place.path, str(len(items))))
                node.size += 1
                continue
            item = self._node(event, place.below(str(len(items))))
            items.append(item.value)
            node.size += item.size
            node.height = max(node.height, item.height + 1)

    def _mapping(self, node: _Node, place: _Place) -> None:
        own: dict[str, object] = {}
        merged: dict[str, object] = {}
        lines: dict[str, list[int]] = {}
        node.height = 1
        scalar, ends = self._yaml.ScalarEvent, self._yaml.MappingEndEvent
        while not isinstance(event := next(self._events), ends):
            line = event.start_mark.line + 1
            key = self._key(event, place, line)
            following = next(self._events)
            if isinstance(following, scalar) and following.anchor is None is following.tag:
                own[key] = self._bare(following, place.path, key)
                lines.setdefault(key, []).append(line)
                node.size += 1
                continue
            value = self._node(following, place.below(key))
            node.size += value.size
            node.height = max(node.height, value.height + 1)
            lines.setdefault(key, []).append(line)
            if key == "<<" and getattr(event, "implicit", (False,))[0]:
                merged = {**_merged(value.value, own, key), **merged}
            else:
                own[key] = value.value
        for key, found in lines.items():
            if len(found) > 1:
                path = (*place.path, key)
                self.findings.doubled(path, found, "most parsers keep the last, some refuse")
        node.value = {**merged, **own}

    def _bare(self, event: Any, path: tuple[str, ...], key: str) -> object:  # noqa: ANN401
        """Return a scalar without tag and anchor: most there is, so it is made without a node."""
        if not event.implicit[0]:
            return event.value
        value, odd = resolve(event.value)
        if odd:
            self._retyped(event.start_mark.line + 1, (*path, key), odd)
        return value

    def _key(self, event: Any, place: _Place, line: int) -> str:  # noqa: ANN401 - PyYAML's own
        """Return a key in its written form; one that is no scalar is told by its line."""
        if isinstance(event, self._yaml.ScalarEvent) and event.implicit[0] and event.tag is None:
            value, odd = resolve(event.value)
            if event.anchor is not None:
                self._anchors[event.anchor] = _Node(value, event.value)
            if odd:
                self._retyped(line, (*place.path, event.value), f"{odd}, though it is a key")
            return event.value or "null"
        key = self._node(event, _Place(place.path, place.depth + 1))
        return f"key of line {line}" if key.text is None else key.text


def _merged(value: object, own: dict[str, object], key: str) -> dict[str, object]:
    """Return what a merge key brings; of several mappings the first one counts."""
    found: dict[str, object] = {}
    sources = value if is_list(value) else [value]
    for source in reversed(sources):
        if is_mapping(source):
            found.update(source)
        else:
            own[key] = value
    return found


def _tag(tag: str) -> str:
    return f"!!{tag.removeprefix(_STANDARD)}" if tag.startswith(_STANDARD) else tag
