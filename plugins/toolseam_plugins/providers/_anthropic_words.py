"""The messages of Anthropic's API: a conversation in its blocks, and its answer in ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolseam.providers import (
    AssistantMessage,
    Delta,
    Finish,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
)
from toolseam_plugins.providers._talk import called, keep, kept_of, object_of, paired, spoken
from toolseam_plugins.providers._wire import mended

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolseam.providers import Lowered, Message, ToolCall

    Block = dict[str, Any]

_EXTRA = "anthropic"
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.FILTERED,
}
_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
"""Which key of a delta adds to which key of its block."""


# -- the conversation -----------------------------------------------------------------------------


def messages_of(messages: Iterable[Message], lowered: Lowered, model: str) -> list[dict[str, Any]]:
    """Return what the API calls messages: whatever one role says in a row is one of them."""
    made: list[dict[str, Any]] = []
    for message, ids in paired(messages, fits=r"[A-Za-z0-9_-]{1,64}"):
        if isinstance(message, SystemMessage):
            continue
        if isinstance(message, AssistantMessage):
            role, blocks = "assistant", _said(message, ids, lowered, model)
        elif isinstance(message, ToolMessage):
            role, blocks = "user", [_answered(message, ids[0])]
        else:
            role, blocks = "user", [_text(spoken(message.text))]
        if made and made[-1]["role"] == role:
            made[-1]["content"] += blocks
        elif blocks:
            made.append({"role": role, "content": blocks})
    return made


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _answered(message: ToolMessage, id_: str) -> Block:
    block = {"type": "tool_result", "tool_use_id": id_, "content": spoken(message.text)}
    return {**block, "is_error": True} if message.is_error else block


def _said(
    message: AssistantMessage, ids: tuple[str, ...], lowered: Lowered, model: str
) -> list[Block]:
    """Return the blocks of an answer, with the thoughts among them in their places."""
    calls = [
        {
            "type": "tool_use",
            "id": id_,
            "name": lowered.exposed(call.name),
            "input": object_of(call),
        }
        for call, id_ in zip(message.calls, ids, strict=True)
    ]
    kept: list[Block] = kept_of(message, _EXTRA, model)
    # The last request of a run drops the calls, and thoughts cannot stand alone.
    if calls and sum("call" in block for block in kept) == len(calls):
        return [calls[block["call"]] if "call" in block else block for block in kept]
    return [*([_text(message.text)] if message.text.strip() else []), *calls]


def names_of(messages: Iterable[Message], lowered: Lowered) -> list[dict[str, Any]]:
    """Return the tools that a conversation tells of, without what they take."""
    names = {
        lowered.exposed(call.name)
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    }
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]


# -- the answer -----------------------------------------------------------------------------------


def reply_of(found: Mapping[str, Any], lowered: Lowered, model: str) -> Reply:
    body = mended(found)
    calls: list[ToolCall] = []
    kept: list[Block] = []
    for block in body.get("content") or ():
        if block.get("type") == "tool_use":
            kept.append({"call": len(calls)})
            calls.append(_call(block, lowered))
        elif block.get("type") != "text" or block.get("text", "").strip():
            kept.append(block)
    finish = _FINISH.get(str(body.get("stop_reason")), Finish.OTHER)
    return Reply(
        _joined(kept, "text"),
        tuple(calls),
        called(finish, calls),
        _usage(body.get("usage") or {}),
        _joined(kept, "thinking"),
        # Plain words and calls are told again from the message itself.
        keep(_EXTRA, model, kept)
        if any("call" not in b and b["type"] != "text" for b in kept)
        else {},
    )


def _call(block: Block, lowered: Lowered) -> ToolCall:
    given = block.get("input")
    # As text, so that the seam judges what no JSON has (NaN) and what was cut off.
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return lowered.called(str(block.get("name", "")), text, block.get("id") or None)


def _joined(blocks: Iterable[Block], kind: str) -> str:
    return "".join(str(block.get(kind, "")) for block in blocks if block.get("type") == kind)


def _usage(found: Mapping[str, Any]) -> Usage:
    """Return the tokens; what was read from a cache, or written to one, was read too."""
    kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(sum(found.get(kind) or 0 for kind in kinds), found.get("output_tokens") or 0)


class Made:
    """An answer while it is made, from the events of a stream.

    The arguments of a call stay the text that came: one that was cut off is not mended.
    """

    def __init__(self) -> None:
        self.ended = False
        self._body: dict[str, Any] = {}
        self._blocks: dict[int, Block] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def take(self, event: Mapping[str, Any]) -> Delta | None:
        """Take one event; return what of it can be shown at once."""
        kind = event.get("type")
        if kind == "message_start":
            self._body = dict(event["message"])
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            return self._piece(event["index"], event["delta"])
        elif kind == "message_delta":
            self._body |= event["delta"]
            told = {
                key: value for key, value in event.get("usage", {}).items() if value is not None
            }
            self._body["usage"] = {**(self._body.get("usage") or {}), **told}
        self.ended = self.ended or kind == "message_stop"
        return None

    def _piece(self, index: int, delta: Mapping[str, Any]) -> Delta | None:
        source, target = _PIECES.get(delta["type"], ("", ""))
        if not source:
            return None
        piece: str = delta[source]
        self._pieces.setdefault((index, target), []).append(piece)
        if target == "text":
            return Delta(mended(piece))
        return Delta(thinking=mended(piece)) if target == "thinking" else None

    def message(self) -> dict[str, Any]:
        """Return the whole as the API gives it in one piece."""
        for (index, key), pieces in self._pieces.items():
            block = self._blocks[index]
            before = block.get(key) if key != "input" else ""
            block[key] = (before or "") + "".join(pieces)
        return {**self._body, "content": [self._blocks[each] for each in sorted(self._blocks)]}
