"""Providers on the official SDKs, each behind the extra of its maker's name.

`host.provider("openai:gpt-5")` makes one of what the operator says; an application without a
settings file writes `make(Endpoint(...))`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, cast

from toolseam.providers import ProviderError, ProviderFault

if TYPE_CHECKING:
    from toolseam.providers import Endpoint, Provider

__all__ = ["KINDS", "Kind", "make"]


class Kind(NamedTuple):
    """Where a kind of provider is made: the room with its `make`, its SDK, and the extra."""

    room: str
    sdk: str
    extra: str

    def is_installed(self) -> bool:
        """Tell whether its SDK can be imported."""
        try:
            return find_spec(self.sdk) is not None
        except ModuleNotFoundError:  # not even the package that it is in
            return False


KINDS = {
    "openai": Kind("_openai_chat", "openai", "openai"),
    "openai_responses": Kind("_openai_responses", "openai", "openai"),
    "anthropic": Kind("_anthropic", "anthropic", "anthropic"),
    "google": Kind("_google", "google.genai", "google"),
}
"""By the name in settings; many servers speak OpenAI's chat completions, `openai`."""


def make(endpoint: Endpoint) -> Provider | None:
    """Return a provider of one of our own kinds, or None if it is of another.

    Raises `ProviderError` where the extra is missing, the model is not named or the key not set.
    """
    kind = KINDS.get(endpoint.kind)
    if kind is None:
        return None
    if not endpoint.model:
        message = f"{endpoint.name} names no model; write {endpoint.name}:MODEL."
        raise ProviderError(message, ProviderFault.CONFIGURATION)
    if not kind.is_installed():
        message = f"{endpoint.name} needs the extra `{kind.extra}`: toolseam[{kind.extra}]."
        raise ProviderError(message, ProviderFault.CONFIGURATION)
    # The SDKs take about a second to import: paid by whoever asks for one of them.
    room = import_module(f"{__name__}.{kind.room}")
    return cast("Provider", room.make(endpoint))
