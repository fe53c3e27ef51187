"""The one renderer, and the one type that a provider message takes (contract §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, final

from toolseam._errors import publish
from toolseam._text import CONTENT_BYTES, MESSAGE_BYTES, bound

if TYPE_CHECKING:
    from toolseam._errors import ErrorCode
    from toolseam._result import ToolResult

NO_OUTPUT = "(no output)"


def failure_text(
    code: ErrorCode,
    message: str,
    output: str = "",
    *,
    limit: int = CONTENT_BYTES,
    message_limit: int = MESSAGE_BYTES,
) -> tuple[str, bool]:
    """Return the provider's text of a failure and whether anything was cut.

    `Error (<code>): <message>`, then a newline and the partial output if there is any. The
    message gets `message_limit` bytes, the whole at most `limit` bytes (§6, §7).
    """
    said, cut = bound(message, message_limit)
    text, cut_all = bound(f"Error ({code.value}): {said}", limit)
    if not output or output.isspace():
        return text, cut or cut_all
    room = limit - len(text.encode()) - 1
    shown, cut_output = bound(output, max(0, room))
    return (f"{text}\n{shown}" if shown else text), cut or cut_all or cut_output


def render_tool_result(result: ToolResult) -> str:
    """Return the text a provider is told of `result`: pure, total, at most 50,000 bytes (§6).

    Success: its content, or `(no output)` if that is blank. Failure: `Error (<code>): <message>`
    and the partial output. Nothing decides anything by reading it.
    """
    return bound(render_bounded(result))[0]


def render_bounded(result: ToolResult) -> str:
    """Return the same text of a result that the seam has bounded already."""
    failure = result.failure
    if failure is not None:
        return failure_text(failure.code, failure.message, result.partial_output)[0]
    content = result.content
    return content if content and not content.isspace() else NO_OUTPUT


@final
class WireText(str):
    """Text that the seam has bounded and masked: the only thing a provider message takes (§6).

    Only `Session.call_wire` and the loop issue it; calling the class raises `TypeError`.
    """

    __slots__ = ()

    def __new__(cls, *_: object) -> WireText:
        """Refuse: the seam alone issues wire text."""
        message = "WireText is issued by the seam alone; use session.call_wire()"
        raise TypeError(message)

    def __init_subclass__(cls) -> NoReturn:
        message = "WireText is final"
        raise TypeError(message)


publish(globals(), "WireText", "render_tool_result")


def issue(text: str) -> WireText:
    """Make wire text; called by the seam and nobody else (a test holds that)."""
    return str.__new__(WireText, text)
