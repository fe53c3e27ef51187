"""Google's generateContent, on the official SDK."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import httpx2
from google import genai
from google.genai import errors, types

from toolseam.providers import (
    AssistantMessage,
    Delta,
    Dialect,
    Finish,
    Lowering,
    ProviderError,
    ProviderFault,
    Reply,
    SystemMessage,
    ToolMessage,
    Usage,
)
from toolseam_plugins.providers._clients import PerLoop
from toolseam_plugins.providers._talk import object_of, spoken
from toolseam_plugins.providers._wire import connection, failure, failure_of, mended, options_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from toolseam.providers import Endpoint, Lowered, Message, Request, ToolCall

    Part = dict[str, Any]

_HOME = "https://generativelanguage.googleapis.com/"
_KEY = "GEMINI_API_KEY"
_NO_KEY = "none"
_EXTRA = "google"
_OURS = frozenset(
    {"http_options", "system_instruction", "tools", "automatic_function_calling"}
    | {"automatic_continuation", "should_return_http_response"}
)
_FINISH = {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH, "CONTINUATION": Finish.LENGTH}
_FILTERED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
    | {"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION"}
)
_FOREIGN = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Stands for the signature of a call that another maker's model asked for."""


def make(endpoint: Endpoint) -> GoogleProvider:
    """Return the provider; raises `ProviderError` where its key is not set."""
    return GoogleProvider(endpoint)


