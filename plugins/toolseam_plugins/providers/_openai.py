"""What OpenAI's two APIs have in common: the client, the errors, the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import openai

from toolseam.providers import Lowering, ProviderFault, Usage
from toolseam_plugins.providers._clients import PerLoop
from toolseam_plugins.providers._wire import connection, failure, failure_of, mended, options_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam.providers import Dialect, Endpoint, Lowered, ProviderError, Request

HOME = "https://api.openai.com/v1"
_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"
OURS = frozenset({"model", "messages", "input", "tools", "stream", "stream_options", "strict"})
"""What is said by the conversation, or by an option of ours, and by no option of a request."""


class OpenAI:
    """One model at one address, in one of the two dialects.

    Args:
        endpoint: who is asked and where. The option `strict = false` is for servers that do not
            know strict mode; all others go into every request, a request's own before them.
        dialect: chat completions or responses.
    """

    def __init__(self, endpoint: Endpoint, dialect: Dialect) -> None:
        self.name = endpoint.name
        self.zone = endpoint.zone
        self.endpoint = endpoint
        options = dict(endpoint.options)
        strict = options.pop("strict", True)
        self.model = endpoint.model
        self.is_home = endpoint.base_url is None
        self._options: Mapping[str, Any] = options_of(self.name, OURS, options)
        self._lowering = Lowering(dialect, strict=strict is not False)
        key = endpoint.key(_KEY)
        self._headers = {} if key else {"Authorization": openai.omit}

        def client() -> openai.AsyncOpenAI:
            # What is said here the SDK does not look for: keys and names that its maker gave.
            unnamed = None if self.is_home else ""
            return openai.AsyncOpenAI(
                api_key=key or _NO_KEY,
                organization=unnamed,
                project=unnamed,
                base_url=endpoint.base_url or HOME,
                timeout=endpoint.timeout_s,
                max_retries=0,
                http_client=connection(endpoint.base_url),
            )

        self.clients = PerLoop(client, openai.AsyncOpenAI.close)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def lowered(self, request: Request) -> Lowered:
        """Return the tools of a request as the API takes them."""
        return self._lowering(request.tools)

    def asked(
        self, request: Request, lowered: Lowered, words: dict[str, Any], bound: str
    ) -> dict[str, Any]:
        """Return what the SDK is called with.

        Args:
            request: its tools, options and bound are asked for.
            lowered: the tools.
            words: the conversation, under the name that the API has for it.
            bound: the API's name of the bound of an answer.
        """
        options = options_of(self.name, OURS, self._options, request.options)
        if request.max_output_tokens is not None:
            options[bound] = request.max_output_tokens
        tools = lowered.tools
        # What tools say of themselves is clean; what people and models say may be anything.
        body = {"model": self.model, **mended(words), **({"tools": tools} if tools else {})}
        return {**body, "extra_body": options or None, "extra_headers": self._headers}

    def failed(self, error: Exception) -> ProviderError:
        """Return what a run is told of an error: words of our own, by its type."""
        if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
            return failure(self.name, ProviderFault.CONNECTION)
        if isinstance(error, openai.APIStatusError):
            return failure_of(self.name, error.status_code)
        # An error that comes in the middle of a stream has no status.
        if type(error) is openai.APIError:
            return failure(self.name, ProviderFault.SERVER_ERROR)
        return failure(self.name, ProviderFault.UNKNOWN)


def usage_of(given: object, asked: str, answered: str) -> Usage:
    """Return the tokens of an answer; none are counted where a server does not say."""
    found = (getattr(given, asked, None), getattr(given, answered, None))
    tokens, more = (count if isinstance(count, int) else 0 for count in found)
    return Usage(tokens, more)


def text_in(value: object) -> str:
    """Return a text, or "" for what is none: servers write null, or leave it out."""
    return value if isinstance(value, str) else ""
