"""From raw text or a mapping to the one JSON text of the arguments (contract §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import orjson

from toolseam._errors import ErrorCode
from toolseam._jsontext import (
    ARGUMENT_BYTES,
    BadText,
    TooLarge,
    Unencodable,
    decode,
    encode,
    parse,
)
from toolseam._repairs import Mender, Unfit, fill, nodes_of
from toolseam._result import ToolError
from toolseam._text import exact, short
from toolseam._validator import kind_of, validator_for

if TYPE_CHECKING:
    from collections.abc import Callable

# orjson itself takes integers up to 2**64; those beyond 53 bits go the long way.
_EXACT = orjson.OPT_STRICT_INTEGER
# Types that hold no float that an integer might be meant by.
_FINAL = frozenset({str, int, bool, type(None)})
# Past NamedTuple's own constructor, which costs as much as validation.
_quickly: Callable[[type[Arguments], tuple[object, ...]], Arguments] = cast("Any", tuple).__new__
_REPLACED = "\ufffd".encode()


class Arguments(NamedTuple):
    """What a tool is called with, in one piece.

    `text` is the one JSON text that is recorded, approved and executed; `value` a fresh copy of
    it for the tool; `repairs` what was mended, without values.
    """

    text: bytes
    value: dict[str, Any]
    repairs: tuple[str, ...]


class ArgumentReader:
    """Reads and judges the arguments of one tool; immutable, to be shared by threads.

    Args:
        schema: a closed schema, from `close` or `schema_of`.
    """

    __slots__ = ("_defaults", "_fills", "_integers", "_is_valid", "_judge", "_most", "_root")

    def __init__(self, schema: dict[str, Any]) -> None:
        self._judge = validator_for(schema)
        self._is_valid = self._judge.is_valid
        self._root = nodes_of(schema)
        self._most = len(self._root.properties)
        self._defaults = tuple(self._root.defaults)
        self._fills = self._root.fills
        self._integers = self._root.has_integers

    def read(self, raw: Any) -> Arguments:  # noqa: ANN401 - judging what comes is its work
        """Return the arguments that `raw` gives, or raise `ToolError` (`invalid_arguments`).

        Args:
            raw: JSON text (`str`, or `bytes` of UTF-8) of at most 1,000,000 bytes, or a mapping;
                empty, blank, `null` and `None` are `{}`.

        The error names path and rule, also in its metadata, and never quotes a value.
        """
        # Scalars alone are what nearly every call brings. They cannot be deep, cyclic or foreign,
        # nor hold a float that an integer was meant by, and a copy of the dict shares nothing
        # that could change. All else goes the long way, more keys than there are included: one
        # text under a million keys would be written a million times.
        kind = type(raw)  # pyright: ignore[reportUnknownVariableType]
        if kind is dict and len(raw) <= self._most:
            value = raw.copy()
            for held in value.values():
                if type(held) not in _FINAL:
                    break
            else:
                try:
                    text = orjson.dumps(value, option=_EXACT)
                except TypeError:  # a lone surrogate, a key of its own type, a long integer
                    return self._read(raw)
                if self._is_valid(value) and len(text) <= ARGUMENT_BYTES:
                    if self._defaults:
                        text = self._filled(value, text)
                    return _quickly(Arguments, (text, value, ()))
        return self._read(raw)

    def _filled(self, value: dict[str, Any], text: bytes) -> bytes:
        missing = [(key, default) for key, default in self._defaults if key not in value]
        if not missing:
            return text
        for key, default in missing:
            value[key] = default()
        return _bounded(orjson.dumps(value))

    def _read(self, raw: object) -> Arguments:
        value, notes = _object_of(raw)
        if not self._is_valid(value):
            notes += self._mended(value)
            complaint = self._judge.first_error(value)
            if complaint is not None:
                raise _invalid(*complaint)
        elif self._integers and not _FINAL.issuperset(map(type, value.values())):
            notes += self._mended(value)  # 25.0 is a valid integer, and no int yet
        if self._fills:
            fill(self._root, value)
        return Arguments(_bounded(orjson.dumps(value)), value, notes)

    def _mended(self, value: dict[str, Any]) -> tuple[str, ...]:
        mender = Mender()
        try:
            mender.mend(self._root, value)
        except Unfit as error:
            raise _invalid(*error.complaint) from None
        return mender.notes


def _object_of(raw: Any) -> tuple[dict[str, Any], tuple[str, ...]]:  # noqa: ANN401
    """Return a fresh dict of strict JSON without lone surrogates, and what was unpacked for it."""
    if isinstance(raw, str):
        return _object_in(exact(raw))
    if raw is None:
        return {}, ()
    if isinstance(raw, bytes):
        return _object_in(_decoded(raw))
    if isinstance(raw, Mapping):
        return _copied(cast("Mapping[str, Any]", raw)), ()
    kind = kind_of(raw) if type(raw) in (list, bool, int, float) else short(type(raw).__name__)
    raise _invalid("$", "type", f"{kind} where an object is declared")


def _decoded(raw: bytes) -> str:
    if len(raw) > ARGUMENT_BYTES:
        raise _too_large()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise _invalid("$", "json", f"no UTF-8 at byte {error.start}") from None


def _object_in(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    value = _parsed(text)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value), ()
    if isinstance(value, str) and value.lstrip()[:1] in ("", "{"):
        inner = cast("dict[str, Any]", _parsed(value))
        return inner, ("$: an object inside a JSON string, unpacked",)
    raise _invalid("$", "type", f"{kind_of(value)} where an object is declared")


def _parsed(text: str) -> object:
    if len(text) <= ARGUMENT_BYTES and not text.strip():
        return {}
    try:
        value = parse(text)
    except BadText as error:
        raise _invalid("$", "json", str(error)) from None
    return {} if value is None else value


def _copied(raw: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given = cast("dict[str, Any]", raw) if type(raw) is dict else dict(raw)
        text = encode(given, limit=ARGUMENT_BYTES)
        if _REPLACED in text:
            _refuse_surrogates(given)
    except TooLarge:
        raise _too_large() from None
    except Unencodable as error:
        raise _invalid(error.path, "json", error.reason) from None
    except BadText as error:
        raise _invalid("$", "json", str(error)) from None
    except Exception as error:  # noqa: BLE001 - a mapping of somebody else's may raise anything
        kind = short(type(error).__name__)
        raise _invalid("$", "json", f"the mapping raised {kind} when it was read") from None
    return cast("dict[str, Any]", decode(text))


def _refuse_surrogates(given: dict[str, Any]) -> None:
    """Tell a U+FFFD of the caller's from a lone surrogate that `encode` replaced."""
    try:
        orjson.dumps(given)
    except TypeError:
        import json

        parse(json.dumps(given), limit=None)  # the escapes are refused by place


def _bounded(text: bytes) -> bytes:
    """Return the text of arguments unless it is so long that it could not be read again."""
    if len(text) > ARGUMENT_BYTES:
        raise _too_large()
    return text


def _too_large() -> ToolError:
    return _invalid("$", "json", f"the arguments have more than {ARGUMENT_BYTES} bytes")


def _invalid(path: str, rule: str, expected: str) -> ToolError:
    return ToolError(
        f"{path}: {expected}",
        ErrorCode.INVALID_ARGUMENTS,
        metadata={"path": path, "rule": rule},
    )
