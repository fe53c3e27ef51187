from pathlib import Path

from support.mcp_stub import declared, mounted, stub, tool
from toolseam import Actor


def test_a_declared_tool_is_called_at_its_server(tmp_path: Path) -> None:
    """The call reaches the server under its own name, and its text is the content."""
    server = stub(tmp_path / "depot")
    said = {**server.said, "tools": declared(tool())}

    with mounted({"depot": said}) as host:
        result = host.call("depot__find", {"text": "lamp"}, actor=Actor("ada"))

    assert result.content == 'find: {"text": "lamp"}'
    assert [call["name"] for call in server.calls()] == ["find"]
