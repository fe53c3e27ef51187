"""What a tool returns (contract §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast, final

import attrs

from toolseam._artifacts import ToolArtifact
from toolseam._errors import ContractViolation, ErrorCode, publish
from toolseam._jsontext import TooLarge, Unencodable, encode
from toolseam._render import failure_text
from toolseam._run_only import EMPTY_OBJECT, NO_ARTIFACTS, RunOnly, blank, hold, peek
from toolseam._text import exact, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._command import CommandResult

    # For a type checker the factories are plain static methods.
    _class_only = staticmethod
else:

    class _class_only:  # noqa: N801 - reads as the decorator that it is
        """A factory of the class that an instance does not have: `if result.error:` must fail."""

        def __init__(self, make: Callable[..., ToolResult]) -> None:
            self._make = make
            self.__doc__ = make.__doc__

        def __get__(self, instance: object, owner: type) -> Callable[..., ToolResult]:
            if instance is None:
                return self._make
            name = self._make.__name__
            message = f"a ToolResult has no .{name}; read .content, .failure or .success"
            raise AttributeError(message)


class _Value:
    """Copies of an immutable value are the value itself; it is not pickled."""

    __slots__ = ()

    def __copy__(self) -> Any:  # noqa: ANN401
        return self

    def __deepcopy__(self, memo: object) -> Any:  # noqa: ANN401
        return self

    def __reduce_ex__(self, protocol: object = None) -> NoReturn:
        message = f"{type(self).__name__} is not pickled; use encode_result() and decode_result()"
        raise TypeError(message)

    # tblib, which Dask brings, asks this one of every exception.
    __reduce__ = __reduce_ex__


@final
@attrs.frozen(init=False, eq=False, repr=False, str=False)
class ToolError(_Value, Exception):
    """Why a call failed: the record in `result.failure`, and what a tool may raise (§1).

    Args:
        message: for people and the model; no secret, no text of a driver, an exception or the
            operating system. At most 2,000 bytes leave the seam.
        code: one of `ErrorCode`, or its value.
        retriable: information for the host; nothing in toolseam retries a tool by itself.
        metadata: a JSON object for the trace, at most 50,000 bytes; never for the provider.

    Raises `ContractViolation` for a message that is no text, a code that does not exist, a
    `retriable` that is no bool, or metadata that is no strict JSON object.
    """

    message: str
    code: ErrorCode
    retriable: bool
    metadata: RunOnly[Any]
    _omitted: tuple[str, ...]

    def __init__(
        self,
        message: str,
        code: ErrorCode | str = ErrorCode.EXECUTION_ERROR,
        *,
        retriable: bool = False,
        metadata: Mapping[str, Any] | RunOnly[Any] | None = None,
    ) -> None:
        text = _text(message, "message")
        held, omitted = _metadata(metadata)
        if type(retriable) is not bool:
            raise ContractViolation(
                "retriable", f"{short(type(retriable).__name__)}, expected bool"
            )
        _fill_error(self, text, _code(code), retriable, held, omitted)

    def __init_subclass__(cls) -> NoReturn:
        message = "ToolError is final; put a finer reason into metadata['reason']"
        raise TypeError(message)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"<ToolError {self.code.value}: {len(self.message)} characters>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not ToolError:
            return NotImplemented
        return (
            self.message == other.message
            and self.code is other.code
            and self.retriable == other.retriable
            and self.metadata == other.metadata
        )

    def __hash__(self) -> int:
        return hash((self.message, self.code, self.retriable))


@final
@attrs.frozen(init=False, repr=False, hash=False)
class ToolResult(_Value):
    """What one call gave: a text for the provider, and what stays with the run (§1).

    Built by `ToolResult.text`, `ToolResult.error` and `ToolResult.from_command` alone. It is
    immutable, and a deep copy of what it was given.
    """

    content: str
    failure: ToolError | None
    data: RunOnly[Any] | None
    metadata: RunOnly[Any]
    artifacts: RunOnly[ToolArtifact]
    _output: str
    _omitted: tuple[str, ...]

    def __init__(self, *_: object, **__: object) -> None:
        message = "build a ToolResult with ToolResult.text() or ToolResult.error()"
        raise TypeError(message)

    def __init_subclass__(cls) -> NoReturn:
        message = "ToolResult is final"
        raise TypeError(message)

    @_class_only
    def text(
        content: str,  # noqa: N805
        *artifacts: ToolArtifact,
        data: Any = None,  # noqa: ANN401
        metadata: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Return a success.

        Args:
            content: the single text for the provider; 50,000 bytes of it leave the seam.
            artifacts: what people look at; 50,000 bytes in all.
            data: strict JSON for the host program, at most 50,000 bytes, else it is left out
                and the step says so. Convert with `json_safe` what JSON cannot say.
            metadata: a JSON object for the trace, likewise.

        Raises `ContractViolation`, naming the path, for a value of a wrong kind.
        """
        content = content if type(content) is str else _text(content, "content")
        held, omitted = (None, ()) if data is None else _held(data, "data")
        extra = EMPTY_OBJECT
        if metadata is not None:
            extra, more = _metadata(metadata)
            omitted += more
        shown = NO_ARTIFACTS if not artifacts else _artifacts(artifacts)
        return build(content, None, held, extra, shown, "", omitted)

    @_class_only
    def error(
        message: str,  # noqa: N805
        code: ErrorCode | str = ErrorCode.EXECUTION_ERROR,
        *,
        output: str = "",
        retriable: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Return a failure; it can carry neither data nor artifacts.

        Args:
            message: for people and the model, at most 2,000 bytes leave the seam.
            code: one of `ErrorCode`, or its value.
            output: what the tool had to say before it failed; it follows the message.
            retriable: information for the host.
            metadata: a JSON object for the trace.

        Raises `ContractViolation` like `ToolError`.
        """
        failure = ToolError(message, code, retriable=retriable, metadata=metadata)
        return failed(failure, _text(output, "output"))

    @_class_only
    def from_command(command: CommandResult) -> ToolResult:  # noqa: N805
        """Return the outcome of a child process: exit 0 is success, whatever its text says.

        Anything else is `command_failed`, or `timeout`, which wins; `metadata` has `exit_code`
        and `signal`. Output is stdout, then stderr, without ANSI sequences.
        """
        from toolseam._command import ending

        ended = ending(command)
        if ended.code is None:
            return ToolResult.text(ended.output, metadata=ended.metadata)
        return ToolResult.error(
            ended.message, ended.code, output=ended.output, metadata=ended.metadata
        )

    @property
    def success(self) -> bool:
        """Whether the call worked; derived from `failure` alone."""
        return self.failure is None

    @property
    def is_error(self) -> bool:
        """The opposite of `success`."""
        return self.failure is not None

    @property
    def partial_output(self) -> str:
        """What a failing tool had to say before it failed; empty for a success."""
        return self._output

    def unwrap(self) -> str:
        """Return the content of a success, or raise a copy of the failure."""
        if self.failure is None:
            return self.content
        raise copy_error(self.failure)

    def _no_text(self, *_: object) -> NoReturn:
        message = "a ToolResult is no text; read .content (or repr() for its shape)"
        raise TypeError(message)

    __str__ = __format__ = __bytes__ = _no_text

    def __repr__(self) -> str:
        status = "ok" if self.failure is None else self.failure.code.value
        shown = [str(a.type) for a in self.artifacts]
        data = "" if self.data is None else f" data={len(peek(self.data))} bytes"
        size = len(self.content)
        return f"<ToolResult {status} content={size} characters{data} artifacts={shown}>"


publish(globals(), "ToolError", "ToolResult")
# The public module name hides these names from whoever resolves the annotations later.
for _value in (ToolError, ToolResult):
    attrs.resolve_types(_value, globals())


def build(
    content: str,
    failure: ToolError | None,
    data: RunOnly[Any] | None,
    metadata: RunOnly[Any],
    artifacts: RunOnly[ToolArtifact],
    output: str,
    omitted: tuple[str, ...],
) -> ToolResult:
    """Put a result together from parts that have been judged; for the core alone."""
    result: Any = blank(ToolResult)
    result.__attrs_init__(content, failure, data, metadata, artifacts, output, omitted)
    return cast("ToolResult", result)


def failed(failure: ToolError, output: str = "", omitted: tuple[str, ...] = ()) -> ToolResult:
    """Return the result of a failure; its content is the renderer's work (§6)."""
    omitted = omitted or failure._omitted  # noqa: SLF001
    content, _ = failure_text(failure.code, failure.message, output)
    return build(content, failure, None, failure.metadata, NO_ARTIFACTS, output, omitted)


def refusal(
    code: ErrorCode, message: str, *, retriable: bool = False, **metadata: object
) -> ToolResult:
    """Return a failure that the framework itself states, `contract_error` included."""
    held = hold(encode(metadata)) if metadata else EMPTY_OBJECT
    return failed(ToolError(message, code, retriable=retriable, metadata=held))


def copy_error(error: ToolError) -> ToolError:
    """Return a fresh equal error, without traceback, cause or context."""
    fresh = cast("Any", ToolError).__new__(ToolError)
    _fill_error(
        fresh,
        error.message,
        error.code,
        error.retriable,
        error.metadata,
        error._omitted,  # noqa: SLF001
    )
    return cast("ToolError", fresh)


def _fill_error(error: Any, message: str, *others: object) -> None:  # noqa: ANN401
    error.__attrs_init__(message, *others)
    Exception.__init__(error, message)  # attrs has put every field into `args`


def omitted(result: ToolResult) -> tuple[str, ...]:
    """Return the names of the channels that were left out as too large."""
    return result._omitted  # noqa: SLF001


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise ContractViolation(path, f"{short(type(value).__name__)}, expected str")
    return exact(value)


def _code(code: object) -> ErrorCode:
    if isinstance(code, ErrorCode):
        return code
    try:
        return ErrorCode(cast("str", code))
    except ValueError:
        known = ", ".join(ErrorCode)
        raise ContractViolation("code", f"{short(code)!r} is none of {known}") from None


def _held(value: object, path: str) -> tuple[RunOnly[Any] | None, tuple[str, ...]]:
    # What a result already holds is taken as it is; a `RunOnly` of artifacts is no JSON.
    kind: type = type(value)
    if kind is RunOnly and type(peek(cast("RunOnly[Any]", value))) is bytes:
        return cast("RunOnly[Any]", value), ()
    try:
        return hold(encode(value, root=path)), ()
    except TooLarge:
        return None, (path,)
    except Unencodable as error:
        raise ContractViolation(error.path, error.reason) from None


def _metadata(value: object) -> tuple[RunOnly[Any], tuple[str, ...]]:
    if value is None:
        return EMPTY_OBJECT, ()
    held, omitted = _held(value, "metadata")
    if held is None:
        held = EMPTY_OBJECT
    if not peek(held).startswith(b"{"):
        kind = short(type(value).__name__)
        raise ContractViolation("metadata", f"{kind}, expected dict with text keys")
    return held, omitted


def _artifacts(artifacts: tuple[ToolArtifact, ...]) -> RunOnly[ToolArtifact]:
    for i, artifact in enumerate(artifacts):
        kind: type = type(artifact)
        if kind is not ToolArtifact:
            name = short(kind.__name__)
            raise ContractViolation(f"artifacts[{i}]", f"{name}, expected ToolArtifact")
    return hold(artifacts)
