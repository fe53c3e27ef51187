"""OpenAI's responses API, on the official SDK.

Each request holds the whole conversation; OpenAI stores none of it unless an option says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from openai.types.responses import Response

from toolseam.providers import (
    AssistantMessage,
    Delta,
    Dialect,
    Finish,
    ProviderError,
    ProviderFault,
    Reply,
    SystemMessage,
    ToolMessage,
)
from toolseam_plugins.providers._openai import OpenAI, text_in, usage_of
from toolseam_plugins.providers._talk import keep, kept_of, paired, spoken, text_of
from toolseam_plugins.providers._wire import failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from toolseam.providers import Endpoint, Lowered, Message, Request, ToolCall

    Item = dict[str, Any]

_EXTRA = "openai_responses"
_FAULTS = {
    "rate_limit_exceeded": ProviderFault.RATE_LIMIT,
    "server_error": ProviderFault.SERVER_ERROR,
}
"""What a failure means that comes after the status 200, by OpenAI's codes."""
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def make(endpoint: Endpoint) -> OpenAIResponses:
    """Return the provider; raises `ProviderError` where its key is not set."""
    return OpenAIResponses(endpoint, Dialect.OPENAI_RESPONSES)


class OpenAIResponses(OpenAI):
    """Asks a model by responses."""

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self.lowered(request)
        asked = self._asked(request, lowered)
        client = await self.clients.get()
        try:
            create: Any = client.responses.create
            return self._reply(await create(**asked), lowered)
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self.failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self.lowered(request)
        asked = self._asked(request, lowered)
        client = await self.clients.get()
        reply: Reply | None = None
        failed = failure(self.name, ProviderFault.CONNECTION)
        try:
            async with await client.responses.create(**asked, stream=True) as events:
                async for event in events:
                    if event.type == "response.output_text.delta":
                        yield Delta(text_in(event.delta))
                    elif event.type in _THOUGHTS:
                        yield Delta(thinking=text_in(cast("Any", event).delta))
                    elif event.type in _ENDS:
                        reply = self._reply(cast("Any", event).response, lowered)
                    elif event.type == "error":
                        raise self._fault(event.code)  # noqa: TRY301 - as `_reply` does
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - likewise
            failed, reply = self.failed(error), None
        if reply is None:
            raise failed
        yield reply

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        words = {"input": list(self._items(request.messages, lowered)), "store": False}
        return self.asked(request, lowered, words, "max_output_tokens")

    def _items(self, messages: Iterable[Message], lowered: Lowered) -> Iterable[Item]:
        for message, ids in paired(messages):
            if isinstance(message, SystemMessage):
                if message.text.strip():
                    yield {"role": "system", "content": message.text}
            elif isinstance(message, AssistantMessage):
                calls = [
                    _call(call, id_, lowered) for id_, call in zip(ids, message.calls, strict=True)
                ]
                yield from self._assistant(message, calls)
            elif isinstance(message, ToolMessage):
                output = spoken(message.text)
                yield {"type": "function_call_output", "call_id": ids[0], "output": output}
            else:
                yield {"role": "user", "content": spoken(message.text)}

    def _assistant(self, message: AssistantMessage, calls: list[Item]) -> Iterable[Item]:
        """Give what the model said in its own order, its sealed thoughts included."""
        kept = kept_of(message, _EXTRA, self.model)
        # The last request of a run drops the calls, and thoughts cannot stand without them.
        if kept and sum(item.get("type") == "function_call" for item in kept) == len(calls):
            for item in kept:
                yield calls.pop(0) if item.get("type") == "function_call" else item
            return
        if message.text.strip() or not calls:
            yield {"role": "assistant", "content": spoken(message.text)}
        yield from calls

    def _reply(self, answer: Any, lowered: Lowered) -> Reply:  # noqa: ANN401 - of any server
        """Return the reply that a response holds; raises `ProviderError` where it is none."""
        if not isinstance(answer, Response) or not isinstance(cast("Any", answer.output), list):
            raise failure(self.name, ProviderFault.UNKNOWN)
        if answer.status == "failed":
            raise self._fault(None if answer.error is None else answer.error.code)
        text, thinking, refused = "", "", False
        calls: list[ToolCall] = []
        items: list[Item] = []
        for item in answer.output:
            if item.type == "message":
                said, no = _said(item)
                text, refused = text + said, refused or no
                items.append(_message(item, said))
            elif item.type == "function_call":
                calls.append(lowered.called(item.name, item.arguments, item.call_id or None))
                items.append({"type": "function_call"})
            elif item.type == "reasoning":
                thinking += "\n".join(each.text for each in item.summary or item.content or ())
                items += _thoughts(item)
        sealed = any(item.get("type") == "reasoning" for item in items)
        return Reply(
            text,
            tuple(calls),
            _finish(answer, calls, refused=refused),
            usage_of(answer.usage, "input_tokens", "output_tokens"),
            thinking,
            keep(_EXTRA, self.model, items) if sealed else {},
        )

    def _fault(self, code: str | None) -> ProviderError:
        return failure(self.name, _FAULTS.get(code or "", ProviderFault.UNKNOWN))


def _call(call: ToolCall, id_: str, lowered: Lowered) -> Item:
    return {
        "type": "function_call",
        "call_id": id_,
        "name": lowered.exposed(call.name),
        "arguments": text_of(call),
    }


def _said(item: Any) -> tuple[str, bool]:  # noqa: ANN401 - an output message
    """Return the words of a message, and whether they are a refusal."""
    refusals = [text_in(part.refusal) for part in item.content if part.type == "refusal"]
    texts = [text_in(part.text) for part in item.content if part.type == "output_text"]
    return "".join([*texts, *refusals]), bool(refusals)


def _message(item: Any, said: str) -> Item:  # noqa: ANN401 - an output message
    phase = {} if item.phase is None else {"phase": item.phase}
    return {"role": "assistant", "content": spoken(said), **phase}


def _thoughts(item: Any) -> list[Item]:  # noqa: ANN401 - a reasoning item
    """Return thoughts as they are sent back: what is not sealed OpenAI would look for at home."""
    if not item.encrypted_content:
        return []
    kept = ("id", "type", "summary", "encrypted_content")
    return [{key: value for key, value in item.to_dict().items() if key in kept}]


def _finish(answer: Response, calls: list[ToolCall], *, refused: bool) -> Finish:
    reason = None if answer.incomplete_details is None else answer.incomplete_details.reason
    if answer.status == "incomplete" and reason == "max_output_tokens":
        return Finish.LENGTH
    if refused or reason == "content_filter":
        return Finish.FILTERED
    if answer.status == "completed":
        return Finish.CALLS if calls else Finish.STOP
    return Finish.OTHER
