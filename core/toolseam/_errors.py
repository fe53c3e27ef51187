"""The exceptions of toolseam, and the closed set of failure codes.

::

    ToolseamError
    ├── ContractViolation   a value breaks the contract; names its path (§1)
    ├── SpecError           a tool's specification is refused (§3)
    ├── LoadError           a plugin cannot be loaded (§2)
    └── SettingsError       a settings file or key is refused

A failing *call* is no exception: it is a `ToolResult` whose `failure` is a `ToolError`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ToolseamError(Exception):
    """Base of everything that toolseam itself raises."""


class ContractViolation(ToolseamError):
    """A value breaks the contract (§1); raised inside a tool it ends the call as `contract_error`.

    `path` tells where the value stands (`data.rows[3].price`), `reason` what is wrong with it.
    The value itself is never part of the text.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class SpecError(ToolseamError):
    """A `ToolSpec`, a schema or a `@tool` function is refused (§3); says what to write instead."""


class LoadError(ToolseamError):
    """A plugin cannot be loaded (§2); the text is the record's reason."""


class SettingsError(ToolseamError):
    """A settings file or one of its keys is refused."""

    def __init__(self, message: str, *, file: Path | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.key = key


class ErrorCode(StrEnum):
    """Why a call failed: the closed set of contract §1."""

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    APPROVAL_DENIED = "approval_denied"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    COMMAND_FAILED = "command_failed"
    CONFLICT = "conflict"
    EXECUTION_ERROR = "execution_error"
    CONTRACT_ERROR = "contract_error"


def publish(namespace: dict[str, object], *names: str) -> None:
    """Give public classes the public module name, so that errors and docs show `toolseam.X`."""
    for name in names:
        namespace[name].__module__ = "toolseam"


publish(globals(), "ToolseamError", "ContractViolation", "ErrorCode")
