import asyncio
import os
import re
import signal
import sys
import time
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.mcp_stub import Stub, declared, mounted, stub, tool
from toolseam import Actor, ToolResult
from toolseam._settings import coded_settings
from toolseam_plugins.mcp._client_events import Events
from toolseam_plugins.mcp._client_listing import define
from toolseam_plugins.mcp._client_stdio import Lines
from toolseam_plugins.mcp._client_talk import MESSAGE_BYTES

ADA = Actor("ada", {"admin"})
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "mount-an-mcp-server.md"


def called(server: Stub, times: int = 1, **more: Any) -> list[ToolResult]:
    """Call the one tool of a server so many times."""
    said = {**server.said, "tools": declared(tool()), **more}
    with mounted({"depot": said}) as host:
        return [host.call("depot__find", {"text": str(n)}, actor=ADA) for n in range(times)]


def answering(tmp_path: Path, code: str, head: str = "") -> Stub:
    """Write a server whose calls are answered by `code`."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    return stub(
        tmp_path / "depot", f"{head}\n\ndef tools_call(number, name, arguments, params):\n{body}\n"
    )


def test_the_tables_of_the_page_are_settings() -> None:
    """Every TOML block of the how-to page is what the operator's file takes."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    command, url, table = (tomllib.loads(block)["mounts"]["depot"] for block in blocks)

    for mount in (command, url, {**command, **table}):
        settings = coded_settings({"mounts": {"depot": mount}})
        assert settings.operator.mounts["depot"].zone in {"private_hosted", "external_global"}


def test_answers_may_come_in_a_batch(tmp_path: Path) -> None:
    """An older protocol allows a list of messages; what is none in it is passed over."""
    server = answering(
        tmp_path,
        'answer = {"id": number, "result": {"content": [{"type": "text", "text": "one"}]}}\n'
        'send([{"method": "notifications/message"}, 7, {"jsonrpc": "2.0", **answer}])',
    )

    assert called(server)[0].content == "one"


def test_progress_that_is_none_is_passed_over(tmp_path: Path) -> None:
    """Only numbers of a call that is waited for are shown."""
    server = answering(
        tmp_path,
        """
many = 10 ** 400
for params in (None, [], {}, {"progressToken": number},
               {"progressToken": number, "progress": many}, {"progressToken": True, "progress": 1},
               {"progressToken": 99, "progress": 1}, {"progressToken": number, "progress": True},
               {"progressToken": number, "progress": "1"},
               {"progressToken": number, "progress": 2, "total": "x", "message": 3}):
    send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
text(number, "")
""",
    )
    told: list[Any] = []

    with mounted({"depot": {**server.said, "tools": declared(tool())}}) as host:
        host.listen(told.append)
        host.call("depot__find", {"text": "x"}, actor=ADA)

    live = [(each.done, each.total, each.text) for each in told if each.kind == "progress"]
    assert live == [(2, None, "")]


def test_a_server_that_refuses_to_begin_is_not_available(tmp_path: Path) -> None:
    """The error's number is told, not its text."""
    code = 'def initialize(number, params):\n    fault(number, -32000, "go away")\n'

    (result,) = called(stub(tmp_path / "depot", code))

    assert result.failure is not None
    assert "refused to begin (error -32000)" in result.failure.message
    assert "go away" not in result.failure.message


def test_a_server_that_reads_no_more_is_lost(tmp_path: Path) -> None:
    """A pipe that is closed on its side ends that call, and the next one begins again."""
    server = answering(tmp_path, 'os.close(0)\ntext(number, "read")\ntime.sleep(30)')

    first, second, third = called(server, 3)

    assert first.content == "read"
    assert second.failure is not None
    assert second.failure.metadata["reason"] == "connection_lost"
    assert third.content == "read"


def test_a_list_ends_with_the_page_that_is_too_much(tmp_path: Path) -> None:
    """After more than 500 tools no further page is asked for."""
    code = """
def tools_list(number, params):
    tools = [{"name": f"t{number}_{n}"} for n in range(300)]
    reply(number, {"tools": tools, "nextCursor": str(number)})
"""
    server = stub(tmp_path / "depot", code)

    with mounted({"depot": server.said}) as host:
        assert len(host.tools()) == 500
    asked = [each for each in server.received if each.get("method") == "tools/list"]
    assert len(asked) == 2


def test_a_definition_that_cannot_be_written_is_left_out() -> None:
    """Without its canonical text there is nothing to pin."""
    deep: list[Any] = []
    for _ in range(200_000):
        deep = [deep]

    found = define(tool(annotations=deep))
    while deep:  # a list this deep would be taken apart by recursion
        deep = deep.pop()

    assert found == "find is left out: its definition is nested too deeply"


