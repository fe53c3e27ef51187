"""The one strict, bounded JSON codec (contract §1, §4, §7).

orjson writes and reads the bytes, but it only ever sees values that `_scan` has passed: on its
own it turns NaN into null, never ends on shared references and overruns the stack on nested
tuples (docs/explanation/performance).
"""

from __future__ import annotations

from typing import Any, cast

import orjson

from toolseam._errors import ToolseamError
from toolseam._text import clean, short

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


class _Refused(Exception):  # noqa: N818 - an inner signal, caught in `encode`
    """The quick scan met something wrong; the scan with paths then says where."""


def encode(value: object, *, limit: int = JSON_BYTES, root: str = "$") -> bytes:
    """Return the JSON text of `value` in at most `limit` bytes, or raise.

    Strict: exact `dict`, `list`, `tuple`, `str`, `int` within signed 64 bits, finite `float`,
    `bool`, `None`; string keys; depth at most 64; no cycle. Lone surrogates become U+FFFD.
    The cost stops at the budget, whatever the value.

    Raises `Unencodable` (naming the path below `root`) and `TooLarge`.
    """
    try:
        _scan(value, limit)
        try:
            encoded = orjson.dumps(value)
        except TypeError:  # only a lone surrogate is left
            encoded = orjson.dumps(_without_surrogates(value, root))
    except _Refused:
        raise _explain(value, root, limit) from None
    if len(encoded) > limit:
        raise TooLarge
    return encoded


def decode(encoded: bytes) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Return the value of a text that `encode` wrote: always a fresh copy."""
    return orjson.loads(encoded)


def _scan(value: object, limit: int) -> None:
    """Walk without paths: `size` is a lower bound of the text, so the walk ends at the budget."""
    size = 0
    stack: list[tuple[Any, int]] = [((value,), 0)]
    pop, push = stack.pop, stack.append
    while stack:
        node, depth = pop()
        size += len(node) + 1
        if size > limit + 2:
            raise TooLarge
        if type(node) is dict:
            for key in node:
                if type(key) is not str:
                    raise _Refused
                size += len(key) + 3
            node = node.values()
        for child in node:
            kind = type(child)
            if kind is str:
                size += len(child) + 1
            elif kind is int:
                if not _INT_MIN <= child <= _INT_MAX:
                    raise _Refused
            elif kind is float:
                if child - child != 0.0:
                    raise _Refused
            elif kind is dict or kind is list or kind is tuple:
                if depth == DEPTH:
                    raise _Refused
                push((child, depth + 1))
            elif child is not None and kind is not bool:
                raise _Refused
        if size > limit + 2:
            raise TooLarge


def _explain(value: object, root: str, limit: int) -> Unencodable | TooLarge:
    """Walk again with paths and name the first fault; only ever called after `_scan` met one."""
    budget = limit + 2
    stack: list[tuple[str, object, int]] = [(root, value, 0)]
    while stack:
        path, node, depth = stack.pop()
        reason = _fault(node, depth)
        if reason is not None:
            return Unencodable(path, reason)
        children: list[tuple[str, object]] = []
        if type(node) is dict:
            for key, child in cast("dict[object, object]", node).items():
                if type(key) is not str:
                    kind = short(type(key).__name__)
                    return Unencodable(path, f"a key is {kind}, expected str")
                children.append((f"{path}.{short(key)}", child))
        elif type(node) in (list, tuple):
            items = cast("list[object]", node)
            if len(items) > budget:
                return TooLarge()
            children = [(f"{path}[{i}]", child) for i, child in enumerate(items)]
        budget -= len(children) + 1
        if budget < 0:
            return TooLarge()
        stack += [(p, c, depth + 1) for p, c in reversed(children)]
    return TooLarge()


def _fault(node: object, depth: int) -> str | None:
    kind = type(node)
    if kind in (dict, list, tuple):
        return f"deeper than {DEPTH} levels, or cyclic" if depth >= DEPTH else None
    if kind is int:
        inside = _INT_MIN <= cast("int", node) <= _INT_MAX
        return None if inside else "an integer beyond signed 64 bits"
    if kind is float:
        finite = cast("float", node) - cast("float", node) == 0.0
        return None if finite else "a number that is not finite"
    if kind in (str, bool, type(None)):
        return None
    return f"{short(kind.__name__)} is no JSON value; convert it, for example with json_safe()"


def _without_surrogates(value: object, path: str) -> object:
    """Copy an already scanned value with each lone surrogate replaced by U+FFFD."""
    if type(value) is str:
        return _mended(value)
    if type(value) is dict:
        found: dict[str, object] = {}
        for key, child in cast("dict[str, object]", value).items():
            mended = _mended(key)
            if mended in found:
                raise Unencodable(path, f"two keys become {short(mended)!r}")
            found[mended] = _without_surrogates(child, f"{path}.{short(mended)}")
        return found
    if type(value) in (list, tuple):
        items = cast("list[object]", value)
        return [_without_surrogates(child, f"{path}[{i}]") for i, child in enumerate(items)]
    return value


def _mended(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def parse(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """Return the value of foreign JSON text, or raise `BadText` naming the place (§4).

    Refused: more than 1,000,000 bytes, cut-off text, doubled keys, `NaN` and `Infinity`,
    integers beyond signed 64 bits, lone surrogates, more than 64 levels.
    """
    import json

    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > ARGUMENT_BYTES:
        message = f"the text has {size} bytes, at most {ARGUMENT_BYTES} are taken"
        raise BadText(message)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_single,
            parse_constant=_no_constant,
            parse_int=_bounded_int,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        message = f"no JSON at line {error.lineno} column {error.colno}"
        raise BadText(message) from None
    except RecursionError:
        message = f"nested deeper than {DEPTH} levels"
        raise BadText(message) from None
    # Each cheap count rules out what the walk would look for.
    deep = text.count("[") + text.count("{") > DEPTH
    if deep or "\\u" in text or not (text.isascii() or text.isprintable()):
        _inspect(value)
    return value


def _single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                message = f"the key {short(key)!r} stands twice in one object"
                raise BadText(message)
            seen.add(key)
    return found


def _no_constant(token: str) -> object:
    message = f"{token} is no JSON number"
    raise BadText(message)


def _bounded_int(digits: str) -> int:
    if len(digits) <= _INT_DIGITS:
        number = int(digits)
        if _INT_MIN <= number <= _INT_MAX:
            return number
    message = "an integer is beyond signed 64 bits"
    raise BadText(message)


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0.0:
        message = "a number is too large"
        raise BadText(message)
    return number


def _inspect(value: object) -> None:
    """Refuse depth and lone surrogates in a parsed value, naming the path."""
    stack: list[tuple[str, object, int]] = [("$", value, 0)]
    while stack:
        path, node, depth = stack.pop()
        if type(node) is str:
            _refuse_surrogate(node, path)
        elif type(node) is dict:
            for key, child in cast("dict[str, object]", node).items():
                _refuse_surrogate(key, path)
                stack.append((f"{path}.{short(key)}", child, depth + 1))
        elif type(node) is list:
            items = cast("list[object]", node)
            stack += [(f"{path}[{i}]", child, depth + 1) for i, child in enumerate(items)]
        if depth >= DEPTH and type(node) in (dict, list):
            message = f"nested deeper than {DEPTH} levels"
            raise BadText(message)


def _refuse_surrogate(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"a lone surrogate at {clean(path)[:200]}, character {error.start}"
        raise BadText(message) from None
