"""Anthropic's messages API, on the official SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2

from toolseam.providers import (
    AssistantMessage,
    Delta,
    Dialect,
    Finish,
    Lowering,
    ProviderFault,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
)
from toolseam_plugins.providers._clients import PerLoop
from toolseam_plugins.providers._talk import object_of, paired, spoken
from toolseam_plugins.providers._wire import connection, failure, failure_of, mended, options_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from toolseam.providers import Endpoint, Lowered, Message, ProviderError, Request, ToolCall

    Block = dict[str, Any]

MAX_TOKENS = 8_192
"""Bounds an answer where nobody else does: the API takes no request without a bound."""

_HOME = "https://api.anthropic.com"
_KEY = "ANTHROPIC_API_KEY"
_NO_KEY = "none"
_EXTRA = "anthropic"
_OURS = frozenset({"model", "messages", "system", "tools", "stream"})
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.FILTERED,
}
_FAULTS = {
    "authentication_error": ProviderFault.AUTH,
    "permission_error": ProviderFault.AUTH,
    "rate_limit_error": ProviderFault.RATE_LIMIT,
    "invalid_request_error": ProviderFault.CLIENT_ERROR,
    "not_found_error": ProviderFault.CLIENT_ERROR,
    "request_too_large": ProviderFault.CLIENT_ERROR,
}
"""What an error means that comes in the middle of a stream, after the status 200."""
_OK = 200
_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "input"),
}
"""Which key of a delta adds to which key of its block."""


def make(endpoint: Endpoint) -> AnthropicProvider:
    """Return the provider; raises `ProviderError` where its key is not set."""
    return AnthropicProvider(endpoint)


class AnthropicProvider:
    """Asks a model by the messages API.

    Args:
        endpoint: who is asked and where; its options go into every request, and a request's own
            before them.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self.zone = endpoint.zone
        self._model = endpoint.model
        self._options = dict(endpoint.options)
        self._lowering = Lowering(Dialect.ANTHROPIC)
        key = endpoint.key(_KEY)

        def client() -> anthropic.AsyncAnthropic:
            # Without one the SDK would look in many places for a key that is meant for its maker.
            headers: Any = {} if key else {"Authorization": anthropic.Omit()}
            return anthropic.AsyncAnthropic(
                api_key=key or _NO_KEY,
                default_headers=headers,
                base_url=endpoint.base_url or _HOME,
                timeout=endpoint.timeout_s,
                max_retries=0,
                http_client=connection(),
                # The SDK's spans take the whole conversation where its variables say so.
                open_telemetry={"traces": False, "propagation": False},
            )

        self._clients = PerLoop(client, anthropic.AsyncAnthropic.close)

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        messages: Any = (await self._clients.get()).messages
        try:
            message = await messages.create(**asked)
            # A server may send a page instead, or any other JSON.
            if isinstance(getattr(message, "content", None), list):
                return _reply(message.to_dict(), lowered)
            failed = failure(self.name, ProviderFault.UNKNOWN)
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self._failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        messages: Any = (await self._clients.get()).messages
        made = _Made()
        failed: ProviderError | None = None
        try:
            async with await messages.create(**asked, stream=True) as events:
                async for event in events:
                    delta = made.take(event.to_dict())
                    if delta is not None:
                        yield delta
            if not made.ended:
                failed = failure(self.name, ProviderFault.CONNECTION)
        except Exception as error:  # noqa: BLE001 - likewise
            failed = self._failed(error)
        if failed is not None:
            raise failed
        yield _reply(made.message(), lowered)

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        options = options_of(self.name, _OURS, self._options, request.options)
        usual = options.pop("max_tokens", MAX_TOKENS)
        tools, choice = lowered.tools, options.pop("tool_choice", None)
        messages = _messages(request.messages, lowered)
        if not tools:
            # A conversation with calls in it is refused without tools: their names, and no more.
            tools, choice = _names(request.messages, lowered), {"type": "none"}
        system = "\n\n".join(
            each.text
            for each in request.messages
            if isinstance(each, SystemMessage) and each.text.strip()
        )
        asked = {
            "model": self._model,
            "max_tokens": request.max_output_tokens or usual,
            "messages": messages,
            **({"system": system} if system else {}),
            **({"tools": tools} if tools else {}),
            **({"tool_choice": choice} if tools and choice else {}),
        }
        return {**mended(asked), "extra_body": options or None}

    def _failed(self, error: Exception) -> ProviderError:
        """Return what a run is told of an error: words of our own, by its type."""
        if isinstance(error, anthropic.APIConnectionError | httpx2.TransportError):
            return failure(self.name, ProviderFault.CONNECTION)
        if isinstance(error, anthropic.APIStatusError):
            if error.status_code != _OK:
                return failure_of(self.name, error.status_code)
            return failure(self.name, _FAULTS.get(str(error.type), ProviderFault.SERVER_ERROR))
        return failure(self.name, ProviderFault.UNKNOWN)


# -- the conversation -----------------------------------------------------------------------------


def _messages(messages: Iterable[Message], lowered: Lowered) -> list[dict[str, Any]]:
    """Return what the API calls messages: whatever one role says in a row is one of them."""
    made: list[dict[str, Any]] = []
    for message, ids in paired(messages, fits=r"[A-Za-z0-9_-]{1,64}"):
        if isinstance(message, SystemMessage):
            continue
        if isinstance(message, AssistantMessage):
            role, blocks = "assistant", _said(message, ids, lowered)
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


def _said(message: AssistantMessage, ids: tuple[str, ...], lowered: Lowered) -> list[Block]:
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
    kept: list[Block] = message.extra.get(_EXTRA, [])
    # The last request of a run drops the calls, and thoughts cannot stand alone.
    if calls and sum("call" in block for block in kept) == len(calls):
        return [calls[block["call"]] if "call" in block else block for block in kept]
    return [*([_text(message.text)] if message.text.strip() else []), *calls]


def _names(messages: Iterable[Message], lowered: Lowered) -> list[dict[str, Any]]:
    """Return the tools that a conversation tells of, without what they take."""
    names = {
        lowered.exposed(call.name)
        for message in messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    }
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]


# -- the answer -----------------------------------------------------------------------------------


def _reply(found: Mapping[str, Any], lowered: Lowered) -> Reply:
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
        Finish.CALLS if calls and finish is Finish.STOP else finish,
        _usage(body.get("usage") or {}),
        _joined(kept, "thinking"),
        # Plain words and calls are told again from the message itself.
        {_EXTRA: kept} if any("call" not in b and b["type"] != "text" for b in kept) else {},
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


class _Made:
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
