"""Secrets that show by the key they stand under, in a JSON value."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from toolseam.guards._basic import is_basic
from toolseam.guards._names import is_sensitive_name
from toolseam.guards._secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH = 64
_NAMES = ("name", "key", "field", "Name", "Key")
_VALUES = frozenset({"value", "Value"})
_PAIR = 2


def mask_fields(value: object, text: Callable[[str], str]) -> object:
    """Mask what stands under a sensitive key of a JSON value, and judge all other strings.

    A pair (`["X-Auth-Token", "…"]`) and a named value (`{"name": "password", "value": "…"}`)
    count as key and value too; `auth` is sensitive where basic authentication stands below it.

    Args:
        value: what a JSON decoder gives; it is not changed.
        text: what becomes of a string that stands under no sensitive key.

    Returns:
        A copy as it may be shown.

    Raises:
        RecursionError: the value is nested more than 64 deep.
    """
    return _masked(value, text, 0)


def _masked(value: object, text: Callable[[str], str], depth: int) -> object:
    if depth > DEPTH:
        raise RecursionError
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        named = any(_is_sensitive(fields.get(name)) for name in _NAMES)
        return {
            key: MASK
            if is_sensitive_name(key) or (named and key in _VALUES) or is_basic(key, each)
            else _masked(each, text, depth + 1)
            for key, each in fields.items()
        }
    if isinstance(value, list):
        items = cast("list[object]", value)
        if len(items) == _PAIR and _is_sensitive(items[0]):
            return [items[0], MASK]
        return [_masked(each, text, depth + 1) for each in items]
    return text(value) if isinstance(value, str) else value


def _is_sensitive(name: object) -> bool:
    return isinstance(name, str) and is_sensitive_name(name)
