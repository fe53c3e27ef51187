"""Calls that a client gives up, under the SDK before 2.0.

That SDK ends the whole session where a cancellation meets an answer on its way out, and neither
stops a call that was given up before it began nor is silent about it; so it hears of none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio import CancelScope

_CANCELLED = "notifications/cancelled"


class Calls:
    """The calls of one session by the ids of their requests, from their arrival to their answer."""

    def __init__(self) -> None:
        self._early: dict[object, CancelScope] = {}
        self._begun: dict[object, CancelScope] = {}

    def is_theirs(self, message: Any) -> bool:  # noqa: ANN401
        """Note what comes in; tell whether it gives a call up, which is then done."""
        found: Any = getattr(getattr(message, "message", None), "root", None)
        method = getattr(found, "method", None)
        if method == "tools/call" and hasattr(found, "id"):
            self._early[found.id] = _scope()
        if method != _CANCELLED or hasattr(found, "id"):
            return False
        params: dict[str, Any] = found.params or {}
        given_up = params.get("requestId")
        # `true` and 1.0 would be the request 1.
        if type(given_up) in {int, str}:
            for held in (self._early, self._begun):
                if given_up in held:
                    held[given_up].cancel()
        return True

    def begin(self, id_: object) -> CancelScope:
        """Return what ends the call when it is given up, or was."""
        scope = self._begun[id_] = self._early.pop(id_, _scope())
        return scope

    def answered(self, message: Any) -> None:  # noqa: ANN401
        """Forget the call that a message answers."""
        found = message.message.root
        if not hasattr(found, "method"):
            self._early.pop(found.id, None)
            self._begun.pop(found.id, None)


def _scope() -> CancelScope:
    from anyio import CancelScope

    return CancelScope()


_CALLS: ContextVar[Calls] = ContextVar("toolseam_mcp_calls")


def calls() -> Calls:
    """Return those of the session in which a handler runs."""
    return _CALLS.get()


def watched(run: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Return a server's `run` with our own cancellation."""

    async def serve(incoming: Any, outgoing: Any, *more: Any, **named: Any) -> None:  # noqa: ANN401
        held = Calls()
        token = _CALLS.set(held)
        try:
            await run(_Incoming(incoming, held), _Outgoing(outgoing, held), *more, **named)
        finally:
            _CALLS.reset(token)

    return serve


class _Stream:
    def __init__(self, stream: Any, held: Calls) -> None:  # noqa: ANN401
        self._stream = stream
        self._held = held

    async def __aenter__(self) -> Any:  # noqa: ANN401
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *fault: object) -> Any:  # noqa: ANN401
        return await self._stream.__aexit__(*fault)


class _Incoming(_Stream):
    def __aiter__(self) -> Any:  # noqa: ANN401
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401
        while self._held.is_theirs(message := await self._stream.__anext__()):
            pass
        return message


class _Outgoing(_Stream):
    async def send(self, message: Any) -> None:  # noqa: ANN401
        self._held.answered(message)
        await self._stream.send(message)
