"""Google's generateContent, on the official SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
from google import genai
from google.genai import errors, types

from toolseam.providers import Delta, Dialect, Lowering, ProviderError, ProviderFault, Reply
from toolseam_plugins.providers._clients import PerLoop
from toolseam_plugins.providers._google_words import (
    contents_of,
    is_whole,
    parts_of,
    plain,
    reply_of,
)
from toolseam_plugins.providers._talk import instructions_of
from toolseam_plugins.providers._wire import connection, failure, failure_of, mended, options_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from toolseam.providers import Endpoint, Lowered, Request

_HOME = "https://generativelanguage.googleapis.com/"
_KEY = "GEMINI_API_KEY"
_NO_KEY = "none"
_OURS = frozenset(
    {"http_options", "system_instruction", "tools", "automatic_function_calling"}
    | {"automatic_continuation", "should_return_http_response"}
)


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
        self.endpoint = endpoint
        self._model = endpoint.model
        self._options = options_of(self.name, _OURS, endpoint.options)
        self._lowering = Lowering(Dialect.GOOGLE)
        key = endpoint.key(_KEY) or _NO_KEY
        version = self._options.pop("api_version", None)

        def client() -> tuple[genai.Client, httpx2.AsyncClient]:
            http = connection(endpoint.base_url)
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

        self.clients = PerLoop(client, _close)

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        client, _ = await self.clients.get()
        models: Any = client.aio.models
        try:
            answer = plain(await models.generate_content(**asked))
            if is_whole([answer]):
                return reply_of([answer], lowered, self._model)
            failed = failure(self.name, ProviderFault.UNKNOWN)
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self._failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        client, _ = await self.clients.get()
        models: Any = client.aio.models
        pieces: list[dict[str, Any]] = []
        reply: Reply | None = None
        failed = failure(self.name, ProviderFault.CONNECTION)
        try:
            async for chunk in await models.generate_content_stream(**asked):
                piece = plain(chunk)
                pieces.append(piece)
                for part in parts_of(piece):
                    if text := part.get("text"):
                        yield Delta(thinking=text) if part.get("thought") else Delta(text)
            if is_whole(pieces):
                reply = reply_of(pieces, lowered, self._model)
        except Exception as error:  # noqa: BLE001 - likewise
            failed = self._failed(error)
        if reply is None:
            raise failed
        yield reply

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        options = options_of(self.name, _OURS, self._options, request.options)
        if request.max_output_tokens is not None:
            options["max_output_tokens"] = request.max_output_tokens
        if lowered.tools:
            options["tools"] = [{"function_declarations": lowered.tools}]
        else:
            options.pop("tool_config", None)
        system = instructions_of(request.messages)
        if system:
            options["system_instruction"] = mended(system)
        # The SDK asks again, and calls what it can call, by itself if nobody forbids it.
        options["automatic_function_calling"] = {"disable": True}
        options["automatic_continuation"] = False
        contents = mended(contents_of(request.messages, lowered, self._model))
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
