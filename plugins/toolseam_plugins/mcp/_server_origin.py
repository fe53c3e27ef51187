"""From what a transport knows of a request to the caller that the peer is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from toolseam_plugins.mcp._server_peer import Caller

if TYPE_CHECKING:
    from collections.abc import Mapping

SCOPE = "toolseam.caller"
"""The key of an HTTP request's scope under which the gate leaves the caller."""


def caller_of(origin: object, arguments: Mapping[str, Any] | None) -> Caller:
    """Return who asks.

    Args:
        origin: what a transport gave to the SDK with the message.
        arguments: those that the SDK read, for a client that shares our process.
    """
    if isinstance(origin, Caller):
        return origin
    scope: Any = getattr(origin, "scope", None)
    if isinstance(scope, dict):
        return cast("Caller", scope[SCOPE])
    return Caller(arguments=arguments)
