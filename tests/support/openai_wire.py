"""What OpenAI's two APIs write on the wire, as small as their SDK takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.provider_recorder import as_events, as_json

if TYPE_CHECKING:
    from support.provider_recorder import Answer

Calls = list[tuple[str, str, str | None]]
"""Name, arguments and id of each."""


def chat(
    text: str | None = None, calls: Calls | None = None, finish: str | None = None, **message: Any
) -> Answer:
    """Answer as chat completions do."""
    wanted = finish or ("tool_calls" if calls else "stop")
    message = {"role": "assistant", "content": text, **message}
    if calls:
        message["tool_calls"] = [_chat_call(*call) for call in calls]
    return as_json(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": wanted}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }
    )


def _chat_call(name: str, arguments: str, id_: str | None) -> dict[str, Any]:
    named = {} if id_ is None else {"id": id_}
    return {**named, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat_chunks(*deltas: dict[str, Any], finish: str | None = "stop", cut: bool = False) -> Answer:
    """Answer as chat completions stream: the deltas, why it ended, and the tokens."""
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events: list[dict[str, Any]] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    if finish is not None:
        events.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        events.append({**base, "choices": [], "usage": usage})
    return as_events(events, done=finish is not None, cut=cut)


def call_chunk(name: str, arguments: str, id_: str = "call_1") -> dict[str, Any]:
    """Return a delta of chat completions that asks for one call."""
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": id_, "type": "function", "function": function}]}


def response(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    """Return a response of the responses API."""
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 7,
            "output_tokens": 3,
            "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
        **more,
    }


def said(text: str, **more: Any) -> dict[str, Any]:
    """Return an output item with words."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
        **more,
    }


def called(name: str, arguments: str, call_id: str | None) -> dict[str, Any]:
    """Return an output item that asks for a call."""
    named = {} if call_id is None else {"call_id": call_id}
    item = {"type": "function_call", "id": "fc1", "name": name, "arguments": arguments}
    return {**item, **named, "status": "completed"}


def responses(*output: dict[str, Any], **more: Any) -> Answer:
    """Answer as the responses API does."""
    return as_json(response(*output, **more))


def response_events(*events: dict[str, Any], end: dict[str, Any] | None, cut: bool = False) -> Any:
    """Answer as the responses API streams; `end` is the response that the last event holds."""
    ends = [] if end is None else [{"type": f"response.{end['status']}", "response": end}]
    numbered = [{**event, "sequence_number": n} for n, event in enumerate([*events, *ends])]
    return as_events(numbered, named=True, cut=cut)
