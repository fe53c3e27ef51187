"""A session is one conversation: identity, allow-list, zone, withdrawals and trace (§5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from toolseam._call import Place
from toolseam._consent import approve, is_of
from toolseam._consent import preview as preview_of
from toolseam._errors import ErrorCode, publish
from toolseam._held import settle
from toolseam._loop import drive
from toolseam._lowering import Dialect, Lowering
from toolseam._result import ToolError, copy_error
from toolseam._run_control import (
    aresume_run,
    begin_run,
    decide_run,
    events,
    in_own_loop,
    revised,
    waiting,
)
from toolseam._seam import admitted_call, answer, aperform, perform
from toolseam._steps import hand_over
from toolseam._turns import denied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from typing import Unpack

    from toolseam._approval import Approval, Preview
    from toolseam._context import Actor
    from toolseam._conversation import Conversation
    from toolseam._held import HeldCall, Verdict
    from toolseam._journal import Journal
    from toolseam._levels import DataClass, Zone
    from toolseam._messages import Message
    from toolseam._render import WireText
    from toolseam._result import ToolResult
    from toolseam._run_control import Providers, RunOptions
    from toolseam._run_state import Event, RunState
    from toolseam._runs import Decision, PendingCall, Run
    from toolseam._spec import ToolSpec
    from toolseam._steps import Live, Step

    Arguments = str | bytes | Mapping[str, Any] | None


class Session:
    """One conversation with one actor, one allow-list and one receiver; made by `host.session`.

    A tool that breaks the contract is withdrawn for the rest of the session.
    """

    __slots__ = ("_conversation", "_lowerings")

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._lowerings: dict[Dialect, Lowering] = {}

    @property
    def run_id(self) -> str:
        """The unique id of this conversation."""
        return self._conversation.run_id

    @property
    def actor(self) -> Actor | None:
        """Who acts."""
        return self._conversation.actor

    @property
    def zone(self) -> Zone:
        """Where the receiver of wire text stands."""
        return self._conversation.zone

    @property
    def mark(self) -> DataClass:
        """The highest class of any content that this conversation has read."""
        return self._conversation.mark

    @property
    def steps(self) -> tuple[Step, ...]:
        """One step an attempt, refusals included, oldest first."""
        return tuple(self._conversation.trace)

    @property
    def notes(self) -> tuple[Live, ...]:
        """The live notes: progress, and calls that finished late."""
        return self._conversation.trace.notes

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the specifications of the tools that are offered here, by name."""
        return self._conversation.offered()

    def schemas(self, dialect: Dialect | str) -> list[dict[str, Any]]:
        """Return the tools that are offered here in the words of a maker's API, by name.

        For a loop of your own: what the model calls goes to `call_wire` as it is, under the name
        that it was given here.

        Args:
            dialect: `openai` (chat completions), `openai_responses`, `anthropic`, `google`
                (function declarations) or `mcp`.
        """
        kind = Dialect(dialect)
        lowering = self._lowerings.setdefault(kind, Lowering(kind))
        lowered = lowering(self.tools())
        self._conversation.exposed.update(lowered.aliases)
        return lowered.tools

    def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """Call a tool and return its result; every failure is a result (§5).

        Args:
            name: the tool's name or alias.
            arguments: a mapping, or JSON text of at most 1,000,000 bytes.
            approval: what `host.approve` gave for exactly this call.
            timeout: an explicit deadline in seconds, below 86,400.

        Raises `RuntimeError` for an async tool while an event loop runs here, `ValueError` for a
        timeout that no clock can wait for.
        """
        return perform(self._conversation, name, arguments, approval, timeout).result

    async def acall(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """Await a tool; a sync one runs in a worker thread. Else like `call`."""
        call = await aperform(
            self._conversation, name, arguments, approval=approval, timeout=timeout
        )
        return call.result

    def call_wire(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> tuple[WireText, Step]:
        """Call a tool for a provider: the only text it may be told, and the step (§6).

        Takes and raises what `call` does; also the names that `schemas` gave out.
        """
        name, wire = self._told(name)
        call = perform(self._conversation, name, arguments, approval, timeout, wire=wire)
        return hand_over(call)

    async def acall_wire(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> tuple[WireText, Step]:
        """Await a tool for a provider; else like `call_wire`."""
        name, wire = self._told(name)
        call = await aperform(self._conversation, name, arguments, approval, timeout, wire=wire)
        return hand_over(call)

    def _told(self, name: str) -> tuple[str, bool | Place]:
        """Return the tool's own name for one that `schemas` gave out; the step keeps both."""
        exposed = self._conversation.exposed
        own = exposed.get(name) if exposed and type(name) is str else None
        return (name, True) if own is None else (own, Place(0, 0, name))

    # -- runs ----------------------------------------------------------------------------------

    def run(
        self,
        provider: Providers,
        question: str | None = None,
        *,
        messages: Iterable[Message] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Ask a provider until it has an answer, calling the tools that it asks for.

        Args:
            provider: who is asked; of several, the next one where one cannot be reached.
            question: what the person asks.
            messages: a whole conversation instead; it counts as `secret_adjacent` unless `mark`
                says otherwise.
            options: see `RunOptions`.

        Returns:
            The run, completed or waiting for people: `run.status`, `run.pending`.

        Raises `RuntimeError` where an event loop runs, `TypeError` and `ValueError` for arguments
        that fit no run.
        """
        return in_own_loop(
            lambda: self.arun(provider, question, messages=messages, **options), "arun"
        )

    async def arun(
        self,
        provider: Providers,
        question: str | None = None,
        *,
        messages: Iterable[Message] | None = None,
        **options: Unpack[RunOptions],
    ) -> Run:
        """Await a run; else like `run`."""
        return await drive(self._begun(provider, question, messages, options))

    def astream(
        self,
        provider: Providers,
        question: str | None = None,
        *,
        messages: Iterable[Message] | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncIterator[Event | Run]:
        """Give steps, deltas and progress as they happen, and the run at the end.

        Takes and raises what `run` does; who stops listening cancels the run.
        """
        return events(self._begun(provider, question, messages, options))

    def resume(
        self,
        run_id: str,
        decisions: Iterable[Decision],
        provider: Providers,
        *,
        owner: Actor | None = None,
        journal: Journal | None = None,
    ) -> Run:
        """Go on with a run that waits, in this process or another; its owner acts.

        Args:
            run_id: the run.
            decisions: one for each call that needs approval and that `decide` was not told of.
            provider: who is asked from now on, held to the run's mark.
            owner: the run's owner with the roles that he has now; by default those that he had.
            journal: see `RunOptions`; one of its own for each time that the run goes on.

        Raises `RunError` where the run is not there, the decisions do not fit it, somebody may
        not decide, or what was approved has changed; nothing has run then, and the run waits on.
        """
        return in_own_loop(
            lambda: self.aresume(run_id, decisions, provider, owner=owner, journal=journal),
            "aresume",
        )

    async def aresume(
        self,
        run_id: str,
        decisions: Iterable[Decision],
        provider: Providers,
        *,
        owner: Actor | None = None,
        journal: Journal | None = None,
    ) -> Run:
        """Await the rest of a run; else like `resume`."""
        run, decided = await aresume_run(
            self._conversation.state, run_id, decisions, provider, owner, journal
        )
        return await drive(run, decided)

    def decide(self, run_id: str, decisions: Iterable[Decision]) -> bool:
        """Keep what people say of a run that waits, for whoever resumes it; True if none is left.

        Each call may be decided by somebody else, and nothing runs here.

        Raises `RunError` as `resume` does, and `conflict` where a call has been decided.
        """
        return decide_run(self._conversation.state, run_id, decisions)

    def waiting(self, run_id: str) -> tuple[PendingCall, ...]:
        """Return the calls of a run that waits; raises `RunError` `not_found`."""
        return waiting(self._conversation.state, run_id)

    def revised(
        self, run_id: str, pending: PendingCall, arguments: Mapping[str, Any] | None = None
    ) -> PendingCall:
        """Return a call that waits as it would be now, previewed again, for a person to decide.

        Args:
            run_id: the run.
            pending: the call.
            arguments: other ones, for `Decision.edit`; None are those that it has.

        Raises `RunError` `not_found` where it does not wait, else with the code of its refusal.
        """
        return revised(self._conversation.state, run_id, pending.position, arguments)

    def settle(
        self, run_id: str, calls: Iterable[HeldCall], verdict: Verdict, *, actor: Actor
    ) -> bool:
        """Say what calls of a held run did, all or none of them; True if none is left.

        When it is said of the last one, the run ends, or goes on where somebody takes it up.

        Args:
            run_id: the run, one of `host.held_runs()`.
            calls: of that run, told by their places; none, to say that people have seen a run
                without an open call.
            verdict: `done` or `not_done`.
            actor: who says so, a person who might approve such a call; of a run without any its
                owner or an administrator.

        Raises `RunError`: `not_found` where nothing is held, `permission_denied` for who may not
        say, or if the operator wants somebody else than the owner (`four_eyes`); `conflict` where
        somebody has said it.
        """
        return settle(self._conversation.state, run_id, calls, verdict, actor)

    def _begun(
        self,
        provider: Providers,
        question: str | None,
        messages: Iterable[Message] | None,
        options: RunOptions,
    ) -> RunState:
        own = self._conversation.another()
        return begin_run(own, provider, question, messages, **options)

    def preview(self, name: str, arguments: Arguments = None) -> Preview:
        """Return what an approver has to see of a call, made under this session's identity.

        Raises `ToolError` where the call would be refused before any approval.
        """
        return preview(self._conversation, name, arguments)

    def approve(self, preview: Preview, *, actor: Actor) -> Approval:
        """Approve exactly the call of `preview`, which this session made; it is used up by it.

        Raises `ToolError`: `permission_denied` if `actor` is a service account or may not make the
        call himself, or if the operator wants somebody else than the owner (`four_eyes`);
        `conflict` for a preview that another session made.
        """
        if not is_of(preview.run_id, self._conversation):
            raise ToolError("Another session made this preview.", ErrorCode.CONFLICT)
        return approve(self._conversation.state, preview, actor)

    def deny(self, preview: Preview, *, reason: str = "") -> tuple[WireText, Step]:
        """Answer the call of `preview`, which this session made and a person has refused.

        Nothing runs, and the step is left like that of any call.

        Args:
            preview: what the person has seen.
            reason: why, for the model; it is cleaned and bounded as any failure's message (§7).

        Raises `ToolError` `conflict` for a preview that another session made.
        """
        if not is_of(preview.run_id, self._conversation):
            raise ToolError("Another session made this preview.", ErrorCode.CONFLICT)
        own = self._conversation
        return hand_over(answer(own, preview.tool, preview.arguments, denied(reason), Place(0, 0)))

    def __repr__(self) -> str:
        return f"<Session {self.run_id} {len(self._conversation.trace)} steps>"


publish(globals(), "Session")


def preview(conversation: Conversation, name: str, arguments: Arguments) -> Preview:
    """Admit a call up to its approval and return what an approver has to see of it."""
    call, refused = admitted_call(conversation, name, arguments)
    if refused is not None:
        raise copy_error(cast("ToolError", refused.failure))
    return preview_of(call, position=call.number)
