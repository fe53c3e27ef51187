"""What every provider's adapter has to do with a conversation, whatever its wire looks like."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from toolseam.providers import (
    AssistantMessage,
    Finish,
    ProviderFault,
    SystemMessage,
    ToolMessage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

    from toolseam.providers import Message, ToolCall

SILENCE = "(no text)"
"""Stands for a blank text, which providers refuse (P04)."""

_FAULTS = {401: ProviderFault.AUTH, 403: ProviderFault.AUTH, 429: ProviderFault.RATE_LIMIT}
_SERVER = 500
_CLIENT = 400


def spoken(text: str) -> str:
    """Return a text that is not blank."""
    return text if text.strip() else SILENCE


def instructions_of(messages: Iterable[Message]) -> str:
    """Return what the host tells the model, or "" for nothing."""
    said = [each.text for each in messages if isinstance(each, SystemMessage)]
    return "\n\n".join(text for text in said if text.strip())


def fault_of(status: int) -> ProviderFault:
    """Return the kind of failure that an HTTP status means."""
    if status >= _SERVER:
        return ProviderFault.SERVER_ERROR
    return _FAULTS.get(
        status, ProviderFault.CLIENT_ERROR if status >= _CLIENT else ProviderFault.UNKNOWN
    )


def called(finish: Finish, calls: Sized) -> Finish:
    """Return why a model stopped: for its calls, where a server has another word for it."""
    return Finish.CALLS if calls and finish in {Finish.STOP, Finish.OTHER} else finish


def keep(kind: str, model: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the `extra` of an answer: what its model wants back, and no other model can open."""
    return {kind: {"model": model, "items": items}}


def kept_of(message: AssistantMessage, kind: str, model: str) -> list[dict[str, Any]]:
    """Return what `keep` was given, if it was the same model's."""
    held: dict[str, Any] = message.extra.get(kind, {})
    items: list[dict[str, Any]] = held.get("items", [])
    return items if held.get("model") == model else []


def object_of(call: ToolCall) -> dict[str, Any]:
    """Return a call's arguments as an object; `{}` for what is no strict JSON of one.

    The call's answer tells the model what was wrong with its text; servers that read the
    conversation themselves refuse all of it for one such text.
    """
    given = call.arguments
    try:
        found: object = dict(given) if isinstance(given, Mapping) else json.loads(given or "{}")
        json.dumps(found, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def text_of(call: ToolCall) -> str:
    """Return a call's arguments as the JSON text of an object: the model's own where it is one."""
    given, found = call.arguments, object_of(call)
    same = isinstance(given, str) and (found or given.strip() == "{}")
    return cast("str", given) if same else json.dumps(found)


def paired(
    messages: Iterable[Message], *, fits: str = r".+"
) -> Iterator[tuple[Message, tuple[str, ...]]]:
    """Give each message with the ids of its calls, or the id of the call that it answers (P16).

    Ids that a provider left out or gave twice are made up: the answers stand in the order of the
    calls, so that each call and its answer get the same one.

    Args:
        messages: the conversation.
        fits: the pattern of an id that the API takes; any other is made up too.
    """
    pattern = re.compile(fits, re.DOTALL)
    taken: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            waiting = [_own(call.id, taken, pattern) for call in message.calls]
            yield message, tuple(waiting)
        elif isinstance(message, ToolMessage):
            id_ = waiting.pop(0) if waiting else _own(message.call.id, taken, pattern)
            yield message, (id_,)
        else:
            yield message, ()


def _own(given: str | None, taken: set[str], fits: re.Pattern[str]) -> str:
    number, found = 0, given
    while not found or found in taken or not fits.fullmatch(found):
        number += 1
        found = f"call_{number}"
    taken.add(found)
    return found
