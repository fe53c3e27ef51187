"""What Anthropic's messages API writes on the wire, as small as its SDK takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.provider_recorder import as_events, as_json

if TYPE_CHECKING:
    from support.provider_recorder import Answer

    Block = dict[str, Any]

USAGE = {"input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 3}


def text(said: str) -> Block:
    """Return a block of words."""
    return {"type": "text", "text": said}


def thought(said: str, signature: str = "c2lnbmVk") -> Block:
    """Return a block of thoughts, signed."""
    return {"type": "thinking", "thinking": said, "signature": signature}


def called(name: str, arguments: Any, id_: str | None) -> Block:
    """Return a block that asks for a call."""
    named = {} if id_ is None else {"id": id_}
    return {"type": "tool_use", **named, "name": name, "input": arguments}


def message(*content: Block, stop: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a message of the API."""
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": USAGE,
        **more,
    }


def answer(*content: Block, **more: Any) -> Answer:
    """Answer in one piece."""
    return as_json(message(*content, **more))


def events(
    *content: Block, stop: str | None = None, ended: bool = True, cut: bool = False
) -> Answer:
    """Answer in a stream: the key that a block is about comes in two pieces.

    The input of a call is given as JSON text; without `ended` the end is missing.
    """
    whole = message(*content, stop=stop)
    start = {**whole, "content": [], "stop_reason": None, "usage": {**USAGE, "output_tokens": 1}}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(content):
        made += _block_events(index, block)
    if ended:
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        made.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}})
        made.append({"type": "message_stop"})
    return as_events(made, named=True, cut=cut)


def failing_events(kind: str, said: str) -> Answer:
    """Begin a stream well, and fail in the middle of it."""
    start = {**message(), "stop_reason": None}
    error = {"type": "error", "error": {"type": kind, "message": said}}
    return as_events([{"type": "message_start", "message": start}, error], named=True)


def _block_events(index: int, block: Block) -> list[dict[str, Any]]:
    key, delta, piece = {
        "text": ("text", "text_delta", "text"),
        "thinking": ("thinking", "thinking_delta", "thinking"),
        "tool_use": ("input", "input_json_delta", "partial_json"),
    }.get(block["type"], ("", "", ""))
    at = {"index": index}
    if not key:
        return [
            {"type": "content_block_start", **at, "content_block": block},
            {"type": "content_block_stop", **at},
        ]
    said: str = block[key]
    pieces = [said[: len(said) // 2], said[len(said) // 2 :]]
    empty = {**block, key: {} if key == "input" else ""}
    signed = empty.pop("signature", None)
    deltas = [{"type": delta, piece: each} for each in pieces]
    if signed is not None:
        deltas.append({"type": "signature_delta", "signature": signed})
    return [
        {"type": "content_block_start", **at, "content_block": empty},
        *({"type": "content_block_delta", **at, "delta": each} for each in deltas),
        {"type": "content_block_stop", **at},
    ]
