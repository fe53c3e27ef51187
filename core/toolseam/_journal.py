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
from toolseam._run_state import call_json, call_of, withdrawn_names
from toolseam._runs import CONTENT_LIMIT
from toolseam._seam import Ended, replayed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from toolseam._call import Call, Place
    from toolseam._conversation import Conversation
    from toolseam._messages import ToolCall
    from toolseam._run_state import RunState

FENCED = "fenced"
Fate = Literal["none", "unknown", "done", "not_done"]
_EFFECTS: dict[Fate, str] = {"unknown": "unknown", "done": "done", "not_done": "none"}


class Journal(Protocol):
    """Keeps what one run has finished; made by whoever makes a run durable.

    Keys are the same whenever the run is repeated, and are asked for in the same order.
    """

    @property
    def run_id(self) -> str:
        """The id that the run has in every process."""
        ...

    @property
    def gone(self) -> bool:
        """Whether another process has the run by now, so that nobody is told of an end here."""
        ...

    async def once(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return what was kept under a key, or else make it and keep it.

        Whatever a provider or a tool raises, `make` returns; but who is cancelled cancels it too.
        """
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
    _set_clock(run, kept["elapsed_s"])
    if "late" in kept:
        raise TimeoutError
    if "fault" in kept:
        raise ProviderError("The provider failed.", ProviderFault(kept["fault"]))
    return _reply_of(kept["reply"])


def _set_clock(run: RunState, elapsed_s: float) -> None:
    """Make it as late in the run as it was, whoever did it, and however long it is looked up."""
    run.spent_s += elapsed_s - run.elapsed_s


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


class Stopped(Exception):
    """A tool has raised what ends a run, in the process that made the call."""


@attrs.frozen
class _Kept:
    """An answer as it is kept: the result, and what the run knows of the attempt besides.

    `last` is the highest number that the call and those that it made have taken, `withdrawn` the
    tools that broke the contract in them; `raised` says that it ended the run.
    """

    result: ToolResult
    ended: Ended
    mark: DataClass
    elapsed_s: float
    last: int | None = None
    fenced: bool = False
    withdrawn: Sequence[str] = ()
    raised: bool = False

    def text(self) -> bytes:
        facts = {each.name: getattr(self, each.name) for each in attrs.fields(_Kept)[1:]}
        facts |= {"mark": self.mark.value, "ended": attrs.asdict(self.ended)}
        return encode(facts) + b"\n" + encode_result(self.result).encode()


def _kept_of(text: bytes) -> _Kept:
    first, _, result = text.partition(b"\n")
    facts: dict[str, Any] = decode(first)
    facts |= {"mark": DataClass(facts["mark"]), "ended": Ended(**facts["ended"])}
    return _Kept(decode_result(result.decode()), **facts)


async def answered(
    run: RunState,
    journal: Journal,
    asked: ToolCall,
    arguments: Any,  # noqa: ANN401 - as the seam takes them
    place: Place,
    make_call: Callable[[], Awaitable[Call]],
) -> Call:
    """Return the attempt to call a tool, made now or before, and by nobody twice.

    Raises what the tool has raised that ends a run (§5), and `Stopped` for who repeats that one.
    """
    key = f"{place.round}.{place.position}"
    conversation = run.conversation
    made: list[tuple[Call, bytes]] = []
    raised: list[BaseException] = []

    async def make() -> bytes:
        before = withdrawn_names(conversation)
        call, fate = None, await asyncio.to_thread(journal.fate, key)
        if fate == "none":
            try:
                call = await make_call()
            except BaseException as error:  # noqa: BLE001 - kept, and raised afterwards
                call = _stopped_by(error, conversation, place)
                raised.append(error)
            if not call.ran:
                # Another attempt may have stored its intent a moment before this one.
                fate = await asyncio.to_thread(journal.fate, key)
        # It may have called others, whose numbers nobody takes when this is repeated.
        last = None if call is None else conversation.trace.next_number()
        facts = conversation.mark, run.elapsed_s, last
        if call is None or fate != "none":
            ended = Ended(fate != "not_done", _EFFECTS[fate])
            return _Kept(_known(fate), ended, *facts, fate == "unknown").text()
        broken = sorted(withdrawn_names(conversation) - before)
        ended = Ended.of(call)
        kept = _Kept(call.result, ended, *facts, withdrawn=broken, raised=bool(raised))
        made.append((call, text := kept.text()))
        return text

    text = await journal.once(key, make)
    if raised:
        raise raised[0]
    kept = _kept_of(text)
    _set_clock(run, kept.elapsed_s)
    if made and made[0][1] == text:
        return made[0][0]
    run.held = run.held or kept.fenced
    return _replayed(conversation, asked.name, arguments, place, kept)


def _replayed(
    conversation: Conversation,
    name: str,
    arguments: Any,  # noqa: ANN401 - as the seam takes them
    place: Place,
    kept: _Kept,
) -> Call:
    call = replayed(conversation, name, arguments, kept.result, place, kept.ended)
    conversation.raise_mark(kept.mark)
    for tool in map(conversation.state.registry.get, kept.withdrawn):
        if tool is not None:
            conversation.withdraw(tool)
    if kept.last is not None:
        conversation.trace.next_number = itertools.count(kept.last + 1).__next__
    if kept.raised:
        raise Stopped
    return call


def _stopped_by(error: BaseException, conversation: Conversation, place: Place) -> Call:
    """Return the finished call whose tool has raised what ends a run; anything else is raised."""
    if isinstance(error, Exception | asyncio.CancelledError | GeneratorExit):
        raise error
    for call in reversed(conversation.trace.calls):
        if call.for_wire is place:
            return call
    raise error


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
