"""The contents of Google's API: a conversation in its parts, and its answer in ours."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from toolseam.providers import AssistantMessage, Finish, Reply, SystemMessage, ToolMessage, Usage
from toolseam_plugins.providers._talk import called, keep, kept_of, object_of, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.genai import types

    from toolseam.providers import Lowered, Message, ToolCall

    Part = dict[str, Any]

_EXTRA = "google"
_FINISH = {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH, "CONTINUATION": Finish.LENGTH}
_FILTERED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
    | {"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION"}
)
_FOREIGN = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Stands for the signature of a call that another model asked for."""


# -- the conversation -----------------------------------------------------------------------------


def contents_of(messages: Iterable[Message], lowered: Lowered, model: str) -> list[dict[str, Any]]:
    """Return what the API calls contents; the answers of one turn are one of them, in order."""
    made: list[dict[str, Any]] = []
    answering = False
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        answers = isinstance(message, ToolMessage)
        if isinstance(message, ToolMessage):
            role, parts = "user", [_answered(message, lowered)]
        elif isinstance(message, AssistantMessage):
            role, parts = "model", _said(message, lowered, model)
        else:
            role, parts = "user", [{"text": spoken(message.text)}]
        if answers and answering:
            made[-1]["parts"] += parts
        elif parts:
            made.append({"role": role, "parts": parts})
        answering = answers
    return made


def _named(call: ToolCall, lowered: Lowered) -> Part:
    """Return what a call and its answer share; an id that was not given is not made up (P16)."""
    return {"name": lowered.exposed(call.name), **({"id": call.id} if call.id else {})}


def _answered(message: ToolMessage, lowered: Lowered) -> Part:
    told = {"error" if message.is_error else "output": spoken(message.text)}
    return {"function_response": {**_named(message.call, lowered), "response": told}}


def _said(message: AssistantMessage, lowered: Lowered, model: str) -> list[Part]:
    """Return the parts of an answer, each with the signature that it came with."""
    calls: list[Part] = [
        {"function_call": {**_named(call, lowered), "args": object_of(call)}}
        for call in message.calls
    ]
    kept: list[Part] = kept_of(message, _EXTRA, model)
    if kept and sum("call" in part for part in kept) == len(calls):
        return [_restored(part, calls) for part in kept]
    if calls and not kept:
        calls[0] = {**calls[0], "thought_signature": _FOREIGN}
    return [*([{"text": message.text}] if message.text.strip() else []), *calls]


def _restored(part: Part, calls: list[Part]) -> Part:
    rest = {key: value for key, value in part.items() if key != "call"}
    return {**calls[part["call"]], **rest} if "call" in part else rest


# -- the answer -----------------------------------------------------------------------------------


def plain(answer: types.GenerateContentResponse) -> dict[str, Any]:
    keys = {"candidates", "prompt_feedback", "usage_metadata"}
    return answer.model_dump(mode="json", exclude_none=True, include=keys, warnings=False)


def _candidate(piece: dict[str, Any]) -> dict[str, Any]:
    found: list[dict[str, Any]] = piece.get("candidates") or [{}]
    return found[0]


def parts_of(piece: dict[str, Any]) -> list[Part]:
    found: list[Part] = _candidate(piece).get("content", {}).get("parts", [])
    return found


def is_whole(pieces: list[dict[str, Any]]) -> bool:
    return any(_candidate(each).get("finish_reason") or _is_blocked(each) for each in pieces)


def _is_blocked(piece: dict[str, Any]) -> bool:
    return bool(piece.get("prompt_feedback", {}).get("block_reason"))


def reply_of(pieces: list[dict[str, Any]], lowered: Lowered, model: str) -> Reply:
    """Return the answer that came in one piece or in many."""
    calls: list[ToolCall] = []
    kept: list[Part] = []
    for part in _joined(part for piece in pieces for part in parts_of(piece)):
        asked = part.pop("function_call", None)
        if asked is not None:
            kept.append({"call": len(calls), **part})
            text = json.dumps(asked.get("args") or {}, ensure_ascii=False)
            calls.append(lowered.called(asked.get("name") or "", text, asked.get("id") or None))
        elif part.get("text", "").strip() or part.keys() - {"text", "thought"}:
            kept.append(part)
    said = [part for part in kept if not part.get("thought")]
    thought = [part for part in kept if part.get("thought")]
    finish, usage = _finish(pieces, calls), _usage(pieces)
    # Plain words are told again from the message itself; calls say whose they are.
    extra = keep(_EXTRA, model, kept) if any(part.keys() - {"text"} for part in kept) else {}
    return Reply(_text(said), tuple(calls), finish, usage, _text(thought), extra)


def _text(parts: Iterable[Part]) -> str:
    return "".join(part.get("text", "") for part in parts)


def _joined(parts: Iterable[Part]) -> Iterator[Part]:
    """Give the parts with the pieces of one text put together again."""
    last: Part | None = None
    for part in parts:
        is_text = part.keys() <= {"text", "thought"}
        if last is not None and is_text and part.get("thought") == last.get("thought"):
            last["text"] += part.get("text", "")
            continue
        if last is not None:
            yield last
        last = dict(part) if is_text else None
        if last is None:
            yield dict(part)
    if last is not None:
        yield last


def _finish(pieces: list[dict[str, Any]], calls: list[ToolCall]) -> Finish:
    reasons = [str(found) for each in pieces if (found := _candidate(each).get("finish_reason"))]
    if any(_is_blocked(each) for each in pieces) or _FILTERED.intersection(reasons):
        return Finish.FILTERED
    found = _FINISH.get(reasons[-1], Finish.OTHER) if reasons else Finish.OTHER
    return called(found, calls)


def _usage(pieces: list[dict[str, Any]]) -> Usage:
    """Return the tokens; each piece tells those of all before it."""
    told: list[dict[str, Any]] = [piece.get("usage_metadata") or {} for piece in pieces]

    def most(*keys: str) -> int:
        return sum(max((each.get(key) or 0 for each in told), default=0) for key in keys)

    return Usage(
        most("prompt_token_count", "tool_use_prompt_token_count"),
        most("candidates_token_count", "thoughts_token_count"),
    )
