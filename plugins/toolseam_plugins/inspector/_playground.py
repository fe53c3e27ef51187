"""The playground: one call at a time, by the person at the page, through the seam."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from toolseam import ToolError, Zone
from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._json import text

if TYPE_CHECKING:
    from toolseam import Actor, Approval, Host, Session, Step

_PREVIEWS = 100


class Playground:
    """One session for each zone, until a new one is wanted, and the previews that were shown."""

    def __init__(self, host: Host, actor: Actor) -> None:
        self._host = host
        self._actor = actor
        self._sessions: dict[Zone, Session] = {}
        self._shown: OrderedDict[str, tuple[Session, Any]] = OrderedDict()

    async def preview(self, name: str, arguments: str, zone: str, *, fresh: bool) -> dict[str, Any]:
        """Return what a call would do; raises `Refused` where it would be refused anyway.

        Args:
            name: of the tool.
            arguments: JSON text.
            zone: where whoever reads the answer would stand.
            fresh: in a new session, in which the call is made too.
        """
        session = self._session(zone, fresh=fresh)
        try:
            # A preview is a plugin's code, and may wait.
            seen = await asyncio.to_thread(session.preview, name, arguments)
        except ToolError as refused:
            raise Refused(422, refused.code.value, refused.message) from None
        self._shown[seen.digest] = session, seen
        while len(self._shown) > _PREVIEWS:
            self._shown.popitem(last=False)
        tool = self._host.tool(name)
        return {
            "needs_approval": tool is not None and tool.requires_approval,
            "preview": {
                "tool": seen.tool,
                "arguments_json": text(seen.arguments),
                "lines": list(seen.lines),
                "failed": seen.failed,
                "cut": seen.cut,
                "digest": seen.digest,
            },
        }

    async def call(
        self, name: str, arguments: str, zone: str, digest: str | None, *, fresh: bool
    ) -> Step:
        """Make a call and return its step, approved if it is the one that `digest` names.

        Raises `Refused` for a digest that nobody was shown, or not in this session.
        """
        session = self._session(zone, fresh=fresh)
        approval = None if digest is None else self._approved(session, digest)
        _, step = await session.acall_wire(name, arguments, approval=approval)
        return step

    def _approved(self, session: Session, digest: str) -> Approval:
        """Return the person's approval of what was shown; it is shown no more."""
        session_then, seen = self._shown.pop(digest, (None, None))
        if session_then is not session:
            raise Refused(409, "conflict", "Look at the preview again: it is not of this call.")
        try:
            return session.approve(cast("Any", seen), actor=self._actor)
        except ToolError as refused:
            raise Refused(403, refused.code.value, refused.message) from None

    def _session(self, zone: str, *, fresh: bool = False) -> Session:
        try:
            place = Zone(zone)
        except ValueError:
            raise Refused(400, "invalid_arguments", "This is no zone.") from None
        if fresh or place not in self._sessions:
            self._sessions[place] = self._host.session(actor=self._actor, zone=place)
        return self._sessions[place]
