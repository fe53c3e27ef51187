"""Turning what programs hold into what JSON can say, for tools that need it (contract §1)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, cast

from toolseam._errors import ContractViolation
from toolseam._jsontext import DEPTH
from toolseam._text import exact, short

if TYPE_CHECKING:
    from collections.abc import Iterator

_INLINE_BYTES = 256
_VALUES = 1_000_000
_WRITTEN_OUT = 40
_PLAIN = (str, bool, type(None))


def json_safe(value: object) -> object:
    """Return `value` as strict JSON: the same facts, nothing lost in silence.

    Decimal becomes text with its digits, dates and times ISO 8601 (an offset only where there is
    one), UUID text, an enum member its value, a set a sorted list, bytes
    `{"bytes": n, "base64": ...}` up to 256 bytes and `{"bytes": n}` above, a number that is not
    finite or beyond signed 64 bits text. Two keys that become one raise `ContractViolation`, and
    so does a value of any other type, one that is deeper than 64 levels or cyclic, and one that
    spells out to more than 1,000,000 values.
    """
    return _safe(value, "$", 0, iter(range(_VALUES)))


def _safe(value: object, path: str, depth: int, left: Iterator[int]) -> object:
    if next(left, None) is None:
        raise ContractViolation(path, f"more than {_VALUES} values")
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return _safe(value.value, path, depth, left)
    if isinstance(value, int):
        number = int(value)
        return number if -(2**63) <= number < 2**63 else _digits(number)
    if isinstance(value, float):
        real = float(value)
        return real if real - real == 0.0 else str(Decimal(real))
    if depth >= DEPTH:
        raise ContractViolation(path, f"deeper than {DEPTH} levels, or cyclic")
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), path, depth, left)
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_safe(item, f"{path}[{i}]", depth + 1, left) for i, item in enumerate(items)]
    if isinstance(value, AbstractSet):
        members = cast("AbstractSet[object]", value)
        return sorted((_safe(m, f"{path}{{}}", depth + 1, left) for m in members), key=_rank)
    return _scalar(value, path)


def _rank(member: object) -> tuple[int, float, str]:
    if type(member) in (int, float):
        return 0, cast("float", member), ""
    return 1, 0, f"{type(member).__name__} {member}"


def _mapping(
    value: Mapping[object, object], path: str, depth: int, left: Iterator[int]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, child in value.items():
        safe = _safe(key, path, depth + 1, left)
        name = safe if isinstance(safe, str) else _key_text(safe, path)
        if name in found:
            raise ContractViolation(path, f"two keys become {short(name)!r}")
        found[name] = _safe(child, f"{path}.{short(name)}", depth + 1, left)
    return found


def _key_text(key: object, path: str) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int | float):
        return str(key)
    raise ContractViolation(path, f"a key is {short(type(key).__name__)}, expected text")


def _scalar(value: object, path: str) -> object:
    from datetime import date, datetime, time, timedelta
    from uuid import UUID

    if isinstance(value, str):
        return exact(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        # Written out where that is short; `Decimal("1e999999")` would be a megabyte.
        plain = value.is_finite() and -_WRITTEN_OUT < value.adjusted() < _WRITTEN_OUT
        return f"{value:f}" if plain else str(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        return _binary(cast("bytes", value))
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

    held = memoryview(value)  # counts bytes, and copies none
    if held.nbytes > _INLINE_BYTES:
        return {"bytes": held.nbytes}
    return {"bytes": held.nbytes, "base64": base64.b64encode(held).decode()}
