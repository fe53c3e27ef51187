"""The one strict, bounded JSON codec (contract §1, §4, §7).

orjson writes and reads the bytes, but it only ever sees values that `_scan` has passed: on its
own it turns NaN into null, never ends on shared references and overruns the stack on nested
tuples (docs/explanation/performance).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import orjson

from toolseam._errors import ToolseamError
from toolseam._text import mend, short

if TYPE_CHECKING:
    from collections.abc import Callable

JSON_BYTES = 50_000
DEPTH = 64
ARGUMENT_BYTES = 1_000_000
_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
_INT_DIGITS = 20


class Unencodable(ToolseamError):
    """A value is no strict JSON; `path` and `reason` tell where and why, never the value."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class TooLarge(ToolseamError):
    """A value's JSON text is longer than its budget; says nothing else about it."""


class BadText(ToolseamError):
    """A text is no strict JSON; the message names the place and never quotes a value."""


# `type` of an `Any` narrows it to a container of unknowns for a strict type checker.
_type: Callable[[object], type] = type
# A container on the way down: itself, its depth, and the entry that it was found in.
_Entry = tuple[Any, int, Any]


class _Refused(Exception):
    """The walk met a child, or a key, that is no strict JSON."""

    def __init__(self, entry: _Entry, child: object, *, is_key: bool = False) -> None:
        super().__init__()
        self.entry = entry
        self.child = child
        self.is_key = is_key


def encode(value: object, *, limit: int = JSON_BYTES, root: str = "$") -> bytes:
    """Return the JSON text of `value` in at most `limit` bytes, or raise.

    Strict: exact `dict`, `list`, `tuple`, `str`, `int` within signed 64 bits, finite `float`,
    `bool`, `None`; string keys; depth at most 64; no cycle. Lone surrogates become U+FFFD.
    The cost stops at the budget, whatever the value.

    Raises `Unencodable` (naming the path below `root`) and `TooLarge`.
    """
    try:
        _scan(value, limit)
    except _Refused as refused:
        raise _explained(refused, root) from None
    try:
        encoded = orjson.dumps(value)
    except TypeError:  # only a lone surrogate is left
        encoded = orjson.dumps(_mended(value, root))
    if len(encoded) > limit:
        raise TooLarge
    return encoded


