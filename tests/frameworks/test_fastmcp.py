"""FastMCP: one text block and the flag, whatever its client asks."""

import asyncio
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from support.tools import ADA, Counted, fine, plugin
from toolseam import Host, Session, ToolArtifact, ToolResult
from toolseam_plugins.interop import to_fastmcp


def asked(session: Session, name: str, arguments: dict[str, Any]) -> Any:
    """Call a tool by way of a server and its client."""
    server = FastMCP("tools")
    for each in to_fastmcp(session):
        server.add_tool(each)

    async def whole() -> Any:
        async with Client(server) as client:
            return await client.call_tool_mcp(name, arguments)

    return asyncio.run(asyncio.wait_for(whole(), 30))


def test_an_answer_is_one_text_block() -> None:
    """No structured content and no metadata of ours: hosts hand both to their model."""

    def execute(arguments: object) -> ToolResult:
        members = {"data": {"a": 1}, "metadata": {"b": 2}}
        return ToolResult.text("rows", ToolArtifact.text("c", "d"), **members)

    answer = asked(Host(tools=[plugin(execute)]).session(actor=ADA), "probe", {})

    assert [(block.type, block.text) for block in answer.content] == [("text", "rows")]
    assert answer.structured_content is None
    assert answer.is_error is False
    assert set(answer.meta or {}) <= {"io.modelcontextprotocol/serverInfo"}


def test_a_tool_is_listed_as_it_is() -> None:
    """Name, description and schema are the tool's own, to the last word of a long description."""
    text = "Word. " * 300
    parameters = {"properties": {"n": {"type": "integer", "minimum": 2}}, "required": ["n"]}
    session = Host(
        tools=[plugin(lambda arguments: fine(), description=text, parameters=parameters)]
    ).session(actor=ADA)

    (made,) = to_fastmcp(session)

    listed = made.to_mcp_tool()
    assert (listed.name, listed.description) == ("probe", text)
    assert listed.input_schema == session.tools()[0].schema
    assert listed.output_schema is None


@pytest.mark.parametrize(
    "arguments", [{"n": "x"}, {"m": 1}, {}, {"n": 1.5}], ids=["type", "unknown", "none", "half"]
)
def test_bad_arguments_are_an_error_result(arguments: dict[str, Any]) -> None:
    """The client gets a flagged result, no exception of the protocol."""
    parameters = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Counted(fine, parameters=parameters)

    answer = asked(Host(tools=[tool]).session(actor=ADA), "probe", arguments)

    assert (tool.count, answer.is_error) == (0, True)
    assert answer.content[0].text.startswith("Error (invalid_arguments)")
