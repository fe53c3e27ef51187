"""Which major of the MCP SDK is here; one thin room for each, chosen on first use.

The SDK takes most of a second to import, so that nothing imports it before a client is served.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from toolseam import ToolseamError

if TYPE_CHECKING:
    from toolseam_plugins.mcp._server_peer import Peer


class McpUnavailable(ToolseamError):
    """The extra is missing; the text says how to install it."""


class Sdk(Protocol):
    """What is asked of a major of the SDK, and nothing else of it."""

    def make_server(self, peer: Peer, version: str) -> Any:  # noqa: ANN401
        """Return the SDK's low-level server, which answers from `peer`."""
        ...

    def message(self, body: dict[str, Any], origin: object) -> Any:  # noqa: ANN401
        """Return a message as the SDK's own; raises `ValueError` for one that it does not know.

        `origin` comes back to the handlers as the request's context.
        """
        ...

    def encoded(self, message: Any) -> tuple[bytes, Any]:  # noqa: ANN401
        """Return a message of the SDK's as JSON, and the id that it answers, or None."""
        ...


def find_sdk() -> Sdk:
    """Return the room of the major that is installed.

    Raises `McpUnavailable` where there is none.
    """
    if find_spec("mcp") is None:
        raise McpUnavailable("MCP needs the extra `mcp`: pip install 'toolseam[mcp]'")
    major = "_sdk2" if find_spec("mcp_types") is not None else "_sdk1"
    return cast("Sdk", import_module(f"toolseam_plugins.mcp.{major}"))


async def run(server: Any, incoming: Any, outgoing: Any) -> None:  # noqa: ANN401
    """Serve one client over a pair of streams until the incoming one ends."""
    await server.run(incoming, outgoing, server.create_initialization_options())


def http(server: Any, body_bytes: int, sessions: int) -> Any:  # noqa: ANN401
    """Return the SDK's manager of streamable HTTP; Host and Origin are our gate's to check."""
    managers: Any = import_module("mcp.server.streamable_http_manager")
    return managers.StreamableHTTPSessionManager(
        server, max_request_body_size=body_bytes, max_sessions=sessions
    )
