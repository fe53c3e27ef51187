"""Tables of a settings file into attrs classes: strict, and with errors that name the key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args, get_origin

import attrs

from toolseam._selection import near_miss
from toolseam._settings_files import is_list, is_table, settings_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cattrs import Converter

T = TypeVar("T")

_SHOWN = 5


class _WrongValueError(ValueError):
    """What was expected instead, and for a range of which attribute."""

    def __init__(self, expected: str, key: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.key = key


class Variables(dict[str, str]):
    """Environment variables of a child process, each with the one of this process it is taken from.

    Written as a list of names, or as a table from name to name.
    """


class _WrongItemError(ValueError):
    """The item of a list at `index` is wrong; its cause says why."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def between(ge: float, le: float) -> Callable[[object, attrs.Attribute[Any], Any], None]:
    """Make an attrs validator that holds a number to a range, both ends included."""

    def check(_instance: object, attribute: attrs.Attribute[Any], value: float) -> None:
        if not ge <= value <= le:
            raise _WrongValueError(f"a number from {ge:,} to {le:,}", attribute.name)

    return check


def shaped(pattern: str, expected: str) -> Callable[[object, attrs.Attribute[Any], Any], None]:
    """Make an attrs validator of a text, or of a table's names: each matches `pattern` as a whole.

    Absent is no fault.
    """

    def check(_instance: object, attribute: attrs.Attribute[Any], value: object) -> None:
        words = [] if value is None else [value] if isinstance(value, str) else value
        if not all(re.fullmatch(pattern, word) for word in cast("Any", words)):
            raise _WrongValueError(expected, attribute.name)

    return check


def wrong_value(expected: str, key: str = "") -> ValueError:
    """Make the error of an attrs class whose keys do not go together."""
    return _WrongValueError(expected, key)


def structure(table: Mapping[str, Any], into: type[T], file: str | None, key: str = "") -> T:
    """Make an instance of an attrs class out of a parsed table.

    Args:
        table: what the file says.
        into: the attrs class that describes it.
        file: the file's name, for errors.
        key: the dotted key under which the table stands.

    Raises:
        SettingsError: names the file, the dotted key and what was expected; an unknown key gets
            a near miss. Never the value.
    """
    try:
        return _converter().structure(table, into)
    except Exception as error:  # noqa: BLE001 - a group of faults, or a plugin class's own
        faults = list(_faults(error, [key] if key else []))
    lines = [text if not path else f"{path}: {text}" for path, text in faults]
    first = faults[0][0]
    rest = "".join(f"\n{line}" for line in lines[1:_SHOWN])
    raise settings_error(faults[0][1] + rest, file, first or None) from None


@cache
def _converter() -> Converter:
    """Make a converter that takes each kind of value for itself only; `"8"` is no number.

    One a process: what it compiles for a class takes longer than reading a file with it. It keeps
    every settings class that it was asked for as long as the process lives, one of a plugin that
    was taken away or reloaded too.
    """
    from cattrs import Converter
    from cattrs.gen import (
        make_dict_structure_fn,
        make_mapping_structure_fn,  # pyright: ignore[reportUnknownVariableType]
    )

    converter = Converter(forbid_extra_keys=True, detailed_validation=True)

    def for_class(cls: Any) -> Callable[[Any, Any], Any]:  # noqa: ANN401 - any attrs class
        inner = make_dict_structure_fn(cls, converter)
        return lambda value, _: inner(_table(value), cls)

    def for_mapping(cls: Any) -> Callable[[Any, Any], Any]:  # noqa: ANN401 - any Mapping[...]
        inner = make_mapping_structure_fn(cls, converter, structure_to=dict)
        return lambda value, _: inner(_table(value), cls)

    for kind, hook in _PLAIN.items():
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook_func(_is_literal, _word)
    converter.register_structure_hook_func(_is_optional, _optional(converter))
    converter.register_structure_hook_func(_is_list, _list(converter))
    converter.register_structure_hook_factory(_is_mapping, for_mapping)
    converter.register_structure_hook_factory(attrs.has, for_class)
    return converter


def _is_literal(cls: object) -> bool:
    return get_origin(cls) is Literal


def _member(value: object, cls: type[StrEnum]) -> StrEnum:
    words = [str(member) for member in cls]
    if not isinstance(value, str) or value not in words:
        raise _WrongValueError(f"one of {', '.join(words)}")
    return cls(value)


