"""What a run has finished, kept where it outlives the process: who repeats it does nothing twice.

A run with a journal begins again from its start in another process. What was finished comes from
the journal: replies, answers to calls, what people decided. What was not is done now, but for a
write of which only the intent is known.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any, Literal, Protocol

import attrs

from toolseam._errors import ErrorCode, publish
from toolseam._jsontext import decode, encode
from toolseam._levels import DataClass
from toolseam._messages import Finish, ProviderError, ProviderFault, Reply, Usage
from toolseam._result import ToolResult, refusal
from toolseam._result_json import decode_result, encode_result
from toolseam._run_state import call_json, call_of
from toolseam._runs import CONTENT_LIMIT
from toolseam._seam import replayed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from toolseam._call import Call, Place
    from toolseam._messages import ToolCall
    from toolseam._run_state import RunState

FENCED = "fenced"
Fate = Literal["none", "unknown", "done", "not_done"]


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

    def fate(self, key: str) -> Fate:
        """Tell what is known of a write whose intent another attempt has stored under its key.

        `none` where there is no such intent; `done` and `not_done` are a person's word. May wait
        for a database.
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
    last: int | None
    fenced: bool = False

    def text(self) -> bytes:
        facts = {"ran": self.ran, "mark": self.mark.value, "last": self.last}
        facts["fenced"] = self.fenced
        return encode(facts) + b"\n" + encode_result(self.result).encode()


def _kept_of(text: bytes) -> _Kept:
    first, _, result = text.partition(b"\n")
    facts = decode(first)
    mark = DataClass(facts["mark"])
    outcome = decode_result(result.decode())
    return _Kept(outcome, facts["ran"], mark, facts["last"], facts["fenced"])


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
        call, fate = None, await asyncio.to_thread(journal.fate, key)
        if fate == "none":
            call = await make_call()
            if not call.ran:
                # Another attempt may have stored its intent a moment before this one.
                fate = await asyncio.to_thread(journal.fate, key)
        mark = conversation.mark
        if call is None or fate != "none":
            last = None if call is None else conversation.trace.next_number()
            fenced = fate == "unknown"
            return _Kept(_known(fate), fate != "not_done", mark, last, fenced).text()
        # It may have called others, whose numbers nobody takes when this is repeated.
        last = conversation.trace.next_number()
        text = _Kept(call.result, call.ran, mark, last).text()
        made.append((call, text))
        return text

    text = await journal.once(key, make)
    if made and made[0][1] == text:
        return made[0][0]
    kept = _kept_of(text)
    run.held = run.held or kept.fenced
    call = replayed(conversation, asked.name, arguments, kept.result, place, ran=kept.ran)
    conversation.raise_mark(kept.mark)
    if kept.last is not None:
        conversation.trace.next_number = itertools.count(kept.last + 1).__next__
    return call


def _known(fate: Fate) -> ToolResult:
    """Return the answer to a write that another attempt may have made."""
    lost = "The process that made this call was lost before it answered"
    if fate == "done":
        return ToolResult.text(f"{lost}. A person says that it was done.")
    if fate == "not_done":
        message = f"{lost}. A person says that nothing was done."
        return refusal(ErrorCode.UNAVAILABLE, message, reason=FENCED)
    message = f"{lost}. Nobody knows what it did, and it was not made again."
    return refusal(ErrorCode.EXECUTION_ERROR, message, reason=FENCED)
