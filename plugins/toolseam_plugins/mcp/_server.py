"""The server's public face: over standard streams, as an ASGI application, or in process."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from toolseam_plugins.mcp._sdk import find_sdk
from toolseam_plugins.mcp._server_peer import KEPT, Peer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolseam import Actor, Host, Session, Zone
    from toolseam_plugins.mcp._server_peer import Key
    from toolseam_plugins.mcp._stdio import Wires


def serve_stdio(
    host: Host,
    *,
    actor: Actor | None = None,
    tools: Iterable[str] | None = None,
    zone: Zone | str | None = None,
    structured: Iterable[str] = (),
    wires: Wires | None = None,
) -> None:
    """Serve one client over standard input and output until it ends its side; blocks.

    Args:
        host: whose tools are served.
        actor: who acts; without one only tools of class `public_content` answer.
        tools: an allow-list of names and `group:<name>`; None is no narrowing.
        zone: where the client's model stands, by default the settings' `zone`.
        structured: tools whose declared `data` goes out as `structuredContent` besides.
        wires: what `claim_stdio` gave; absent, the streams are claimed now.

    Raises `McpUnavailable` where the SDK is not installed.
    """
    from toolseam_plugins.mcp._stdio import claim_stdio, serve

    sdk = find_sdk()
    held = claim_stdio() if wires is None else wires
    allowed = None if tools is None else frozenset(tools)

    def opened(_: Key) -> Session:
        return host.session(actor=actor, tools=allowed, zone=zone, keep=KEPT)

    async def run() -> None:
        peer = Peer(host, opened, frozenset(structured))
        try:
            await serve(sdk, sdk.make_server(peer, version("toolseam")), held)
        finally:
            peer.close()

    asyncio.run(run())


def server(host: Host, session: Session, *, structured: Iterable[str] = ()) -> Any:  # noqa: ANN401
    """Return the SDK's low-level server of one session, for a client in the same process.

    Args:
        host: the session's.
        session: the conversation in which every call is made.
        structured: tools whose declared `data` goes out as `structuredContent` besides.

    Raises `McpUnavailable` where the SDK is not installed.
    """
    peer = Peer(host, lambda _: session, frozenset(structured))
    return find_sdk().make_server(peer, version("toolseam"))