def test_a_failure_keeps_no_object_that_is_too_deep(tmp_path: Path) -> None:
    """The failure is told all the same."""
    server = answering(
        tmp_path,
        "deep = 1\nfor _ in range(100): deep = [deep]\n"
        'reply(number, {"isError": True, "content": [], "structuredContent": deep})',
    )

    (result,) = called(server)

    assert result.failure is not None
    assert result.failure.code == "execution_error"
    assert result.metadata.value == {"reason": "remote_error", "remote_name": "find"}


def test_a_mount_by_url_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is missing the sentence names it."""
    monkeypatch.delitem(sys.modules, "toolseam_plugins.mcp._client_http", raising=False)
    monkeypatch.setitem(sys.modules, "httpcore2", None)

    with mounted({"depot": {"url": "http://127.0.0.1:9/mcp"}}) as host:
        ((_, mark, text),) = host.health()

    assert mark == "fault"
    assert "pip install 'toolseam[mcp]'" in text


@pytest.mark.parametrize(
    ("answer", "remote"),
    [
        (
            'reply(number, {"isError": True, "content": [], "structuredContent": "x" * 60_000})',
            None,
        ),
        ('fault(number, -32603, "no", {"why": "x" * 60_000})', {"code": -32603, "message": "no"}),
        ('fault(number, 10**400, "no")', None),
        (
            'fault(number, -32603, "no", {"why": 1})',
            {"code": -32603, "message": "no", "data": {"why": 1}},
        ),
    ],
)
def test_a_failure_keeps_what_it_can_of_the_remote_object(
    tmp_path: Path, answer: str, remote: dict[str, Any] | None
) -> None:
    """The reason and the remote name stay, whatever the object of the server is."""
    (result,) = called(answering(tmp_path, answer))

    kept = {} if remote is None else {"remote": remote}
    assert result.metadata.value == {"reason": "remote_error", "remote_name": "find", **kept}


def test_a_stream_in_small_pieces_is_read_once() -> None:
    """A server that sends byte by byte costs no more than what it sends."""

    async def stream() -> AsyncIterator[bytes]:
        for byte in b"data: " + b"x" * 200_000 + b"\r\n\r\n":
            yield bytes([byte])

    async def events() -> list[bytes]:
        return [event async for event in Events().read(stream())]

    began = time.process_time()
    (event,) = asyncio.run(events())

    assert event == b"x" * 200_000
    assert time.process_time() - began < 5


def test_what_left_a_server_holds_no_pipe_of_ours(tmp_path: Path) -> None:
    """A process that it started in a session of its own costs no descriptor a connection."""
    apart = 'subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, start_new_session=True)'
    server = answering(
        tmp_path,
        f"child = {apart}\ntext(number, str(child.pid))\nos._exit(0)",
        head="import subprocess",
    )
    left: list[int] = []

    def descriptors(times: int) -> int:
        for _ in range(times):
            result = host.call("depot__find", {"text": "x"}, actor=ADA)
            left.extend([int(result.content)] if result.success else [])
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    try:
        said = {**server.said, "timeout_s": 5.0, "tools": declared(tool())}
        with mounted({"depot": said}) as host:
            before, until = descriptors(2), time.monotonic() + 10
            after = descriptors(6)
            while after > before and time.monotonic() < until:
                time.sleep(0.05)
                after = descriptors(0)
    finally:
        for pid in left:
            os.kill(pid, signal.SIGKILL)

    assert len(left) > 3
    assert after <= before


@pytest.mark.parametrize("size", [1, 7, 65_536])
def test_lines_are_cut_as_they_come(size: int) -> None:
    """Whatever the chunks are, each line comes once, and one that is too long as None."""
    whole = b"first\n\n" + b"x" * (MESSAGE_BYTES + 1) + b"\nlast\nrest"
    if size == 1:
        whole = b"first\n\nlast\nrest"
    lines = Lines()

    found = [
        line for at in range(0, len(whole), size) for line in lines.feed(whole[at : at + size])
    ]

    assert found == [b"first", b"", *([] if size == 1 else [None]), b"last"]


def test_an_account_without_a_home_has_mounts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child starts at the root then."""
    monkeypatch.setenv("HOME", "/nonexistent")
    server = answering(tmp_path, "text(number, os.getcwd())")

    (result,) = called(server)

    assert result.content == "/"
