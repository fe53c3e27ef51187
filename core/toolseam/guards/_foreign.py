"""JSON text that somebody else wrote, taken in as strictly as the seam takes it (§4)."""

from __future__ import annotations

from typing import Any, cast

from toolseam._jsontext import BadText, parse


def read_json_object(text: str) -> dict[str, Any]:
    """Return the one object that a JSON text holds, if it is strict JSON and holds one.

    Args:
        text: at most 1,000,000 bytes.

    Raises `ToolseamError`, which names the place and quotes no value: for a text that is longer or
    cut off, doubled keys, `NaN` and `Infinity`, integers beyond signed 64 bits, lone surrogates,
    more than 64 levels, and anything but an object.
    """
    value = parse(text)
    if not isinstance(value, dict):
        raise BadText("the text holds no object")
    return cast("dict[str, Any]", value)