class GoogleProvider:
    """Asks a model by generateContent.

    Args:
        endpoint: who is asked and where. Its option `api_version` goes into the address; all
            others go into the configuration of every request, and a request's own before them.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = endpoint.name
        self.zone = endpoint.zone
        self._model = endpoint.model
        self._options = dict(endpoint.options)
        self._lowering = Lowering(Dialect.GOOGLE)
        key = endpoint.key(_KEY) or _NO_KEY
        version = self._options.pop("api_version", None)

        def client() -> tuple[genai.Client, httpx2.AsyncClient]:
            http = connection()
            options = types.HttpOptions(
                base_url=endpoint.base_url or _HOME,
                api_version=version,
                timeout=int(endpoint.timeout_s * 1_000),
                httpx_async_client=http,
            )
            # Its variables would lead to another service, or to recordings in files.
            mode = genai.client.DebugConfig(client_mode=None)
            sdk = genai.Client(api_key=key, vertexai=False, debug_config=mode, http_options=options)
            return sdk, http

        self._clients = PerLoop(client, _close)

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        client, _ = await self._clients.get()
        models: Any = client.aio.models
        try:
            answer = _plain(await models.generate_content(**asked))
            if _is_whole([answer]):
                return _reply([answer], lowered)
            failed = failure(self.name, ProviderFault.UNKNOWN)
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self._failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        client, _ = await self._clients.get()
        models: Any = client.aio.models
        pieces: list[dict[str, Any]] = []
        failed: ProviderError | None = None
        try:
            async for chunk in await models.generate_content_stream(**asked):
                piece = _plain(chunk)
                pieces.append(piece)
                for part in _parts(piece):
                    if text := part.get("text"):
                        yield Delta(thinking=text) if part.get("thought") else Delta(text)
            if not _is_whole(pieces):
                failed = failure(self.name, ProviderFault.CONNECTION)
        except Exception as error:  # noqa: BLE001 - likewise
            failed = self._failed(error)
        if failed is not None:
            raise failed
        yield _reply(pieces, lowered)

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        options = options_of(self.name, _OURS, self._options, request.options)
        if request.max_output_tokens is not None:
            options["max_output_tokens"] = request.max_output_tokens
        if lowered.tools:
            options["tools"] = [{"function_declarations": lowered.tools}]
        else:
            options.pop("tool_config", None)
        said = [each.text for each in request.messages if isinstance(each, SystemMessage)]
        system = "\n\n".join(text for text in said if text.strip())
        if system:
            options["system_instruction"] = mended(system)
        # The SDK asks again, and calls what it can call, by itself if nobody forbids it.
        options["automatic_function_calling"] = {"disable": True}
        options["automatic_continuation"] = False
        contents = mended(_contents(request.messages, lowered))
        return {
            "model": self._model,
            "contents": [types.Content.model_validate_json(json.dumps(each)) for each in contents],
            "config": self._config(options),
        }

    def _config(self, options: dict[str, Any]) -> types.GenerateContentConfig:
        try:
            return types.GenerateContentConfig.model_validate(options)
        except ValueError:
            message = f"{self.name}: an option is none of the API's, or has a wrong value."
            failed = ProviderError(message, ProviderFault.CONFIGURATION)
        raise failed

    def _failed(self, error: Exception) -> ProviderError:
        """Return what a run is told of an error: words of our own, by its type."""
        if isinstance(error, httpx2.TransportError):
            return failure(self.name, ProviderFault.CONNECTION)
        if isinstance(error, errors.APIError):
            return failure_of(self.name, error.code)
        return failure(self.name, ProviderFault.UNKNOWN)


async def _close(held: tuple[genai.Client, httpx2.AsyncClient]) -> None:
    client, http = held
    await client.aio.aclose()
    # Its own, which never sent anything, and ours, which it leaves open.
    client.close()
    await http.aclose()


# -- the conversation -----------------------------------------------------------------------------


def _contents(messages: Iterable[Message], lowered: Lowered) -> list[dict[str, Any]]:
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
            role, parts = "model", _said(message, lowered)
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


def _said(message: AssistantMessage, lowered: Lowered) -> list[Part]:
    """Return the parts of an answer, each with the signature that it came with."""
    calls: list[Part] = [
        {"function_call": {**_named(call, lowered), "args": object_of(call)}}
        for call in message.calls
    ]
    kept: list[Part] = message.extra.get(_EXTRA, [])
    if kept and sum("call" in part for part in kept) == len(calls):
        return [_restored(part, calls) for part in kept]
    if calls and _EXTRA not in message.extra:
        calls[0] = {**calls[0], "thought_signature": _FOREIGN}
    return [*([{"text": message.text}] if message.text.strip() else []), *calls]


def _restored(part: Part, calls: list[Part]) -> Part:
    rest = {key: value for key, value in part.items() if key != "call"}
    return {**calls[part["call"]], **rest} if "call" in part else rest


# -- the answer -----------------------------------------------------------------------------------


def _plain(answer: types.GenerateContentResponse) -> dict[str, Any]:
    keys = {"candidates", "prompt_feedback", "usage_metadata"}
    return answer.model_dump(mode="json", exclude_none=True, include=keys)


def _candidate(piece: dict[str, Any]) -> dict[str, Any]:
    found: list[dict[str, Any]] = piece.get("candidates") or [{}]
    return found[0]


def _parts(piece: dict[str, Any]) -> list[Part]:
    found: list[Part] = _candidate(piece).get("content", {}).get("parts", [])
    return found


def _is_whole(pieces: list[dict[str, Any]]) -> bool:
    return any(_candidate(each).get("finish_reason") or _is_blocked(each) for each in pieces)


def _is_blocked(piece: dict[str, Any]) -> bool:
    return bool(piece.get("prompt_feedback", {}).get("block_reason"))


def _reply(pieces: list[dict[str, Any]], lowered: Lowered) -> Reply:
    """Return the answer that came in one piece or in many."""
    calls: list[ToolCall] = []
    kept: list[Part] = []
    for part in _joined(part for piece in pieces for part in _parts(piece)):
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
    return Reply(_text(said), tuple(calls), finish, usage, _text(thought), {_EXTRA: kept})


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
    return Finish.CALLS if calls and found is Finish.STOP else found


def _usage(pieces: list[dict[str, Any]]) -> Usage:
    """Return the tokens; each piece tells those of all before it."""
    told: list[dict[str, Any]] = [piece.get("usage_metadata") or {} for piece in pieces]

    def most(*keys: str) -> int:
        return sum(max((each.get(key) or 0 for each in told), default=0) for key in keys)

    return Usage(
        most("prompt_token_count", "tool_use_prompt_token_count"),
        most("candidates_token_count", "thoughts_token_count"),
    )
