"""For each check of a host one host that breaks exactly it; each is right in all other ways."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from toolseam import Actor, ErrorCode, Host, Session, ToolResult

Make = Callable[[Sequence[Any]], Any]


class Around:
    """A host that does what the host inside does, until a subclass knows better."""

    def __init__(self, tools: Sequence[Any]) -> None:
        self.tools = list(tools)
        self.inner = Host(tools=tools)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def raw(self, arguments: Any = None) -> Any:
        """Call the hook of the only tool, past the seam."""
        return self.tools[0].execute(dict(arguments or {}))


class Conversation:
    """A session that does what the session inside does, until a subclass knows better."""

    def __init__(self, host: Any, inner: Session) -> None:
        self.host = host
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class Talking(Around):
    """A host whose sessions are of a class of its own."""

    kind: type[Conversation] = Conversation

    def session(self, **more: Any) -> Any:
        """Begin a conversation."""
        return self.kind(self, self.inner.session(**more))


class Trusting(Around):
    """Takes whatever the hook returns."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Turn a look-alike into a result."""
        result = self.inner.call(name, arguments, **more)
        broken = result.failure is not None and result.failure.code is ErrorCode.CONTRACT_ERROR
        value = self.raw(arguments) if broken else None
        return result if not broken or type(value) is ToolResult else ToolResult.text(str(value))


class Forgetful(Around):
    """Does not hold a tool to its output schema."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Let a success without data pass."""
        result = self.inner.call(name, arguments, **more)
        broken = result.failure is not None and result.failure.code is ErrorCode.CONTRACT_ERROR
        value: object = self.raw(arguments) if broken else None
        return value if type(value) is ToolResult else result


class Repeating(Talking):
    """Runs a tool again that broke the contract."""

    class Session(Conversation):
        """Begins each call anew."""

        def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
            """Call in another session, and keep the step of this one."""
            result = self.inner.call(name, arguments, **more)
            if self.host.violations:
                self.host.inner.session(actor=Actor.system).call(name, arguments, **more)
            return result

    kind = Session


class Careless(Around):
    """Runs the tool although the arguments were refused."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Run it past the seam."""
        result = self.inner.call(name, arguments, **more)
        if result.failure is not None and result.failure.code is ErrorCode.INVALID_ARGUMENTS:
            self.raw(arguments)
        return result


class Sharing(Talking):
    """Hands the caller's own arguments to the tool."""

    class Session(Conversation):
        """Passes them on."""

        def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
            """Let the tool have them."""
            result = self.inner.call(name, arguments, **more)
            if isinstance(arguments, dict) and "text" in arguments:
                self.host.tools[0].execute(arguments)
            return result

    kind = Session


class Open(Around):
    """Takes nobody for the system."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Call as the system."""
        return self.inner.call(name, arguments, **{**more, "actor": Actor.system})


class Rash(Around):
    """Approves every write itself."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Run what nobody approved."""
        result = self.inner.call(name, arguments, **more)
        denied = result.failure is not None and result.failure.code is ErrorCode.APPROVAL_DENIED
        return self.raw(arguments) if denied else result


class Chatty(Around):
    """Tells the text of an exception."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Say what was raised."""
        result = self.inner.call(name, arguments, **more)
        if result.failure is None or result.failure.code is not ErrorCode.EXECUTION_ERROR:
            return result
        try:
            value: ToolResult = self.raw(arguments)
        except Exception as error:
            return ToolResult.error(str(error))
        except SystemExit:
            return result
        return value


class Mortal(Around):
    """Ends with a tool that exits."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Let a SystemExit through."""
        result = self.inner.call(name, arguments, **more)
        if result.failure is not None and "SystemExit" in result.failure.message:
            raise SystemExit(3)
        return result


class Endless(Around):
    """Cuts nothing."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Give long content as it was."""
        result = self.inner.call(name, arguments, **more)
        return self.raw(arguments) if "[truncated:" in result.content else result


class Unwashed(Around):
    """Cleans nothing."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Give unclean content as it was."""
        result = self.inner.call(name, arguments, **more)
        return self.raw(arguments) if "\u241b" in result.content else result


class Heaping(Around):
    """Lets any number of artifacts through."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Give them as they were."""
        result = self.inner.call(name, arguments, **more)
        labels = [artifact.label for artifact in result.artifacts]
        return self.raw(arguments) if labels == ["Artifacts omitted"] else result


class Patient(Around):
    """Waits for the tool, whatever the deadline was."""

    def call(self, name: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Sleep on."""
        result = self.inner.call(name, arguments, **more)
        if result.failure is not None and result.failure.code is ErrorCode.TIMEOUT:
            time.sleep(0.7)
        return result


class Discreet(Talking):
    """Keeps no step of a refusal."""

    class Session(Conversation):
        """Tells of what worked."""

        @property
        def steps(self) -> Any:
            """Leave refusals out."""
            return tuple(step for step in self.inner.steps if step.status != "not_found")

    kind = Session


class Reading(Talking):
    """Reads the status out of the text."""

    class Session(Conversation):
        """Takes a text that looks like a failure for one."""

        def call_wire(self, name: str, arguments: Any = None, **more: Any) -> Any:
            """Judge by the text."""
            wire, step = self.inner.call_wire(name, arguments, **more)
            looks = wire.startswith("Error (")
            return wire, attrs.evolve(step, status="not_found" if looks else "ok")

    kind = Session


class Frank(Talking):
    """Masks nothing."""

    class Session(Conversation):
        """Hands the content out."""

        def call_wire(self, name: str, arguments: Any = None, **more: Any) -> Any:
            """Give the content itself."""
            wire, step = self.inner.call_wire(name, arguments, **more)
            return (step.result.content if step.masked else wire), step

    kind = Session


class Leaking(Talking):
    """Adds the data to what is told."""

    class Session(Conversation):
        """Thinks that a model wants it all."""

        def call_wire(self, name: str, arguments: Any = None, **more: Any) -> Any:
            """Append the data."""
            wire, step = self.inner.call_wire(name, arguments, **more)
            return (wire if step.data is None else f"{wire}\n{step.data.value}"), step

    kind = Session


HOSTS: dict[str, Make] = {
    "host-judges-returns": Trusting,
    "host-keeps-promises": Forgetful,
    "host-runs-once": Repeating,
    "host-validates-arguments": Careless,
    "host-gives-fresh-arguments": Sharing,
    "host-asks-policy": Open,
    "host-asks-for-approval": Rash,
    "host-hides-exceptions": Chatty,
    "host-survives-exits": Mortal,
    "host-bounds-content": Endless,
    "host-cleans-content": Unwashed,
    "host-bounds-artifacts": Heaping,
    "host-keeps-deadlines": Patient,
    "host-leaves-one-step": Discreet,
    "host-renders-by-status": Reading,
    "host-masks-wire": Frank,
    "host-keeps-run-only": Leaking,
}
"""Broken hosts by the slug that they break."""
