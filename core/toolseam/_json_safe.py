"""Turning what programs hold into what JSON can say, for tools that need it (contract §1)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import Enum
from typing import cast

from toolseam._errors import ContractViolation
from toolseam._text import short

_INLINE_BYTES = 256
_PLAIN = (str, bool, type(None))


def json_safe(value: object) -> object:
    """Return `value` as strict JSON: the same facts, nothing lost in silence.

    Decimal becomes text with its digits, dates and times ISO 8601 (an offset only where there is
    one), UUID text, an enum member its value, a set a sorted list, bytes
    `{"bytes": n, "base64": ...}` up to 256 bytes and `{"bytes": n}` above, a number that is not
    finite or beyond signed 64 bits text. Two keys that become one raise `ContractViolation`, and
    so does a value of any other type, or one that is deeper than 64 levels or cyclic.
    """
    return _safe(value, "$", 0)


def _safe(value: object, path: str, depth: int) -> object:
    from toolseam._jsontext import DEPTH

    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return _safe(value.value, path, depth)
    if isinstance(value, int):
        number = int(value)
        return number if -(2**63) <= number < 2**63 else _digits(number)
    if isinstance(value, float):
        number = float(value)
        return number if number - number == 0.0 else str(number)
    if depth >= DEPTH:
        raise ContractViolation(path, f"deeper than {DEPTH} levels, or cyclic")
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), path, depth)
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_safe(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(items)]
    if isinstance(value, Set):
        members = [_safe(item, f"{path}{{}}", depth + 1) for item in cast("Set[object]", value)]
        return sorted(members, key=lambda member: (type(member).__name__, str(member)))
    return _scalar(value, path)


def _mapping(value: Mapping[object, object], path: str, depth: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, child in value.items():
        safe = _safe(key, path, depth + 1)
        name = safe if isinstance(safe, str) else _key_text(safe, path)
        if name in found:
            raise ContractViolation(path, f"two keys become {short(name)!r}")
        found[name] = _safe(child, f"{path}.{short(name)}", depth + 1)
    return found


def _key_text(key: object, path: str) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return str(key)
    raise ContractViolation(path, f"a key is {short(type(key).__name__)}, expected text")


def _scalar(value: object, path: str) -> object:
    from datetime import date, datetime, time, timedelta
    from decimal import Decimal
    from uuid import UUID

    if isinstance(value, str):
        return "".join((value,))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else str(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        return _binary(bytes(value))
    kind = short(type(value).__name__)
    raise ContractViolation(path, f"{kind} has no JSON form; convert it before")


def _digits(number: int) -> str:
    # Python refuses to print integers of more than 4,300 digits; hexadecimal always works.
    try:
        return str(number)
    except ValueError:
        return hex(number)


def _binary(value: bytes) -> dict[str, object]:
    import base64

    if len(value) > _INLINE_BYTES:
        return {"bytes": len(value)}
    return {"bytes": len(value), "base64": base64.b64encode(value).decode()}
