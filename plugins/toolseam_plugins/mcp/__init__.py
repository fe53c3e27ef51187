"""MCP both ways: toolseam's tools for MCP clients, and other servers' tools mounted here.

The SDK is imported on first use; without it `McpUnavailable` says how to install it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam_plugins.mcp._http import asgi
    from toolseam_plugins.mcp._http_run import listen, names_of, serve_http
    from toolseam_plugins.mcp._sdk import McpUnavailable, find_sdk
    from toolseam_plugins.mcp._server import serve_stdio, server
    from toolseam_plugins.mcp._stdio import Wires, claim_stdio

_HOME = {
    "McpUnavailable": "_sdk",
    "Wires": "_stdio",
    "asgi": "_http",
    "claim_stdio": "_stdio",
    "find_sdk": "_sdk",
    "listen": "_http_run",
    "names_of": "_http_run",
    "serve_http": "_http_run",
    "serve_stdio": "_server",
    "server": "_server",
}

__all__ = [
    "McpUnavailable",
    "Wires",
    "asgi",
    "claim_stdio",
    "find_sdk",
    "listen",
    "names_of",
    "serve_http",
    "serve_stdio",
    "server",
]


def __getattr__(name: str) -> object:
    """Import a room when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = import_module(f"{__name__}.{_HOME[name]}")
    found = globals()[name] = getattr(room, name)
    return found


def __dir__() -> list[str]:
    return __all__
