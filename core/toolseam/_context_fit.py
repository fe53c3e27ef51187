"""What of a conversation is sent when the model cannot read all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam._messages import AssistantMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam._messages import Message

_CHARACTERS_A_TOKEN = 3.0
_FRAME_TOKENS = 8


def fit(messages: Sequence[Message], tokens: int | None) -> tuple[list[Message] | None, int]:
    """Return what is sent, and how many messages were left out; None if it cannot fit.

    The oldest turns go first, and whole: a call never loses its answer. What stands before the
    first turn stays, and so does the newest turn.

    Args:
        messages: the conversation.
        tokens: how many the model can read; None sends everything. They are estimated, three
            characters to one.
    """
    kept = list(messages)
    if tokens is None:
        return kept, 0
    sizes = [_estimate(message) for message in kept]
    spare = sum(sizes) - tokens
    if spare <= 0:
        return kept, 0
    starts = [place for place, each in enumerate(kept) if isinstance(each, AssistantMessage)]
    for place, start in enumerate(starts[:-1]):
        end = starts[place + 1]
        spare -= sum(sizes[start:end])
        if spare <= 0:
            return kept[: starts[0]] + kept[end:], end - starts[0]
    return None, 0


def _estimate(message: Message) -> int:
    size = len(message.text)
    if isinstance(message, AssistantMessage):
        size += sum(len(call.name) + len(str(call.arguments or "")) for call in message.calls)
    elif isinstance(message, ToolMessage):
        size += len(message.call.name)
    return _FRAME_TOKENS + int(size / _CHARACTERS_A_TOKEN)