def decode(encoded: bytes) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Return the value of a text that `encode` wrote: always a fresh copy."""
    return orjson.loads(encoded)


def _scan(value: object, limit: int) -> None:  # noqa: C901, PLR0912 - the one hot loop
    """Walk the whole value: `size` is a lower bound of its text, so the walk ends at the budget."""
    size = 0
    stack: list[_Entry] = [((value,), 0, None)]
    pop, push = stack.pop, stack.append
    while stack:
        entry = pop()
        node, depth, _ = entry
        size += len(node) + 1
        if size > limit + 2:
            raise TooLarge
        kind = _type(node)
        if kind is dict:
            for key in node:
                if type(key) is not str:
                    raise _Refused(entry, key, is_key=True)
                size += len(key) + 3
            node = node.values()
        for child in node:
            kind = _type(child)
            if kind is str:
                size += len(child) + 1
            elif kind is int:
                if not _INT_MIN <= child <= _INT_MAX:
                    raise _Refused(entry, child)
            elif kind is float:
                if child - child != 0.0:
                    raise _Refused(entry, child)
            elif kind is dict or kind is list or kind is tuple:
                if depth == DEPTH:
                    raise _Refused(entry, child)
                push((child, depth + 1, entry))
            elif child is not None and kind is not bool:
                raise _Refused(entry, child)
        if size > limit + 2:
            raise TooLarge


def _explained(refused: _Refused, root: str) -> Unencodable:
    if refused.is_key:
        node, _, above = refused.entry
        path = _path(above, node, root)
        return Unencodable(path, f"a key is {short(type(refused.child).__name__)}, expected str")
    return Unencodable(_path(refused.entry, refused.child, root), _reason(refused.child))


def _path(entry: _Entry, child: object, root: str) -> str:
    """Return where `child` of `entry` stands, found by identity: the walk keeps no paths."""
    steps: list[str] = []
    while entry[2] is not None:  # the outermost entry holds the value alone
        node, _, above = entry
        kind = _type(node)
        if kind is dict:
            steps.append("." + short(next(key for key in node if node[key] is child)))
        else:
            steps.append(f"[{next(i for i, found in enumerate(node) if found is child)}]")
        child, entry = node, above
    return root + "".join(reversed(steps))


def _reason(child: object) -> str:
    kind = type(child)
    if kind is int:
        return "an integer beyond signed 64 bits"
    if kind is float:
        return "a number that is not finite"
    if kind in (dict, list, tuple):
        return f"deeper than {DEPTH} levels, or cyclic"
    return f"{short(kind.__name__)} is no JSON value; convert it, for example with json_safe()"


def _mended(value: object, path: str) -> object:
    """Copy a value that `_scan` has passed, with each lone surrogate replaced by U+FFFD."""
    if type(value) is str:
        return mend(value)
    if type(value) is dict:
        found: dict[str, object] = {}
        for key, child in cast("dict[str, object]", value).items():
            name = mend(key)
            if name in found:
                raise Unencodable(path, f"two keys become {short(name)!r}")
            found[name] = _mended(child, f"{path}.{short(name)}")
        return found
    if type(value) in (list, tuple):
        items = cast("list[object]", value)
        return [
            mend(child) if type(child) is str else _mended(child, f"{path}[{i}]")
            for i, child in enumerate(items)
        ]
    return value


def parse(text: str, *, limit: int | None = ARGUMENT_BYTES, depth: int = DEPTH) -> Any:  # noqa: ANN401
    """Return the value of foreign JSON text, or raise `BadText` naming the place (§4).

    Refused: more than `limit` bytes, cut-off text, doubled keys, `NaN` and `Infinity`,
    integers beyond signed 64 bits, lone surrogates, more than `depth` levels.
    """
    import json

    if limit is not None:
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if size > limit:
            raise BadText(f"the text has {size} bytes, at most {limit} are taken")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_single,
            parse_constant=_no_constant,
            parse_int=_bounded_int,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise BadText(f"no JSON at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise BadText(f"nested deeper than {depth} levels") from None
    # Each cheap count rules out what the walk would look for.
    deep = text.count("[") + text.count("{") > depth
    if deep or "\\u" in text or not (text.isascii() or text.isprintable()):
        _inspect(value, depth)
    return value


def _single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise BadText(f"the key {short(key)!r} stands twice in one object")
    return found


def _no_constant(token: str) -> object:
    raise BadText(f"{token} is no JSON number")


def _bounded_int(digits: str) -> int:
    if len(digits) <= _INT_DIGITS:
        number = int(digits)
        if _INT_MIN <= number <= _INT_MAX:
            return number
    raise BadText("an integer is beyond signed 64 bits")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0.0:
        raise BadText("a number is too large")
    return number


def _inspect(value: object, most: int) -> None:
    """Refuse depth and lone surrogates in a parsed value, naming the path."""
    stack: list[_Entry] = [((value,), 0, None)]
    while stack:
        entry = stack.pop()
        node, depth, above = entry
        kind = _type(node)
        if kind is dict:
            for key in node:
                if not _encodes(key):
                    raise BadText(f"a lone surrogate in a key at {_path(above, node, '$')}")
            node = node.values()
        for child in node:
            kind = _type(child)
            if kind is str:
                if not _encodes(child):
                    raise BadText(f"a lone surrogate at {_path(entry, child, '$')}")
            elif kind is dict or kind is list:
                if depth == most:
                    raise BadText(f"nested deeper than {most} levels")
                stack.append((child, depth + 1, entry))


def _encodes(text: str) -> bool:
    return text.isascii() or mend(text) == text
