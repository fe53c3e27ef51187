"""The SDK before 2.0: handlers by type of request, and answers in its own classes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolseam_plugins.mcp._sdk1_calls import calls, watched
from toolseam_plugins.mcp._server_origin import caller_of
from toolseam_plugins.mcp._server_peer import LEVELS

if TYPE_CHECKING:
    from toolseam_plugins.mcp._server_notes import Progress
    from toolseam_plugins.mcp._server_peer import Peer


def make_server(peer: Peer, version: str) -> Any:  # noqa: ANN401
    """Return a low-level server that answers from `peer`."""
    lowlevel = import_module("mcp.server.lowlevel")
    types: Any = import_module("mcp.types")
    fault: Any = import_module("mcp.shared.exceptions").McpError
    server = lowlevel.Server("toolseam", version=version)

    async def list_tools(request: Any) -> Any:  # noqa: ANN401, ARG001
        told = await peer.tools(caller_of(server.request_context.request, None))
        tools = [types.Tool.model_validate(tool) for tool in told]
        return types.ServerResult(types.ListToolsResult(tools=tools))

    async def call_tool(request: Any) -> Any:  # noqa: ANN401
        context, params = server.request_context, request.params
        caller = caller_of(context.request, params.arguments)
        token = None if context.meta is None else context.meta.progressToken
        asked = str(context.request_id)

        async def send(note: Progress) -> None:
            session, text = context.session, note.text
            if token is not None:
                await session.send_progress_notification(
                    token, note.done, note.total, text or None, asked
                )
            elif text and peer.level(caller.key) in LEVELS:
                await session.send_log_message("info", text, note.tool, context.request_id)

        meta: dict[str, Any] = (
            {} if context.meta is None else context.meta.model_dump(exclude_none=True)
        )
        with calls().begin(context.request_id):
            answer = await peer.call(caller, params.name, send, meta)
            return types.ServerResult(types.CallToolResult.model_validate(answer))
        # It ends an HTTP request; over standard streams it goes no farther than our transport.
        raise fault(types.ErrorData(code=0, message="Request cancelled"))

    async def set_level(request: Any) -> Any:  # noqa: ANN401
        caller = caller_of(server.request_context.request, None)
        peer.set_level(caller.key, request.params.level)
        return types.ServerResult(types.EmptyResult())

    # The decorators would check arguments against the schema, which is the seam's to do.
    server.request_handlers[types.ListToolsRequest] = list_tools
    server.request_handlers[types.CallToolRequest] = call_tool
    server.request_handlers[types.SetLevelRequest] = set_level
    server.run = watched(server.run)
    return server


def message(body: dict[str, Any], origin: object) -> Any:  # noqa: ANN401
    """Return a message as the SDK's own; pydantic's complaint is a `ValueError`."""
    types: Any = import_module("mcp.types")
    shared: Any = import_module("mcp.shared.message")
    made = types.JSONRPCMessage.model_validate(body)
    return shared.SessionMessage(made, shared.ServerMessageMetadata(request_context=origin))


def encoded(message: Any) -> tuple[bytes, Any]:  # noqa: ANN401
    """Return a message as JSON, and the id that it answers."""
    made = message.message.root
    answers = None if hasattr(made, "method") else made.id
    return made.model_dump_json(by_alias=True, exclude_none=True).encode(), answers
