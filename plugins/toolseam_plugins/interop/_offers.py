"""One tool as a framework is told of it, and the only way from there to the seam and back."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Session, ToolError
from toolseam.providers import Dialect, Lowering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam import Actor, Approval, Step, WireText
    from toolseam._approval import Preview

    Arguments = str | Mapping[str, Any]


@attrs.frozen
class Answer:
    """What a framework may learn of a call: the seam's text, and the code of a failure."""

    text: str
    code: str | None

    @property
    def off_wire(self) -> dict[str, str] | None:
        """All that a framework keeps beside the text."""
        return None if self.code is None else {"error_code": self.code}


@attrs.frozen(eq=False)
class Offer:
    """A tool that a session offers, in the words that a framework passes on to its model."""

    name: str
    description: str
    parameters: dict[str, Any]
    needs_approval: bool
    _session: Session
    _tool: str

    def call(self, arguments: Arguments, approval: Approval | None = None) -> Answer:
        """Call the tool with what the model wrote, or what the framework made of it."""
        return _answer(*self._session.call_wire(self._tool, arguments, approval=approval))

    async def acall(self, arguments: Arguments, approval: Approval | None = None) -> Answer:
        """Await the tool; else like `call`."""
        return _answer(*await self._session.acall_wire(self._tool, arguments, approval=approval))

    def preview(self, arguments: Arguments) -> Preview | None:
        """Return what a person has to see, or None where the call is refused anyway."""
        with contextlib.suppress(ToolError):
            return self._session.preview(self._tool, arguments)
        return None

    def approval(self, shown: Preview | None, approver: Actor | None) -> Approval | None:
        """Return the approval of what was shown, or None where that person may not give it."""
        if shown is None or approver is None:
            return None
        with contextlib.suppress(ToolError):
            return self._session.approve(shown, actor=approver)
        return None

    def denied(self, shown: Preview, reason: str) -> Answer:
        """Answer a call that a person has refused, with his reason."""
        return _answer(*self._session.deny(shown, reason=reason))


def _answer(text: WireText, step: Step) -> Answer:
    # A plain text: what a framework stores is read again where nobody knows of wire text.
    return Answer(str(text), None if step.status == "ok" else step.status)


def offers(session: Session, dialect: Dialect = Dialect.OPENAI) -> list[Offer]:
    """Return what a session offers now, by name.

    The words are those that OpenAI takes, the narrowest of all, unless the framework speaks MCP.
    """
    specs = {spec.name: spec for spec in session.tools()}
    lowered = Lowering(dialect, strict=False)(specs.values())
    schema = "inputSchema" if dialect is Dialect.MCP else "parameters"
    found: list[Offer] = []
    for each in lowered.tools:
        told: dict[str, Any] = each.get("function", each)
        name: str = told["name"]
        own = lowered.aliases.get(name, name)
        needs = specs[own].requires_approval
        found.append(Offer(name, told["description"], told[schema], needs, session, own))
    return found


def shown_to_people(preview: Preview) -> dict[str, Any]:
    """Return a preview as plain JSON, for a framework that carries it to a person."""
    return {
        "tool": preview.tool,
        "arguments": preview.arguments,
        "preview": list(preview.lines),
        "failed": preview.failed,
        "cut": preview.cut,
        "digest": preview.digest,
    }
