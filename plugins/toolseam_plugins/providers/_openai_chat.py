"""OpenAI's chat completions, which many other servers speak too, on the official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from openai.types.chat import ChatCompletion

from toolseam.providers import (
    AssistantMessage,
    Delta,
    Dialect,
    Finish,
    ProviderFault,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
)
from toolseam_plugins.providers._openai import OpenAI, text_in, usage_of
from toolseam_plugins.providers._talk import paired, spoken, text_of
from toolseam_plugins.providers._wire import failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from toolseam.providers import Endpoint, Lowered, Message, Request, ToolCall

_FINISH = {
    "stop": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "length": Finish.LENGTH,
    "content_filter": Finish.FILTERED,
}


def make(endpoint: Endpoint) -> OpenAIChat:
    """Return the provider; raises `ProviderError` where its key is not set."""
    return OpenAIChat(endpoint, Dialect.OPENAI)


class OpenAIChat(OpenAI):
    """Asks a model by chat completions."""

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self.lowered(request)
        asked = self._asked(request, lowered)
        client = await self.clients.get()
        try:
            create: Any = client.chat.completions.create
            answer: object = await create(**asked)
            if isinstance(answer, ChatCompletion):
                return _reply(answer, lowered)
            failed = failure(self.name, ProviderFault.UNKNOWN)
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self.failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self.lowered(request)
        asked = self._asked(request, lowered)
        client = await self.clients.get()
        made = _Made()
        reply: Reply | None = None
        failed = failure(self.name, ProviderFault.CONNECTION)
        try:
            stream = await client.chat.completions.create(
                **asked, stream=True, stream_options={"include_usage": True}
            )
            async with stream as chunks:
                async for chunk in chunks:
                    delta = made.take(chunk)
                    if delta is not None:
                        yield delta
            if made.finish is not None:
                reply = made.reply(lowered)
        except Exception as error:  # noqa: BLE001 - likewise
            failed = self.failed(error)
        if reply is None:
            raise failed
        yield reply

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        words = {"messages": list(_messages(request.messages, lowered))}
        # Other servers know the older name alone.
        bound = "max_completion_tokens" if self.is_home else "max_tokens"
        return self.asked(request, lowered, words, bound)


def _messages(messages: Iterable[Message], lowered: Lowered) -> Iterable[dict[str, Any]]:
    for message, ids in paired(messages):
        if isinstance(message, SystemMessage):
            if message.text.strip():
                yield {"role": "system", "content": message.text}
        elif isinstance(message, AssistantMessage):
            yield _assistant(message, ids, lowered)
        elif isinstance(message, ToolMessage):
            yield {"role": "tool", "tool_call_id": ids[0], "content": spoken(message.text)}
        else:
            yield {"role": "user", "content": spoken(message.text)}


def _assistant(message: AssistantMessage, ids: tuple[str, ...], lowered: Lowered) -> dict[str, Any]:
    if not message.calls:
        return {"role": "assistant", "content": spoken(message.text)}
    calls = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": lowered.exposed(call.name), "arguments": text_of(call)},
        }
        for id_, call in zip(ids, message.calls, strict=True)
    ]
    said = {"content": message.text} if message.text.strip() else {}
    return {"role": "assistant", **said, "tool_calls": calls}


def _reply(answer: ChatCompletion, lowered: Lowered) -> Reply:
    choice = answer.choices[0]
    message = choice.message
    calls = tuple(
        lowered.called(text_in(_of(call, "name")), _of(call, "arguments"), text_in(call.id) or None)
        for call in message.tool_calls or ()
    )
    return _made_reply(
        text_in(message.content) or text_in(message.refusal),
        calls,
        Finish.FILTERED if message.refusal else _FINISH.get(choice.finish_reason, Finish.OTHER),
        usage_of(answer.usage, "prompt_tokens", "completion_tokens"),
        _thinking(message),
    )


def _made_reply(
    text: str, calls: tuple[ToolCall, ...], finish: Finish, usage: Usage, thinking: str
) -> Reply:
    # Some servers say that they stopped where they ask for calls.
    called = bool(calls) and finish is Finish.STOP
    return Reply(text, calls, Finish.CALLS if called else finish, usage, thinking)


def _of(call: object, key: str) -> Any:  # noqa: ANN401 - what a server wrote
    return getattr(getattr(call, "function", None), key, None)


def _thinking(message: object) -> str:
    """Return a model's thoughts, where a server shows them; the API itself has no key for them."""
    return text_in(getattr(message, "reasoning_content", None)) or text_in(
        getattr(message, "reasoning", None)
    )


@attrs.define
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""


@attrs.define
class _Made:
    """An answer while it comes in pieces."""

    text: str = ""
    refusal: str = ""
    thinking: str = ""
    calls: list[_Call] = attrs.field(factory=list[_Call])
    places: dict[int | None, _Call] = attrs.field(factory=dict[int | None, _Call])
    finish: str | None = None
    usage: Usage = attrs.field(factory=Usage)

    def take(self, chunk: Any) -> Delta | None:  # noqa: ANN401 - of many servers
        """Add a piece; return what is shown of it."""
        if chunk.usage is not None:
            self.usage = usage_of(chunk.usage, "prompt_tokens", "completion_tokens")
        for choice in (chunk.choices or ())[:1]:
            self.finish = choice.finish_reason or self.finish
            delta = choice.delta
            for piece in delta.tool_calls or ():
                self._call(piece)
            text, thinking = text_in(delta.content), _thinking(delta)
            self.text += text
            self.refusal += text_in(delta.refusal)
            self.thinking += thinking
            if text or thinking:
                return Delta(text, thinking)
        return None

    def _call(self, piece: Any) -> None:  # noqa: ANN401 - of many servers
        place, id_, name = piece.index, text_in(piece.id), text_in(_of(piece, "name"))
        call = self.places.get(place)
        # Some servers give every call the same place, or none: a name with another id begins one.
        if call is None or (name and id_ and call.id not in ("", id_)):
            call = self.places[place] = _Call()
            self.calls.append(call)
        call.id = call.id or id_
        call.name = call.name or name
        call.arguments += text_in(_of(piece, "arguments"))

    def reply(self, lowered: Lowered) -> Reply:
        """Return the whole."""
        calls = tuple(
            lowered.called(call.name, call.arguments, call.id or None) for call in self.calls
        )
        finish = _FINISH.get(self.finish or "", Finish.OTHER)
        return _made_reply(
            self.text or self.refusal,
            calls,
            Finish.FILTERED if self.refusal else finish,
            self.usage,
            self.thinking,
        )
