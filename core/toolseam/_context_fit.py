"""What of a conversation is sent when the model cannot read all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolseam._messages import AssistantMessage, ToolMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam._messages import Message

_BYTES_A_TOKEN = 3.0
_FRAME_TOKENS = 8


def fit(messages: Sequence[Message], tokens: int | None) -> tuple[list[Message] | None, int]:
    """Return what is sent, and how many messages were left out; None if it cannot fit.

    The oldest turns go first, and whole: a call never loses its answer. What stands before the
    first turn stays, and so do the person's newest words and the turn that followed them.

    Args:
        messages: the conversation.
        tokens: how many the model can read; None sends everything. They are estimated, three
            bytes to one.
    """
    kept = list(messages)
    if tokens is None:
        return kept, 0
    sizes = [_estimate(message) for message in kept]
    spare = sum(sizes) - tokens
    if spare <= 0:
        return kept, 0
    starts = [place for place, each in enumerate(kept) if isinstance(each, AssistantMessage)]
    first, last = _newest_words(kept)
    # A turn that the person has answered is over, be it the newest.
    ends = starts[1:] if starts and starts[-1] > first else [*starts[1:], len(kept)]
    for start, end in zip(starts, ends, strict=False):
        gone = [place for place in range(start, end) if not first <= place < last]
        spare -= sum(sizes[place] for place in gone)
        if spare <= 0:
            words = kept[first:last] if starts[0] <= first < end else []
            sent = kept[: starts[0]] + words + kept[end:]
            return sent, len(kept) - len(sent)
    return None, 0


def _newest_words(messages: list[Message]) -> tuple[int, int]:
    """Return where the person's newest messages in a row begin and end."""
    last = len(messages)
    while last and not isinstance(messages[last - 1], UserMessage):
        last -= 1
    first = last
    while first and isinstance(messages[first - 1], UserMessage):
        first -= 1
    return first, last


def _estimate(message: Message) -> int:
    size = _size(message.text)
    if isinstance(message, AssistantMessage):
        size += sum(_size(call.name) + _size(str(call.arguments or "")) for call in message.calls)
    elif isinstance(message, ToolMessage):
        size += _size(message.call.name)
    return _FRAME_TOKENS + int(size / _BYTES_A_TOKEN)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
