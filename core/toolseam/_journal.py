"""What a run has finished, kept where it outlives the process: who repeats it does nothing twice.

A run with a journal begins again from its start in another process. What was finished comes from
the journal: replies, answers to calls, what people decided. What was not is done now, but for a
write of which only the intent is known.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from toolseam._errors import ErrorCode, publish
from toolseam._jsontext import decode, encode
from toolseam._levels import DataClass
from toolseam._messages import Finish, ProviderError, ProviderFault, Reply, Usage
from toolseam._result import refusal
from toolseam._result_json import decode_result, encode_result
from toolseam._run_state import call_json, call_of
from toolseam._runs import CONTENT_LIMIT
from toolseam._seam import replayed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from toolseam._call import Call, Place
    from toolseam._messages import ToolCall
    from toolseam._result import ToolResult
    from toolseam._run_state import RunState

FENCED = "fenced"


class Journal(Protocol):
    """Keeps what one run has finished; made by whoever makes a run durable.

    Keys are the same whenever the run is repeated, and are asked for in the same order.
    """

    @property
    def run_id(self) -> str:
        """The id that the run has in every process."""
        ...

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what was kept under a key, or else make it and keep it; `make` never raises."""
        ...

    def intended(self, key: str) -> bool:
        """Tell whether a write's intent is stored under its call's key that is not this attempt's.

        May wait for a database.
        """
        ...


publish(globals(), "Journal")


# -- replies --------------------------------------------------------------------------------------


async def replied(
    run: RunState, journal: Journal, number: int, ask: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Return what a provider said, asked now or before.

    Raises what `ask` raises: `ProviderError`, and `TimeoutError` where the budget ended it.
    """

    async def make() -> bytes:
        said: dict[str, Any] = {}
        try:
            said["reply"] = _reply_json(await ask())
        except ProviderError as error:
            said["fault"] = error.fault.value
        except TimeoutError:
            said["late"] = True
        return encode({**said, "elapsed_s": run.elapsed_s}, limit=CONTENT_LIMIT)

    kept = decode(await journal.once(f"{run.round}/{number}", make))
    # The time that a request took is spent, whoever asked.
    run.spent_s += max(0.0, kept["elapsed_s"] - run.elapsed_s)
    if "late" in kept:
        raise TimeoutError
    if "fault" in kept:
        raise ProviderError("The provider failed.", ProviderFault(kept["fault"]))
    return _reply_of(kept["reply"])


def _reply_json(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "calls": [call_json(call) for call in reply.calls],
        "finish": reply.finish.value,
        "usage": [reply.usage.input_tokens, reply.usage.output_tokens],
        "thinking": reply.thinking,
        "extra": dict(reply.extra),
    }


def _reply_of(found: Mapping[str, Any]) -> Reply:
    return Reply(
        found["text"],
        tuple(map(call_of, found["calls"])),
        Finish(found["finish"]),
        Usage(*found["usage"]),
        found["thinking"],
        found["extra"],
    )


# -- calls ----------------------------------------------------------------------------------------


@attrs.frozen
class _Kept:
    """An answer as it is kept: the result, and what the run knows of the attempt besides."""

    result: ToolResult
    ran: bool
    mark: DataClass
    last: int

    def text(self) -> bytes:
        facts = {"ran": self.ran, "mark": self.mark.value, "last": self.last}
        return encode(facts) + b"\n" + encode_result(self.result).encode()


def _kept_of(text: bytes) -> _Kept:
    first, _, result = text.partition(b"\n")
    facts = decode(first)
    return _Kept(
        decode_result(result.decode()), facts["ran"], DataClass(facts["mark"]), facts["last"]
    )


async def answered(
    run: RunState,
    journal: Journal,
    asked: ToolCall,
    arguments: Any,  # noqa: ANN401 - as the seam takes them
    place: Place,
    make_call: Callable[[], Awaitable[Call]],
) -> Call:
    """Return the attempt to call a tool, made now or before, and by nobody twice."""
    key = f"{place.round}.{place.position}"
    conversation = run.conversation
    made: list[tuple[Call, bytes]] = []

    async def make() -> bytes:
        call = None
        if not await asyncio.to_thread(journal.intended, key):
            call = await make_call()
        # A tool may have called others, whose numbers nobody takes when this is repeated.
        last = conversation.trace.next_number()
        if call is None or (not call.ran and await asyncio.to_thread(journal.intended, key)):
            return _Kept(_fenced(), True, conversation.mark, last).text()
        text = _Kept(call.result, call.ran, conversation.mark, last).text()
        made.append((call, text))
        return text

    text = await journal.once(key, make)
    if made and made[0][1] == text:
        return made[0][0]
    kept = _kept_of(text)
    call = replayed(conversation, asked.name, arguments, kept.result, place, ran=kept.ran)
    conversation.raise_mark(kept.mark)
    conversation.trace.next_number = itertools.count(kept.last + 1).__next__
    return call


def _fenced() -> ToolResult:
    message = (
        "This call was on its way when the process that made it was lost. Nobody knows what it"
        " did, so it was not made again."
    )
    return refusal(ErrorCode.EXECUTION_ERROR, message, reason=FENCED)
