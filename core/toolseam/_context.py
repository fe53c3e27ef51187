"""Who calls, and what a tool may ask of its host during a call (contract §2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import attrs

from toolseam._errors import publish
from toolseam._text import mend

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable, Mapping

    from toolseam._levels import Zone
    from toolseam._result import ToolResult
    from toolseam._spec import ToolSpec

T = TypeVar("T")
ADMIN = "admin"


def _roles(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise TypeError("roles are a set of words, not one text")
    return frozenset(names)


def _name(name: object) -> str:
    # A look-up that found nobody gives None or "", and nobody has no permission (§5).
    if not isinstance(name, str) or not name.strip():
        raise ValueError("an actor has a name; whoever acts for nobody passes actor=None")
    # Who acts is part of every digest; a name with a character taken away would be another's.
    if not name.isascii() and mend(name) != name:
        raise ValueError("an actor's name encodes as UTF-8: half a surrogate pair does not")
    return name


@attrs.frozen
class Actor:
    """Who acts: a name and roles; `admin` is the role that `requires_admin` asks for.

    A `service` account may call what it is allowed, and never approves a write.
    `Actor.system` is host code acting for itself.
    """

    name: str = attrs.field(converter=_name)
    roles: frozenset[str] = attrs.field(default=frozenset(), converter=_roles)
    service: bool = False

    system: ClassVar[Actor]

    @property
    def is_admin(self) -> bool:
        """Whether the actor has the role `admin`."""
        return ADMIN in self.roles


Actor.system = Actor("system", frozenset({ADMIN}), service=True)


class CallFacilities(Protocol):
    """What the seam lends to the context of one call."""

    def progress(self, done: float, total: float | None, text: str) -> None:
        """Show a live step that is never stored."""

    def step_id(self) -> str:
        """Return the id of the step that this attempt will leave."""
        ...

    def cancelled(self) -> bool:
        """Tell whether the call was abandoned or cancelled."""
        ...

    def secret(self, name: str) -> str:
        """Return a secret that the operator granted."""
        ...

    def resource(self, key: str, opener: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return what was opened once for this host."""
        ...

    def send_to(self, zone: Zone) -> None:
        """Refuse what may not leave for a zone."""

    def nested(self, name: str, arguments: object) -> ToolResult:
        """Call another tool in the caller's run."""
        ...

    async def anested(self, name: str, arguments: object) -> ToolResult:
        """Call another tool in the caller's run, awaiting it."""
        ...


@attrs.frozen(eq=False)
class ToolContext:
    """What one call may know and ask; built only where an implementation names `context` (§2).

    `call_id` stays the same over approval and resume: an idempotency key for remote systems.
    `deadline` is absolute, in seconds of `time.monotonic()`, or None.
    `settings` is an instance of the plugin's own settings class, or None.
    """

    tool: ToolSpec
    actor: Actor | None
    run_id: str
    call_id: str
    deadline: float | None
    settings: Any
    logger: logging.Logger
    _call: CallFacilities = attrs.field(repr=False, alias="call")

    @property
    def step_id(self) -> str:
        """The id of the step that this attempt will leave; each attempt has another one."""
        return self._call.step_id()

    def cancelled(self) -> bool:
        """Tell whether nobody waits for this call any more; long work should look now and then."""
        return self._call.cancelled()

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Report progress; it is shown live and never stored."""
        self._call.progress(done, total, text)

    def secret(self, name: str) -> str:
        """Return a secret that the operator granted to this plugin.

        Raises `ToolError` with `unavailable` if it was not granted or is not set.
        """
        return self._call.secret(name)

    def resource(self, key: str, opener: Callable[[], T]) -> T:
        """Return what `opener` gave, opened once a host and closed with it (by its `close()`)."""
        opened: T = self._call.resource(key, opener)
        return opened

    def send_to(self, zone: Zone | str) -> None:
        """Ask before arguments leave for a place that only the call names, and its zone.

        A tool whose arguments always go to the same zone says so in its specification instead.
        Raises `ToolError` with `permission_denied`, reason `sends_to`, if the run has read more
        than the zone may get.
        """
        from toolseam._levels import Zone

        self._call.send_to(Zone(zone))

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call another tool in the caller's run: same actor and allow-list, at most 3 deep.

        Look at its failure before handing the result on: `contract_error` is the framework's
        word alone, and a tool that returns one breaks the contract itself (§1).
        """
        return self._call.nested(name, arguments)

    async def acall(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Await another tool in the caller's run: same actor and allow-list, at most 3 deep."""
        return await self._call.anested(name, arguments)


publish(globals(), "Actor", "ToolContext")
