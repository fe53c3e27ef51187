"""The SDK from 2.0 on: handlers are given to its constructor, and may answer in plain JSON."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from toolseam_plugins.mcp._server_origin import caller_of
from toolseam_plugins.mcp._server_peer import LEVELS

if TYPE_CHECKING:
    from toolseam_plugins.mcp._server_notes import Progress
    from toolseam_plugins.mcp._server_peer import Peer

_TOKENS = {"progressToken", "progress_token"}
_LEVEL = "io.modelcontextprotocol/logLevel"


def make_server(peer: Peer, version: str) -> Any:  # noqa: ANN401
    """Return a low-level server that answers from `peer`."""
    lowlevel = import_module("mcp.server.lowlevel")
    caching = import_module("mcp.server.caching")
    types: Any = import_module("mcp_types")
    modern = import_module("mcp_types.version").MODERN_PROTOCOL_VERSIONS

    def whole(context: Any, answer: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
        if context.protocol_version in modern:
            answer["resultType"] = "complete"
        return answer

    async def list_tools(context: Any, params: Any) -> Any:  # noqa: ANN401, ARG001
        return whole(context, {"tools": await peer.tools(caller_of(context.request, None))})

    async def call_tool(context: Any, params: Any) -> Any:  # noqa: ANN401
        caller = caller_of(context.request, params.arguments)
        meta = cast("dict[str, Any]", context.meta or {})
        wants = meta.get(_LEVEL) if context.protocol_version in modern else peer.level(caller.key)

        async def send(note: Progress) -> None:
            # It knows who asked for progress; a client in this process has no token.
            await context.session.report_progress(note.done, note.total, note.text or None)
            if note.text and wants in LEVELS and not _TOKENS & meta.keys():
                told = {"level": "info", "logger": note.tool, "data": note.text}
                params = types.LoggingMessageNotificationParams(**told)
                notification = types.LoggingMessageNotification(params=params)
                await context.session.send_notification(notification, context.request_id)

        return whole(context, await peer.call(caller, params.name, send, meta))

    async def set_level(context: Any, params: Any) -> Any:  # noqa: ANN401
        peer.set_level(caller_of(context.request, None).key, params.level)
        return {}

    server = lowlevel.Server(
        "toolseam",
        version=version,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # A policy may change with every call, and what is offered is the caller's own.
        cache_hints={"tools/list": caching.CacheHint(ttl_ms=0, scope="private")},
    )
    # Given to the constructor it would warn: the newest revision asks for levels by request.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    # The SDK's own span has the tool's name and nothing that the plugin `otel` would not say.
    server.middleware.clear()
    return server


def message(body: dict[str, Any], origin: object) -> Any:  # noqa: ANN401
    """Return a message as the SDK's own; pydantic's complaint is a `ValueError`."""
    types: Any = import_module("mcp_types")
    shared: Any = import_module("mcp.shared.message")
    made = types.jsonrpc_message_adapter.validate_python(body, by_name=False)
    return shared.SessionMessage(made, shared.ServerMessageMetadata(request_context=origin))


def encoded(message: Any) -> tuple[bytes, Any]:  # noqa: ANN401
    """Return a message as JSON, and the id that it answers."""
    made = message.message
    answers = None if hasattr(made, "method") else made.id
    return made.model_dump_json(by_alias=True, exclude_unset=True).encode(), answers
