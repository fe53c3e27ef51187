"""A run on its way: what the loop changes, and how it is kept while it waits.

Artifacts, data and metadata are no members of it, so they cannot ride in what is kept.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._context import Actor
from toolseam._jsontext import decode, encode
from toolseam._levels import DataClass, Zone
from toolseam._messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from toolseam._render import issue
from toolseam._runs import (
    CONTENT_LIMIT,
    DEFAULT_ROUNDS,
    Budget,
    Decision,
    KeptDecision,
    PendingCall,
    RunError,
    RunStep,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._conversation import Conversation
    from toolseam._journal import Journal
    from toolseam._messages import Delta, Provider
    from toolseam._steps import Live, Step

    Event = Step | RunStep | Live | Delta

VERSION = 1


def _silent(_: object) -> None:
    """Tell nobody."""


def _no_steps() -> list[Step | RunStep]:
    return []


@attrs.define(eq=False, repr=False)
class RunState:
    """One run while the loop has it in hand.

    Its conversation's zone is the farthest of session and providers; `turn` holds the calls that
    wait, `pending` what people see of them; `last` and `repeats` count one call made again and
    again; `told` is what the store is told when the run begins, and until then; `journal` keeps
    what is finished, if somebody makes the run durable, and `held` says that of a write of its turn
    only the intent is known.
    """

    conversation: Conversation
    providers: tuple[Provider, ...]
    messages: list[Message]
    budget: Budget = attrs.field(factory=Budget)
    max_rounds: int = DEFAULT_ROUNDS
    max_output_tokens: int | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    round: int = 0
    calls: int = 0
    usage: Usage = attrs.field(factory=Usage)
    spent_s: float = 0.0
    turn: tuple[ToolCall, ...] = ()
    pending: tuple[PendingCall, ...] = ()
    last: str = ""
    repeats: int = 0
    sent: int = 0
    cut_off: bool = False
    stop_on_denial: bool = False
    streaming: bool = False
    told: Mapping[str, object] | None = None
    steps: list[Step | RunStep] = attrs.field(factory=_no_steps)
    emit: Callable[[Event], None] = _silent
    journal: Journal | None = None
    held: bool = False
    begun: float = attrs.field(factory=time.monotonic)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.conversation.run_id

    @property
    def facts(self) -> dict[str, object]:
        """Who acts, for whom the answers are, and who is asked."""
        actor = self.conversation.actor
        return {
            "actor": None if actor is None else actor.name,
            "zone": self.conversation.zone.value,
            "provider": ", ".join(provider.name for provider in self.providers),
        }

    @property
    def elapsed_s(self) -> float:
        """Seconds that the run has been at work, over all its parts."""
        return self.spent_s + time.monotonic() - self.begun


def dump(run: RunState) -> bytes:
    """Return a run that waits as JSON text: what a resume needs, and nothing of the run-only."""
    conversation = run.conversation
    actor = conversation.actor
    facts = {
        "version": VERSION,
        "run": run.id,
        "actor": None if actor is None else _actor_json(actor),
        "zone": conversation.zone.value,
        "tools": None if conversation.allowed is None else sorted(conversation.allowed),
        "mark": conversation.mark.value,
        "withdrawn": sorted(withdrawn_names(conversation)),
        "next_number": conversation.trace.next_number(),
        "since": time.time(),
        "providers": [provider.name for provider in run.providers],
        "endpoints": [_endpoint_json(provider) for provider in run.providers],
        "messages": [message_json(message) for message in run.messages],
        "budget": attrs.asdict(run.budget),
        "max_rounds": run.max_rounds,
        "max_output_tokens": run.max_output_tokens,
        "options": dict(run.options),
        "round": run.round,
        "calls": run.calls,
        "usage": [run.usage.input_tokens, run.usage.output_tokens],
        "spent_s": run.elapsed_s,
        "turn": [call_json(call) for call in run.turn],
        "pending": [attrs.asdict(each) for each in run.pending],
        "last": run.last,
        "repeats": run.repeats,
        "sent": run.sent,
        "cut_off": run.cut_off,
        "stop_on_denial": run.stop_on_denial,
    }
    return encode(facts, limit=CONTENT_LIMIT)


@attrs.frozen
class Kept:
    """A run as it was kept: its facts, and the members that its conversation is rebuilt of."""

    facts: dict[str, Any] = attrs.field(repr=False)

    @property
    def owner(self) -> Actor | None:
        """Who acts."""
        found = self.facts["actor"]
        return None if found is None else _actor_of(found)

    @property
    def zone(self) -> Zone:
        """The farthest of the session and those whom it asked."""
        return Zone(self.facts["zone"])

    @property
    def mark(self) -> DataClass:
        """The highest class that was read."""
        return DataClass(self.facts["mark"])

    @property
    def since(self) -> float:
        """When it began to wait, in seconds of the epoch."""
        return float(self.facts["since"])

    @property
    def pending(self) -> tuple[PendingCall, ...]:
        """The calls that wait."""
        found: list[dict[str, Any]] = self.facts["pending"]
        return tuple(
            attrs.evolve(PendingCall(**each), lines=tuple(each["lines"])) for each in found
        )


def load(state: bytes) -> Kept:
    """Read what `dump` wrote; raises `RunError` `conflict` for what is none of it."""
    try:
        facts = decode(state)
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or cast("dict[str, Any]", facts).get("version") != VERSION:
        raise RunError("The state of this run cannot be read by this version.", "conflict")
    return Kept(cast("dict[str, Any]", facts))


def restore(kept: Kept, conversation: Conversation, providers: tuple[Provider, ...]) -> RunState:
    """Return the run as it was when it began to wait."""
    facts = kept.facts
    return RunState(
        conversation,
        providers,
        [message_of(each) for each in facts["messages"]],
        Budget(**facts["budget"]),
        facts["max_rounds"],
        facts["max_output_tokens"],
        facts["options"],
        facts["round"],
        facts["calls"],
        Usage(*facts["usage"]),
        facts["spent_s"],
        tuple(call_of(each) for each in facts["turn"]),
        kept.pending,
        facts["last"],
        facts["repeats"],
        facts["sent"],
        facts["cut_off"],
        facts["stop_on_denial"],
    )


def _endpoint_json(provider: Provider) -> dict[str, Any] | None:
    """Return what `host.provider` needs to make this one again, if it made it; never a key."""
    endpoint = getattr(provider, "endpoint", None)
    if endpoint is None:
        return None
    return {
        "base_url": endpoint.base_url,
        "zone": endpoint.zone.value,
        "api_key_env": endpoint.api_key_env,
    }


def withdrawn_names(conversation: Conversation) -> set[str]:
    """Return the names of the tools that have broken the contract here."""
    tools = conversation.state.registry.loaded()
    return {tool.name for tool in tools if tool.key in conversation.withdrawn}


def kept_decision(decision: Decision) -> KeptDecision:
    """Return what a person said as a store keeps it."""
    arguments = None if decision.arguments is None else dict(decision.arguments)
    who = _actor_json(decision.actor)
    facts = (decision.position, decision.verdict, who, decision.digest, decision.reason, arguments)
    text = encode(facts, limit=CONTENT_LIMIT)
    return KeptDecision(decision.position, decision.verdict, decision.actor.name, text)


def decision_of(text: bytes) -> Decision:
    """Return the decision that was kept as this text."""
    position, verdict, actor, digest, reason, arguments = decode(text)
    return Decision(position, verdict, _actor_of(actor), digest, reason, arguments)


def _actor_json(actor: Actor) -> list[Any]:
    return [actor.name, sorted(actor.roles), actor.service]


def _actor_of(found: list[Any]) -> Actor:
    return Actor(found[0], frozenset(found[1]), found[2])


def message_json(message: Message) -> dict[str, Any]:
    """Return a message as plain JSON."""
    if isinstance(message, SystemMessage):
        return {"role": "system", "text": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "text": message.text}
    if isinstance(message, AssistantMessage):
        calls = [call_json(call) for call in message.calls]
        extra = dict(message.extra)
        return {"role": "assistant", "text": message.text, "calls": calls, "extra": extra}
    return {
        "role": "tool",
        "call": call_json(message.call),
        "text": str(message.text),
        "is_error": message.is_error,
    }


def message_of(found: Mapping[str, Any]) -> Message:
    """Return the message that `message_json` wrote."""
    role = found["role"]
    if role == "system":
        return SystemMessage(found["text"])
    if role == "user":
        return UserMessage(found["text"])
    if role == "assistant":
        calls = tuple(call_of(call) for call in found["calls"])
        return AssistantMessage(found["text"], calls, found["extra"])
    # What was kept is what the seam issued when the call was made.
    return ToolMessage(call_of(found["call"]), issue(found["text"]), found["is_error"])


def call_json(call: ToolCall) -> list[Any]:
    """Return a call that a model asks for as plain JSON."""
    arguments = call.arguments
    given = arguments if arguments is None or isinstance(arguments, str) else dict(arguments)
    return [call.name, given, call.id, call.alias]


def call_of(found: list[Any]) -> ToolCall:
    """Return the call that `call_json` wrote."""
    return ToolCall(*found)
