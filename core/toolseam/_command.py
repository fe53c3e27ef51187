"""How a child process ended, and what that means (contract §1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

from toolseam._errors import ErrorCode, publish


@attrs.frozen
class CommandResult:
    """How a child process ended (§1); `exit_code` is negative for a signal, as in `subprocess`.

    `stdout` and `stderr` are text or bytes, or None as in `subprocess.TimeoutExpired`; bytes that
    are no UTF-8 become U+FFFD.
    """

    stdout: str | bytes | None = attrs.field(repr=False)
    stderr: str | bytes | None = attrs.field(repr=False)
    exit_code: int | None
    timed_out: bool = False
    duration_s: float = 0.0


publish(globals(), "CommandResult")


class Ending(NamedTuple):
    """What a result says of a command; no code means that it worked."""

    code: ErrorCode | None
    message: str
    output: str
    metadata: dict[str, Any]


def ending(command: CommandResult) -> Ending:
    """Judge a command by its exit alone; a timeout wins, and the output is always kept."""
    stdout, stderr = _stream(command.stdout), _stream(command.stderr)
    gap = "\n" if stdout and stderr and not stdout.endswith("\n") else ""
    output = f"{stdout}{gap}{stderr}"
    code, took = command.exit_code, float(command.duration_s)
    signal = -code if code is not None and code < 0 else None
    metadata: dict[str, Any] = {"exit_code": code, "signal": signal}
    if took - took == 0.0:
        metadata["duration_s"] = took
    if command.timed_out:
        message = f"timed out after {round(took, 2):g} s"
        return Ending(ErrorCode.TIMEOUT, message, output, metadata)
    if code == 0:
        return Ending(None, "", output, metadata)
    message = f"exit code {code}" if signal is None else f"signal {signal}"
    return Ending(ErrorCode.COMMAND_FAILED, message, output, metadata)


def _stream(value: str | bytes | None) -> str:
    import re

    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value or ""
    if "\x1b" not in text:
        return text
    # CSI; the four that carry a text, ended by BEL or ST in the same line; two characters.
    ansi = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\-~])"
    return re.sub(ansi, "", text)
