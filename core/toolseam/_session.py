"""A session is one conversation: identity, allow-list, zone, withdrawals and trace (§5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from toolseam._consent import preview as preview_of
from toolseam._errors import publish
from toolseam._result import copy_error
from toolseam._seam import admitted_call, aperform, perform
from toolseam._steps import step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam._approval import Approval, Preview
    from toolseam._call import Call
    from toolseam._context import Actor
    from toolseam._conversation import Conversation
    from toolseam._levels import DataClass, Zone
    from toolseam._render import WireText
    from toolseam._result import ToolError, ToolResult
    from toolseam._spec import ToolSpec
    from toolseam._steps import Live, Step

    Arguments = str | bytes | Mapping[str, Any] | None


class Session:
    """One conversation with one actor, one allow-list and one receiver; made by `host.session`.

    A tool that breaks the contract is withdrawn for the rest of the session.
    """

    __slots__ = ("_conversation",)

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

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
        conversation = self._conversation
        decide = conversation.state.policy.decide
        return tuple(
            tool.spec
            for tool in conversation.state.registry.tools()
            if decide(tool, conversation.receiver).allowed and not conversation.is_withdrawn(tool)
        )

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

        Takes and raises what `call` does.
        """
        call = perform(self._conversation, name, arguments, approval, timeout, wire=True)
        return _wire(call)

    async def acall_wire(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> tuple[WireText, Step]:
        """Await a tool for a provider; else like `call_wire`."""
        call = await aperform(self._conversation, name, arguments, approval, timeout, wire=True)
        return _wire(call)

    def preview(self, name: str, arguments: Arguments = None) -> Preview:
        """Return what an approver has to see of a call, made under this session's identity.

        Raises `ToolError` where the call would be refused before any approval.
        """
        return preview(self._conversation, name, arguments)

    def __repr__(self) -> str:
        return f"<Session {self.run_id} {len(self._conversation.trace)} steps>"


publish(globals(), "Session")


def _wire(call: Call) -> tuple[WireText, Step]:
    return cast("WireText", call.wire), step(call)


def preview(conversation: Conversation, name: str, arguments: Arguments) -> Preview:
    """Admit a call up to its approval and return what an approver has to see of it."""
    call, refused = admitted_call(conversation, name, arguments)
    if refused is not None:
        raise copy_error(cast("ToolError", refused.failure))
    return preview_of(call, position=call.number)