def _is_list(cls: object) -> bool:
    return get_origin(cls) in {tuple, list, frozenset}


def _is_mapping(cls: object) -> bool:
    return get_origin(cls) in {dict, Mapping}


def _is_optional(cls: object) -> bool:
    return type(None) in get_args(cls) and len(get_args(cls)) == len(("value", "none"))


def _optional(converter: Converter) -> Callable[[Any, Any], Any]:
    """TOML has no null: what is there must be the other member."""

    def hook(value: Any, cls: Any) -> Any:  # noqa: ANN401 - a value of any declared kind
        member = next(member for member in get_args(cls) if member is not type(None))
        return converter.structure(value, member)

    return hook


def _word(value: object, cls: object) -> object:
    words = get_args(cls)
    if not isinstance(value, str) or value not in words:
        raise _WrongValueError(f"one of {', '.join(words)}")
    return value


def _list(converter: Converter) -> Callable[[Any, Any], Any]:
    """A text is no list of its letters: what is declared as a list must be written as one."""

    def hook(value: Any, cls: Any) -> Any:  # noqa: ANN401 - a value of any declared kind
        member = get_args(cls)[0]
        if not is_list(value):
            raise _WrongValueError("a list of texts" if member is str else "a list")
        items: list[Any] = []
        for index, item in enumerate(value):
            try:
                items.append(converter.structure(item, member))
            except Exception as error:
                raise _WrongItemError(index) from error
        return get_origin(cls)(items)

    return hook


def _variables(value: Any, _: object) -> Variables:  # noqa: ANN401 - parsed TOML
    """Read `["A"]`, or `{ A = "B" }`."""
    if isinstance(value, Variables):
        return value
    pairs: Any = None
    if is_table(value):
        pairs = list(value.items())
    elif is_list(value):
        pairs = [(name, name) for name in value]
    if pairs is None or not all(isinstance(word, str) for pair in pairs for word in pair):
        raise _WrongValueError("a list of names of variables, or a table of them")
    return Variables(pairs)


def _exactly(kind: type, expected: str) -> Callable[[Any, Any], Any]:
    def hook(value: Any, _: object) -> Any:  # noqa: ANN401 - parsed TOML
        if type(value) is not kind:
            raise _WrongValueError(expected)
        return value

    return hook


def _path(value: object, _: object) -> Path:
    if not isinstance(value, str):
        raise _WrongValueError("a path")
    return Path(value)


def _number(value: Any, _: object) -> float:  # noqa: ANN401 - parsed TOML
    if type(value) not in {int, float} or not math.isfinite(value):
        raise _WrongValueError("a number")
    return float(value)


def _table(value: object) -> Mapping[str, Any]:
    if not is_table(value):
        raise _WrongValueError("a table")
    return value


def _faults(error: BaseException, path: list[str]) -> Iterator[tuple[str, str]]:
    """Flatten what cattrs found into pairs of dotted key and complaint."""
    from cattrs import (
        AttributeValidationNote,
        ClassValidationError,
        ForbiddenExtraKeysError,
        IterableValidationError,
    )

    if isinstance(error, ClassValidationError | IterableValidationError):
        placed, others = error.group_exceptions()
        for inner, note in placed:
            name = note.name if isinstance(note, AttributeValidationNote) else str(note.index)
            yield from _faults(inner, [*path, name])
        for inner in others:
            yield from _faults(inner, path)
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [field.name for field in attrs.fields(error.cl)]
        for name in sorted(error.extra_fields):
            yield ".".join([*path, name]), f"unknown key{near_miss(name, known)}"
    elif isinstance(error, _WrongItemError) and error.__cause__ is not None:
        yield from _faults(error.__cause__, [*path, str(error.index)])
    elif isinstance(error, _WrongValueError):
        yield ".".join([*path, error.key] if error.key else path), f"expected {error.expected}"
    else:
        yield ".".join(path), f"refused with {type(error).__name__}"


_PLAIN: Final[dict[type, Callable[[Any, Any], Any]]] = {
    str: _exactly(str, "a text"),
    int: _exactly(int, "a whole number"),
    bool: _exactly(bool, "true or false"),
    float: _number,
    Path: _path,
    Variables: _variables,
    StrEnum: _member,
}
