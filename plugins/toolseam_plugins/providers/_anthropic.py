"""Anthropic's messages API, on the official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import httpx2

from toolseam.providers import Delta, Dialect, Lowering, ProviderFault, Reply
from toolseam_plugins.providers._anthropic_words import Made, messages_of, names_of, reply_of
from toolseam_plugins.providers._clients import PerLoop
from toolseam_plugins.providers._talk import instructions_of
from toolseam_plugins.providers._wire import connection, failure, failure_of, mended, options_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from toolseam.providers import Endpoint, Lowered, ProviderError, Request

MAX_TOKENS = 8_192
"""Bounds an answer where nobody else does: the API takes no request without a bound."""

_HOME = "https://api.anthropic.com"
_KEY = "ANTHROPIC_API_KEY"
_NO_KEY = "none"
_OURS = frozenset({"model", "messages", "system", "tools", "stream"})
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
        self.endpoint = endpoint
        self._model = endpoint.model
        self._options = options_of(self.name, _OURS, endpoint.options)
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
                http_client=connection(endpoint.base_url),
                # The SDK's spans take the whole conversation where its variables say so.
                open_telemetry={"traces": False, "propagation": False},
            )

        self.clients = PerLoop(client, anthropic.AsyncAnthropic.close)

    async def complete(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        messages: Any = (await self.clients.get()).messages
        try:
            message = await messages.create(**asked)
            # A server may send a page instead, or any other JSON.
            if isinstance(getattr(message, "content", None), list):
                return reply_of(message.to_dict(warnings=False), lowered, self._model)
            failed = failure(self.name, ProviderFault.UNKNOWN)
        except Exception as error:  # noqa: BLE001 - a server may answer with anything
            failed = self._failed(error)
        # Raised here, where the SDK's error, which knows the key, does not ride along.
        raise failed

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply; raises `ProviderError`."""
        lowered = self._lowering(request.tools)
        asked = self._asked(request, lowered)
        messages: Any = (await self.clients.get()).messages
        made = Made()
        reply: Reply | None = None
        failed = failure(self.name, ProviderFault.CONNECTION)
        try:
            async with await messages.create(**asked, stream=True) as events:
                async for event in events:
                    delta = made.take(event.to_dict(warnings=False))
                    if delta is not None:
                        yield delta
            if made.ended:
                reply = reply_of(made.message(), lowered, self._model)
        except Exception as error:  # noqa: BLE001 - likewise
            failed = self._failed(error)
        if reply is None:
            raise failed
        yield reply

    def _asked(self, request: Request, lowered: Lowered) -> dict[str, Any]:
        options = options_of(self.name, _OURS, self._options, request.options)
        usual = options.pop("max_tokens", MAX_TOKENS)
        tools, choice = lowered.tools, options.pop("tool_choice", None)
        messages = mended(messages_of(request.messages, lowered, self._model))
        if not tools:
            # A conversation with calls in it is refused without tools: their names, and no more.
            tools, choice = names_of(request.messages, lowered), {"type": "none"}
        system = instructions_of(request.messages)
        return {
            "model": self._model,
            "max_tokens": request.max_output_tokens or usual,
            "messages": messages,
            **({"system": mended(system)} if system else {}),
            **({"tools": tools} if tools else {}),
            **({"tool_choice": choice} if tools and choice else {}),
            "extra_body": options or None,
        }

    def _failed(self, error: Exception) -> ProviderError:
        """Return what a run is told of an error: words of our own, by its type."""
        if isinstance(error, anthropic.APIConnectionError | httpx2.TransportError):
            return failure(self.name, ProviderFault.CONNECTION)
        if isinstance(error, anthropic.APIStatusError):
            if error.status_code != _OK:
                return failure_of(self.name, error.status_code)
            return failure(self.name, _FAULTS.get(str(error.type), ProviderFault.SERVER_ERROR))
        return failure(self.name, ProviderFault.UNKNOWN)
