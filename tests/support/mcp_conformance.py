"""The tools that MCP's conformance suites call by fixed names, and a server of them.

Run as a script it serves over standard streams, or with a port file over HTTP on loopback; it
ends when its standard input does.
"""

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

TOKEN = "t" * 32
PAUSE_S = 0.02
PUBLIC = {"effect": "read_only", "data_class": "public_content"}
SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    # The suite's own leaves open whether the condition is closed, which contract §3 refuses.
    "if": {
        "properties": {"contactMethod": {"const": "phone"}},
        "required": ["contactMethod"],
        "additionalProperties": True,
    },
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


# Whatever is of toolseam is imported late, after the streams were moved.


def host() -> Any:
    """Return a host with the tools."""
    from toolseam import Host

    return Host(tools=[*_telling_tools(), *_described_tools()])


def _telling_tools() -> tuple[object, ...]:
    from toolseam import ToolContext, ToolError, ToolResult, tool

    @tool(**PUBLIC)
    def test_simple_text() -> ToolResult:
        """Give a simple text."""
        return ToolResult.text("This is a simple text response for testing.")

    @tool(**PUBLIC)
    def test_error_handling() -> ToolResult:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    @tool(**PUBLIC)
    def test_tool_with_logging(context: ToolContext) -> ToolResult:
        """Tell what it does meanwhile."""
        said = ("Tool execution started", "Tool processing data", "Tool execution completed")
        for done, text in enumerate(said, 1):
            context.progress(done, len(said), text)
            time.sleep(PAUSE_S)
        return ToolResult.text("logged")

    @tool(**PUBLIC)
    async def test_logging_tool(context: ToolContext) -> ToolResult:
        """Tell what it does to nobody who did not ask."""
        context.progress(1, 1, "a line of the log")
        await asyncio.sleep(PAUSE_S)
        return ToolResult.text("logged")

    @tool(**PUBLIC)
    async def test_tool_with_progress(context: ToolContext) -> ToolResult:
        """Tell how far it is."""
        for done in (0, 50, 100):
            context.progress(done, 100)
            await asyncio.sleep(PAUSE_S)
        return ToolResult.text("progressed")

    return (
        *(test_simple_text, test_error_handling, test_tool_with_logging, test_logging_tool),
        test_tool_with_progress,
    )


def _described_tools() -> tuple[object, ...]:
    from toolseam import ToolError, ToolResult, ToolSpec, hookimpl

    class Schema:
        """Has arguments in words of JSON Schema 2020-12."""

        @hookimpl
        def tool_spec(self) -> ToolSpec:
            return ToolSpec(
                name="json_schema_2020_12_tool",
                description="Tool with JSON Schema 2020-12 features",
                parameters=SCHEMA_2020_12,
                **PUBLIC,
            )

        @hookimpl
        def execute(self, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult.text(f"{len(arguments)} arguments")

    class Typed:
        """Answers with data that fits a promise, or fails."""

        @hookimpl
        def tool_spec(self) -> ToolSpec:
            number = {"type": "integer", "minimum": 0}
            return ToolSpec(
                name="typed",
                description="Give data.",
                parameters={"type": "object", "properties": {"n": number}, "required": ["n"]},
                output_schema={
                    "type": "object",
                    "properties": {"n": {"type": "integer"}},
                    "required": ["n"],
                },
                **PUBLIC,
            )

        @hookimpl
        def execute(self, arguments: dict[str, Any]) -> ToolResult:
            if arguments["n"] > 9:
                raise ToolError("One digit is all.")
            return ToolResult.text(f"n is {arguments['n']}", data=dict(arguments))

    return Schema(), Typed()


def _with_token(app: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Add the token that the suites cannot be told to send."""

    async def added(scope: dict[str, Any], receive: object, send: object) -> None:
        if scope["type"] == "http" and not any(k == b"authorization" for k, _ in scope["headers"]):
            headers = [*scope["headers"], (b"authorization", b"Bearer " + TOKEN.encode())]
            scope = {**scope, "headers": headers}
        await app(scope, receive, send)

    return added


def _serve_http(port_file: Path) -> None:
    import uvicorn

    from toolseam_plugins.mcp import asgi

    # With the protocol unnamed asyncio would leave Nagle's algorithm on.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    with host() as served:
        app = _with_token(asgi(served, token=TOKEN, structured=("typed",)))
        # Streams that a client left open end with the server, not the server with them.
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)

        def leave() -> None:
            sys.stdin.read()
            server.should_exit = True

        threading.Thread(target=leave, daemon=True).start()
        listening.listen(64)
        port_file.write_text(str(listening.getsockname()[1]))
        server.run(sockets=[listening])


def _serve_stdio() -> None:
    from toolseam_plugins.mcp import claim_stdio, serve_stdio

    wires = claim_stdio()
    with host() as served:
        serve_stdio(served, wires=wires, structured=("typed",))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _serve_http(Path(sys.argv[1]))
    else:
        _serve_stdio()
