"""An answer of a server as a result of ours: text is joined, all else named, nothing fetched."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, cast

from toolseam import ContractViolation, ErrorCode, ToolError, ToolResult
from toolseam.guards import one_line
from toolseam_plugins.mcp._client_talk import Lost

if TYPE_CHECKING:
    from toolseam_plugins.mcp._client_talk import RemoteFault

_SAID = 200
_NAMED = 200
_SHAPE = "the answer has another shape than it should"


def result_of(raw: dict[str, Any], name: str) -> ToolResult:
    """Return what a server answered; `name` is what it calls the tool, for the trace.

    Text is the content; structured content is `data`, and the content too where there is no text.

    Raises `ToolError` for `isError`, with at most 200 characters of what the server says, and
    `Lost` for an answer of another shape.
    """
    failed, structured = raw.get("isError", False), raw.get("structuredContent")
    blocks = raw.get("content", [])
    if not isinstance(failed, bool) or not isinstance(blocks, list):
        raise Lost("protocol", _SHAPE)
    texts, has_text = _texts(cast("list[object]", blocks))
    if failed:
        remote = () if structured is None else (structured,)
        raise _failure("\n".join(texts), ErrorCode.EXECUTION_ERROR, name, *remote)
    try:
        if structured is not None and not has_text:
            texts.append(json.dumps(structured, ensure_ascii=False))
        return ToolResult.text("\n".join(texts), data=structured, metadata={"remote_name": name})
    except (ContractViolation, RecursionError):
        raise Lost(
            "protocol", "the structured content of the answer is no JSON that is kept"
        ) from None


def fault_of(fault: RemoteFault, code: ErrorCode, name: str) -> ToolError:
    """Return the failure for an error of the protocol; its object is `metadata["remote"]`."""
    remote = {"code": fault.code, "message": one_line(fault.message, _SAID)}
    whole = remote if fault.data is None else {**remote, "data": fault.data}
    return _failure(fault.message, code, name, whole, remote)


def _failure(text: str, code: ErrorCode, name: str, *remote: object) -> ToolError:
    """Keep the first of the remote objects that can be kept, and the reason in any case."""
    own = {"reason": "remote_error", "remote_name": name}
    for each in remote:
        with contextlib.suppress(ContractViolation):
            error = ToolError(_says(text), code, metadata={**own, "remote": each})
            if error.metadata.value:  # what is too large takes all of it along
                return error
    return ToolError(_says(text), code, metadata=own)


def _says(text: str) -> str:
    if not text.strip():
        return "The server says that it failed, and not why."
    return one_line(f"The server says: {text}", _SAID)


def _texts(blocks: list[object]) -> tuple[list[str], bool]:
    """Give a text for each block, and whether the server sent any text."""
    texts: list[str] = []
    has_text = False
    for block in blocks:
        if not isinstance(block, dict):
            raise Lost("protocol", _SHAPE)
        said = cast("dict[str, Any]", block)
        text = said.get("text") if said.get("type") == "text" else _named(said)
        if not isinstance(text, str):
            raise Lost("protocol", _SHAPE)
        inside = isinstance(_resource(said).get("text"), str)
        has_text = has_text or said.get("type") == "text" or inside
        texts.append(text)
    return texts, has_text


def _named(said: dict[str, Any]) -> str:
    kind = said.get("type")
    if kind in {"image", "audio"}:
        data, media = said.get("data"), _word(said.get("mimeType"))
        size = f", {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
        return f"[{kind} left out: {media}{size}]"
    if kind == "resource_link":
        return f"[resource, not fetched: {_word(said.get('name'))} <{_word(said.get('uri'))}>]"
    if kind == "resource":
        resource = _resource(said)
        head = f"[resource: <{_word(resource.get('uri'))}>"
        text = resource.get("text")
        if isinstance(text, str):
            return f"{head}]\n{text}"
        return f"{head} {_word(resource.get('mimeType'))}, left out]"
    return f"[a block of type {_word(kind)} left out]"


def _resource(said: dict[str, Any]) -> dict[str, Any]:
    resource = said.get("resource")
    return cast("dict[str, Any]", resource) if isinstance(resource, dict) else {}


def _word(value: object) -> str:
    return one_line(value, _NAMED) if isinstance(value, str) else "?"
