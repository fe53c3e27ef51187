"""What a run and a provider say to each other (policy-and-runs, The loop).

A message that answers a call takes `WireText` alone: there is no member that could hold data,
metadata or an artifact.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import attrs

from toolseam._errors import ToolseamError, publish
from toolseam._render import WireText

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from toolseam._spec import ToolSpec

PUBLIC = "toolseam.providers"


@attrs.frozen
class ToolCall:
    """One call that a model asks for.

    Args:
        name: the tool's own name where the adapter knows it, else as the model wrote it.
        arguments: raw JSON text, or a mapping if the provider parsed it; None is none.
        id: the provider's id of the call, or None if it gives none; ids may repeat.
        alias: the name under which the provider knows the tool, if that is another one.
    """

    name: str
    arguments: str | Mapping[str, Any] | None = None
    id: str | None = None
    alias: str | None = None


@attrs.frozen
class SystemMessage:
    """What the host tells the model about its work."""

    text: str


@attrs.frozen
class UserMessage:
    """What the person asks."""

    text: str


@attrs.frozen
class AssistantMessage:
    """What the model said, and the calls that it asked for.

    Args:
        text: its words, maybe none.
        calls: in its order.
        extra: what the same provider wants back with it, as plain JSON, and nobody else reads.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)


def _wire_only(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not WireText:
        kind = type(value).__name__
        raise TypeError(f"{attribute.name}: {kind}, expected the WireText that the seam issued")


@attrs.frozen
class ToolMessage:
    """The answer to one call: what the seam issued, and nothing else.

    Args:
        call: what it answers; answers stand in the order of the calls.
        text: the seam's text; anything but `WireText` raises `TypeError`.
        is_error: whether the call failed, from its typed status, never from the text.
    """

    call: ToolCall
    text: WireText = attrs.field(validator=_wire_only)
    is_error: bool = False


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage


@attrs.frozen
class Usage:
    """Tokens of one request or of a whole run."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """All of them."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """Return the sum."""
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    FILTERED = "filtered"
    OTHER = "other"


@attrs.frozen
class Request:
    """One question to a provider.

    Args:
        messages: the conversation so far.
        tools: what is offered, by name; none means that the request names no tools at all.
        max_output_tokens: a bound for the answer, or None for the provider's own.
        options: further options of the provider's own, as the host gave them.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)


@attrs.frozen
class Reply:
    """What a provider answered.

    Args:
        text: the model's words.
        calls: the calls that it asks for, under the tools' own names where they are known.
        finish: why it stopped; `length` means that the last call may be cut off.
        usage: the tokens of this request.
        thinking: its thoughts, if the provider shows them.
        extra: see `AssistantMessage`.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    thinking: str = ""
    extra: Mapping[str, Any] = attrs.field(factory=dict[str, Any], repr=False)


@attrs.frozen
class Delta:
    """A piece of an answer while it is made; shown live and never stored."""

    text: str = ""
    thinking: str = ""


class ProviderFault(StrEnum):
    """What kind of failure it was, from typed exceptions and status codes, never from text."""

    CONNECTION = "connection"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    AUTH = "auth"
    CLIENT_ERROR = "client_error"
    CONFIGURATION = "configuration"
    UNKNOWN = "unknown"

    @property
    def retriable(self) -> bool:
        """Whether another provider of a chain may be asked instead."""
        return self in {
            ProviderFault.CONNECTION,
            ProviderFault.RATE_LIMIT,
            ProviderFault.SERVER_ERROR,
        }


class ProviderError(ToolseamError):
    """A provider could not answer; the text is our own, never the SDK's.

    Args:
        message: one sentence without a secret.
        fault: what kind of failure.
    """

    def __init__(self, message: str, fault: ProviderFault = ProviderFault.UNKNOWN) -> None:
        super().__init__(message)
        self.fault = fault


class Provider(Protocol):
    """Something that answers requests; a plugin gives one, or host code does.

    An attribute `zone` says where it stands, if it knows; the session's zone counts besides. An
    attribute `endpoint`, the `Endpoint` that it was made of, lets another process ask it again
    when a run that waited goes on.
    """

    @property
    def name(self) -> str:
        """How steps and logs name it, for example ``openai:gpt-5``."""
        ...

    def complete(self, request: Request) -> Reply | Awaitable[Reply]:
        """Answer a request; may be `async def`. Raises `ProviderError`."""
        ...


@runtime_checkable
class StreamingProvider(Protocol):
    """A provider that can also show its answer while it is made."""

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give deltas, and at the end the whole reply. Raises `ProviderError`."""
        ...


publish(
    globals(),
    *("ToolCall", "SystemMessage", "UserMessage", "AssistantMessage", "ToolMessage"),
    *("Usage", "Finish", "Request", "Reply", "Delta", "ProviderFault", "ProviderError"),
    *("Provider", "StreamingProvider"),
)
