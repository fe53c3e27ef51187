"""What a provider answers, taken in: plain JSON, text that encodes, and never too much of it.

A provider is a plugin, and what it gives is read once, here: everything behind it may store,
show and send again what it finds.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._errors import ToolseamError
from toolseam._jsontext import BadText, Unencodable, decode, encode, parse
from toolseam._messages import (
    AssistantMessage,
    Delta,
    Finish,
    ProviderError,
    ProviderFault,
    Reply,
    StreamingProvider,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from toolseam._runs import CONTENT_LIMIT
from toolseam._text import exact, mend, short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

    from toolseam._messages import Message, Provider, Request

REPLY_BYTES = CONTENT_LIMIT // 4
HANDED_IN_CHARACTERS = CONTENT_LIMIT // 2
_REPLACED = "\ufffd".encode()


async def reply_of(
    provider: Provider, request: Request, show: Callable[[Delta], None] | None
) -> Reply:
    """Ask one provider; what it raises besides its own error is a failure without a text.

    Args:
        provider: who is asked.
        request: what.
        show: takes the pieces of the answer while it is made, if anybody wants them.

    Raises `ProviderError`.
    """
    try:
        if show is not None and isinstance(provider, StreamingProvider):
            given = await _streamed(provider.stream(request), show)
        else:
            made = provider.complete(request)
            given = await made if inspect.isawaitable(made) else made
    except ProviderError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - of an SDK's words nothing is kept
        LOGGER.error("provider %s raised %s", short(provider.name), short(type(error).__name__))
        raise ProviderError("The provider failed.", ProviderFault.UNKNOWN) from None
    try:
        return _sound(given)
    except (ToolseamError, TypeError, ValueError, AttributeError, RecursionError):
        kind = short(type(given).__name__)
        LOGGER.error("provider %s returned no sound reply, but %s", short(provider.name), kind)
        raise ProviderError("The provider returned no reply.", ProviderFault.UNKNOWN) from None


async def _streamed(pieces: AsyncIterator[Delta | Reply], show: Callable[[Delta], None]) -> object:
    given: object = None
    async for piece in pieces:
        if isinstance(piece, Delta):
            show(piece)
        else:
            given = piece
    return given


def _sound(given: object) -> Reply:
    """Return a reply of plain values; raises for everything else."""
    if type(given) is not Reply:
        raise TypeError
    extra = _extra(given.extra)
    calls = tuple(map(_sound_call, given.calls))
    text, thinking = _text(given.text), _text(given.thinking)
    usage = Usage(int(given.usage.input_tokens), int(given.usage.output_tokens))
    # Together they may be no longer than what a step of the run keeps.
    encode([text, thinking, [[c.name, c.arguments, c.id] for c in calls]], limit=REPLY_BYTES)
    return Reply(text, calls, Finish(given.finish), usage, thinking, extra)


def _extra(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    return decode(encode(dict(extra), limit=REPLY_BYTES)) if extra else {}


def _sound_call(call: ToolCall) -> ToolCall:
    if type(call) is not ToolCall:
        raise TypeError
    id_ = None if call.id is None else _text(call.id)
    alias = None if call.alias is None else _text(call.alias)
    return ToolCall(_text(call.name), _sound_arguments(call.arguments), id_, alias)


def _sound_arguments(arguments: object) -> str | dict[str, Any] | None:
    """Return arguments of a model as JSON text or as plain JSON; the seam judges both alike.

    What strict JSON cannot say stays the text that it came from, which the seam refuses: kept and
    read again it may not become something that is taken.
    """
    if arguments is None:
        return None
    if isinstance(arguments, str):
        return arguments if arguments.isascii() else _escaped(exact(arguments))
    given = dict(cast("Mapping[str, Any]", arguments))
    try:
        text = encode(given, limit=REPLY_BYTES)
    except Unencodable:
        text = b""
    if text and _REPLACED not in text:
        return cast("dict[str, Any]", decode(text))
    import json  # which writes numbers without end and halves of surrogate pairs

    said = json.dumps(given)
    try:
        parse(said, limit=None)
    except BadText:
        return said
    if not text:  # a key of its own type, which would be a string from now on
        raise TypeError
    return cast("dict[str, Any]", decode(text))


def _escaped(text: str) -> str:
    """Return JSON text with lone surrogates as the escapes that they came from."""
    if mend(text) == text:
        return text
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise TypeError
    return mend(exact(given))


# -- what a host hands in -------------------------------------------------------------------------


def sound_messages(messages: Iterable[Message]) -> list[Message]:
    """Return messages of a host's own, of plain values.

    Raises `TypeError` for what is none, `ValueError` for more than can be kept.
    """
    sound = list(map(_sound_message, messages))
    sizes = (len(message.text) for message in sound)
    if sum(sizes) > HANDED_IN_CHARACTERS:
        raise ValueError(f"a run takes at most {HANDED_IN_CHARACTERS:,} characters of messages")
    return sound


def _sound_message(message: Message) -> Message:
    try:
        if type(message) is AssistantMessage:
            calls = tuple(map(_sound_call, message.calls))
            return AssistantMessage(_text(message.text), calls, _extra(message.extra))
        if type(message) is ToolMessage:
            return attrs.evolve(message, call=_sound_call(message.call))
        if type(message) is SystemMessage or type(message) is UserMessage:
            return type(message)(_text(message.text))
    except (ToolseamError, TypeError, ValueError, AttributeError, RecursionError):
        pass
    kind = short(type(message).__name__)
    raise TypeError(f"messages: {kind}, expected one of toolseam.providers with plain JSON in it")
