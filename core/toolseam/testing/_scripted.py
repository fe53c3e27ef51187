"""A provider that says what a script tells it to, for tests and the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from toolseam._messages import Delta, Finish, ProviderError, ProviderFault, Reply, ToolCall, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from toolseam._levels import Zone
    from toolseam._messages import Request

Line: TypeAlias = (
    "str | tuple[str, Any] | Sequence[tuple[str, Any] | ToolCall] | Reply | ProviderError"
)
"""An answer in words; one call or several, as `(name, arguments)`; a whole reply; a failure."""


class ScriptedProvider:
    """Replays a fixed script, one line a request; the requests are kept for looking.

    Args:
        script: what it answers, in order; a request beyond the end is a `ProviderError`.
        name: how steps name it.
        zone: where it says that it stands, or None.
    """

    def __init__(
        self, script: Iterable[Line], *, name: str = "scripted", zone: Zone | str | None = None
    ) -> None:
        self.name = name
        self.zone = zone
        self.requests: list[Request] = []
        self._script = iter(script)

    async def complete(self, request: Request) -> Reply:
        """Answer with the next line."""
        self.requests.append(request)
        line = next(self._script, None)
        if line is None:
            raise ProviderError("The script has ended.", ProviderFault.CONFIGURATION)
        if isinstance(line, ProviderError):
            raise line
        return _reply(line)

    async def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Give the next line word by word, then as a whole."""
        reply = await self.complete(request)
        for word in reply.text.split(" ") if reply.text else ():
            yield Delta(word)
        yield reply


def _reply(line: Any) -> Reply:  # noqa: ANN401 - one of `Line`
    if isinstance(line, Reply):
        return line
    if isinstance(line, str):
        return Reply(line, usage=Usage(1, 1))
    asked: list[Any] = [*line] if isinstance(line, list) else [line]
    calls = tuple(
        call if isinstance(call, ToolCall) else ToolCall(call[0], call[1], f"call_{number}")
        for number, call in enumerate(asked, 1)
    )
    return Reply(calls=calls, finish=Finish.CALLS, usage=Usage(1, 1))
