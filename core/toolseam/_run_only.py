"""What never reaches the provider is held by a container that no serialiser opens (contract §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, final

from toolseam._errors import publish
from toolseam._jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T_co = TypeVar("T_co", covariant=True)


@final
class RunOnly(Generic[T_co]):
    """An opaque, immutable container for what only the host program may read (§1).

    It reads like what it holds: item access, iteration, `len`, `in`, truth, `==` with plain JSON;
    `value` gives a fresh copy. It is no list, dict, `Sequence`, `Mapping` or attrs class, its
    text shows the shape alone, and it cannot be pickled.
    """

    # A closure keeps the payload: serialisers that walk `__slots__` find a function.
    __slots__ = ("_peek",)
    _peek: Callable[[], bytes | tuple[Any, ...]]

    def __init__(self) -> None:
        message = "RunOnly is made by ToolResult and ToolArtifact, never by hand"
        raise TypeError(message)

    def __init_subclass__(cls) -> NoReturn:
        message = "RunOnly is final"
        raise TypeError(message)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        message = "RunOnly is immutable"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    @property
    def value(self) -> Any:  # noqa: ANN401 - JSON has no narrower type
        """A fresh plain copy: JSON values, or a list of artifacts."""
        held = self._peek()
        return decode(held) if type(held) is bytes else list(held)

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        return self.value[key]

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.value)

    def __len__(self) -> int:
        held = self._peek()
        return len(decode(held)) if type(held) is bytes else len(held)

    def __contains__(self, item: object) -> bool:
        return item in self.value

    def __bool__(self) -> bool:
        held = self._peek()
        return bool(decode(held)) if type(held) is bytes else bool(held)

    def __eq__(self, other: object) -> bool:
        mine: object = self.value
        if isinstance(other, RunOnly):
            theirs: object = cast("RunOnly[object]", other).value
            return mine == theirs
        if isinstance(other, tuple):
            return mine == list(cast("tuple[object, ...]", other))
        return mine == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<RunOnly {shape(self.value)}>"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __copy__(self) -> RunOnly[T_co]:
        return self

    def __deepcopy__(self, memo: object) -> RunOnly[T_co]:
        return self

    def __reduce_ex__(self, protocol: object = None) -> NoReturn:
        message = "run-only values are not serialised; use encode_result() and decode_result()"
        raise TypeError(message)

    __reduce__ = __reduce_ex__
    __getstate__ = __reduce_ex__


publish(globals(), "RunOnly")


# Makes a value without asking its `__init__`, which refuses.
blank: Callable[[type], Any] = object.__new__


def hold(payload: bytes | tuple[Any, ...]) -> RunOnly[Any]:
    """Put an encoded JSON text, or a tuple of artifacts, behind a `RunOnly`."""
    held = blank(RunOnly)
    object.__setattr__(held, "_peek", lambda: payload)
    return cast("RunOnly[Any]", held)


def peek(held: RunOnly[Any]) -> Any:  # noqa: ANN401 - bytes or a tuple, the caller knows which
    """Return the payload itself: for the core's sinks, which write bytes that exist already."""
    return held._peek()  # noqa: SLF001 - the one door


def shape(value: object) -> str:
    """Describe a JSON value without a byte of it."""
    if isinstance(value, dict):
        return f"object of {len(cast('dict[str, object]', value))}"
    if isinstance(value, list):
        return f"list of {len(cast('list[object]', value))}"
    if isinstance(value, str):
        return f"text of {len(value)} characters"
    return type(value).__name__


EMPTY_OBJECT: RunOnly[Any] = hold(b"{}")
NO_ARTIFACTS: RunOnly[Any] = hold(())
