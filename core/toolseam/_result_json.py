"""A ToolResult as JSON text and back: for executors and stores, never for a provider (§1)."""

from __future__ import annotations

from typing import Any, cast

import orjson

from toolseam._artifacts import ToolArtifact, encoded_list, fault_of, marker, stored
from toolseam._errors import ContractViolation, ErrorCode, publish
from toolseam._jsontext import DEPTH, JSON_BYTES, BadText, TooLarge, Unencodable, encode, parse
from toolseam._result import ToolError, ToolResult, build, failed, omitted
from toolseam._run_only import RunOnly, hold, peek
from toolseam._text import mend

_FRAME_DEPTH = 3  # {"artifacts": [{"data": ...}]}
_KEYS = {"content", "failure", "data", "metadata", "artifacts", "output", "omitted"}


def encode_result(result: ToolResult) -> str:
    """Return `result` as JSON text, run-only channels included: `decode_result` reads it back.

    A list of artifacts that cannot be shown is written as its marker (§7).
    """
    artifacts: tuple[ToolArtifact, ...] = peek(result.artifacts)
    fault = fault_of(artifacts, JSON_BYTES)
    if fault is not None:
        artifacts = (marker(fault),)
    failure = result.failure
    as_is: Any = cast("Any", orjson).Fragment  # missing in orjson's stubs
    record: dict[str, Any] = {
        "content": result.content if failure is None else "",
        "failure": None
        if failure is None
        else {
            "code": failure.code.value,
            "message": failure.message,
            "retriable": failure.retriable,
        },
        "data": None if result.data is None else as_is(peek(result.data)),
        "metadata": as_is(peek(result.metadata)),
        "artifacts": as_is(encoded_list(artifacts)),
        "output": result.partial_output,
        "omitted": list(omitted(result)),
    }
    try:
        return orjson.dumps(record).decode()
    except TypeError:  # a lone surrogate: content is cleaned at the seam, not before
        for key in ("content", "output"):
            record[key] = mend(record[key])
        if failure is not None:
            record["failure"]["message"] = mend(failure.message)
        return orjson.dumps(record).decode()


def decode_result(text: str) -> ToolResult:
    """Return the result that `encode_result` wrote, judged anew.

    Raises `ContractViolation`, naming the path, for any other text.
    """
    try:
        # The sender is our own, so any length is taken; each member is judged below.
        record = parse(text, limit=None, depth=DEPTH + _FRAME_DEPTH)
    except BadText as error:
        raise ContractViolation("$", str(error)) from None
    except (TypeError, UnicodeDecodeError):
        raise ContractViolation("$", "no text") from None
    if type(record) is not dict or set(cast("dict[str, object]", record)) != _KEYS:
        raise ContractViolation("$", "no encoded ToolResult")
    try:
        return _decoded(cast("dict[str, Any]", record))
    except (KeyError, TypeError, ValueError, AttributeError, Unencodable, TooLarge):
        raise ContractViolation("$", "no encoded ToolResult") from None


def _decoded(record: dict[str, Any]) -> ToolResult:
    gone = tuple(name for name in ("data", "metadata") if name in record["omitted"])
    held = _object(record["metadata"])
    output = "".join((record["output"],))
    failure = record["failure"]
    if failure is not None:
        error = ToolError(
            failure["message"],
            ErrorCode(failure["code"]),
            retriable=failure["retriable"],
            metadata=held,
        )
        return failed(error, output, gone)
    data = None if record["data"] is None else hold(encode(record["data"], root="data"))
    artifacts = tuple(stored(a["type"], a["label"], a["data"]) for a in record["artifacts"])
    content = "".join((record["content"],))
    return build(content, None, data, held, hold(artifacts), "", gone)


def _object(value: object) -> RunOnly[Any]:
    kind: type = type(value)
    if kind is not dict:
        raise TypeError
    return hold(encode(value, root="metadata"))


publish(globals(), "encode_result", "decode_result")
