"""What a tool gave is judged here: sound, or a breach of the contract (§5)."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, cast

from toolseam._artifacts import ToolArtifact
from toolseam._errors import ContractViolation, ErrorCode, ToolseamError
from toolseam._result import ToolError, ToolResult
from toolseam._run_only import EMPTY_OBJECT, NO_ARTIFACTS, RunOnly, peek
from toolseam._text import short

_CHANGED = "a ToolResult whose members were changed"


class Broken(ToolseamError):
    """A tool or a wrapper broke the contract: `path` and `reason` are for the step and the log.

    A path has keys in it, which are data: what has a secret's shape is masked.
    """

    def __init__(self, path: str, reason: str, *, wrapper: object | None = None) -> None:
        from toolseam.guards import mask_secrets  # a listing does without

        self.path, _ = mask_secrets(path)
        self.reason, _ = mask_secrets(reason)
        super().__init__(f"{self.path}: {self.reason}")
        self.wrapper = wrapper
        self.recorded = False


def fault_of(value: object) -> tuple[str, str] | None:
    """Return the path and reason why `value` is no sound ToolResult, or None if it is (§5)."""
    if type(value) is not ToolResult:
        dispose(value)
        return "$", f"{short(type(value).__name__)}, expected ToolResult"
    try:
        failure = value.failure
        if (
            type(value.content) is str
            and type(value._output) is str  # noqa: SLF001 - a property costs a frame a call
            and type(value._omitted) is tuple  # noqa: SLF001
            and (value.metadata is EMPTY_OBJECT or _holds(value.metadata, bytes))
            and (value.data is None or (failure is None and _holds(value.data, bytes)))
            and (value.artifacts is NO_ARTIFACTS or (failure is None and _shows(value.artifacts)))
        ):
            return None if failure is None else _fault_of_failure(failure)
    except AttributeError:
        return "$", "a ToolResult that no factory has built"
    return "$", _CHANGED


def as_broken(error: BaseException, wrapper: object | None = None) -> Broken | None:
    """Return the breach of contract that an exception stands for, or None; `wrapper` raised it."""
    if isinstance(error, Broken):
        return error
    if isinstance(error, ContractViolation):
        return Broken(error.path, error.reason, wrapper=wrapper)
    if isinstance(error, ToolError):
        fault = _fault_of_failure(error)
        return None if fault is None else Broken(*fault, wrapper=wrapper)
    return None


def dispose(value: object) -> None:
    """Close a coroutine or generator that will never be awaited."""
    if inspect.iscoroutine(value) or inspect.isgenerator(value):
        with contextlib.suppress(BaseException):  # its own clean-up failed; it is dropped anyway
            value.close()


def _fault_of_failure(failure: object) -> tuple[str, str] | None:
    if type(failure) is not ToolError or type(failure.message) is not str:
        return "failure", _CHANGED
    if failure.code is ErrorCode.CONTRACT_ERROR:
        return "failure.code", "only the framework issues contract_error"
    if type(failure.code) is not ErrorCode or not _holds(failure.metadata, bytes):
        return "failure", _CHANGED
    return None


def _holds(held: object, kind: type) -> bool:
    return type(held) is RunOnly and type(peek(held)) is kind  # pyright: ignore[reportUnknownArgumentType]


def _shows(held: object) -> bool:
    if not _holds(held, tuple):
        return False
    artifacts: tuple[object, ...] = peek(cast("RunOnly[Any]", held))
    return all(
        type(artifact) is ToolArtifact
        and isinstance(artifact.type, str)  # pyright: ignore[reportUnnecessaryIsInstance]
        and _holds(artifact.data, bytes)
        and _holds(artifact._label, bytes)  # noqa: SLF001
        and (artifact._fault is None or type(artifact._fault) is str)  # noqa: SLF001
        for artifact in artifacts
    )
