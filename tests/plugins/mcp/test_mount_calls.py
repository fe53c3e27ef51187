import asyncio
import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from support.mcp_stub import Stub, declared, mounted, stub, tool
from toolseam import Actor, Host, ToolResult
from toolseam_plugins.mcp import mounts

ADA = Actor("ada", {"admin"})


def depot(tmp_path: Path, code: str = "", **more: Any) -> tuple[Stub, dict[str, Any]]:
    """Return a server with one tool, whose calls are answered by `code`, and its declaration."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    head = f"def tools_call(number, name, arguments, params):\n{body}\n" if code else ""
    server = stub(tmp_path / "depot", head)
    return server, {"depot": {**server.said, "tools": declared(tool(), **more)}}


def call(said: dict[str, Any], text: str = "lamp", **more: Any) -> ToolResult:
    """Call the one tool of a host that is made for it."""
    with mounted(said) as host:
        return host.call("depot__find", {"text": text}, actor=ADA, **more)


def test_a_declared_tool_is_called_at_its_server(tmp_path: Path) -> None:
    """The call reaches the server under its own name, and its text is the content."""
    server, said = depot(tmp_path)

    result = call(said)

    assert result.content == 'find: {"text": "lamp"}'
    assert [each["name"] for each in server.calls()] == ["find"]


def test_the_server_is_told_of_no_capability(tmp_path: Path) -> None:
    """It is offered neither sampling nor roots nor elicitation."""
    server, said = depot(tmp_path)

    call(said)

    hello = next(each for each in server.received if each["method"] == "initialize")
    assert hello["params"]["capabilities"] == {}
    assert hello["params"]["clientInfo"]["name"] == "toolseam"


@pytest.mark.parametrize(
    ("answer", "content", "data"),
    [
        ({"content": [], "structuredContent": {"qty": 4}}, '{"qty": 4}', {"qty": 4}),
        (
            {"content": [{"type": "text", "text": "4 lamps"}], "structuredContent": {"qty": 4}},
            "4 lamps",
            {"qty": 4},
        ),
        (
            {
                "content": [{"type": "audio", "data": "QUJD", "mimeType": "audio/wav"}],
                "structuredContent": {"qty": 4},
            },
            '[audio left out: audio/wav, 3 bytes]\n{"qty": 4}',
            {"qty": 4},
        ),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            "a\nb",
            None,
        ),
        ({"content": []}, "(no output)", None),
        ({"structuredContent": {"qty": 4}}, '{"qty": 4}', {"qty": 4}),
        (
            {"content": [{"type": "resource_link", "name": "n", "uri": "http://x/\x1b"}]},
            "[resource, not fetched: n <http://x/␛>]",
            None,
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "words"}}]},
            "[resource: <a:b>]\nwords",
            None,
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD"}}]},
            "[resource: <a:b> ?, left out]",
            None,
        ),
        ({"content": [{"type": "hologram"}]}, "[a block of type hologram left out]", None),
        ({"content": [{"type": "text", "text": "caf\udce9.txt"}]}, "caf\ufffd.txt", None),
    ],
)
def test_what_a_server_answers_is_one_text(
    tmp_path: Path, answer: dict[str, Any], content: str, data: Any
) -> None:
    """P32, P02: text is joined, all else named; structured content is data, and text if alone."""
    _, said = depot(tmp_path, f"reply(number, {answer!r})")

    with mounted(said) as host:
        text, step = host.session(actor=ADA, zone="local").call_wire("depot__find", {"text": "x"})

    assert text == content
    assert step.result.success
    assert (None if step.data is None else step.data.value) == data


@pytest.mark.parametrize(
    ("answer", "message", "remote"),
    [
        (
            {
                "isError": True,
                "content": [{"type": "text", "text": "bin A7 is locked"}],
                "structuredContent": {"code": "LOCKED", "retry_after": 30},
            },
            "The server says: bin A7 is locked",
            {"code": "LOCKED", "retry_after": 30},
        ),
        (
            {"isError": True, "content": []},
            "The server says that it failed, and not why.",
            None,
        ),
    ],
)
def test_a_failure_of_the_server_is_a_failure(
    tmp_path: Path, answer: dict[str, Any], message: str, remote: Any
) -> None:
    """P06 a, b: `isError` fails the call, with its text and its object beside it."""
    _, said = depot(tmp_path, f"reply(number, {answer!r})")

    result = call(said)

    assert result.failure is not None
    assert (result.failure.code, result.failure.message) == ("execution_error", message)
    assert result.content == f"Error (execution_error): {message}"
    assert result.metadata.value.get("remote") == remote


def test_the_text_of_a_failure_is_short_and_clean(tmp_path: Path) -> None:
    """At most 200 characters, on one line, without escape sequences."""
    text = "\x1b]0;x\x07" + "no " * 5_000 + "\nend"
    _, said = depot(tmp_path, f"text(number, {text!r}, isError=True)")

    result = call(said)

    assert result.failure is not None
    assert len(result.failure.message) <= 200
    assert result.failure.message.isprintable()


@pytest.mark.parametrize(
    ("number", "code"),
    [(-32601, "not_found"), (-32602, "invalid_arguments"), (-32603, "unavailable")],
)
def test_an_error_of_the_protocol_has_a_code(tmp_path: Path, number: int, code: str) -> None:
    """Its object is kept as metadata, and its text is short and clean."""
    _, said = depot(tmp_path, f'fault(number, {number}, "no \\x1b" + "x" * 900, {{"why": 1}})')

    result = call(said)

    assert result.failure is not None
    assert result.failure.code == code
    assert len(result.failure.message) <= 200
    assert "\x1b" not in result.failure.message
    assert result.failure.metadata["reason"] == "remote_error"
    assert result.failure.metadata["remote"]["code"] == number


def test_a_tool_that_the_server_lost_is_not_found(tmp_path: Path) -> None:
    """P06 c: one number stands for bad arguments and for no such tool; the list tells which."""
    code = """
def tools_list(number, params):
    reply(number, {"tools": TOOLS if listings == 1 else []})


def tools_call(number, name, arguments, params):
    fault(number, -32602, "Unknown tool")
"""
    server = stub(tmp_path / "depot", code)

    result = call({"depot": {**server.said, "tools": declared(tool())}})

    assert result.failure is not None
    assert result.failure.code == "not_found"


LIES = [
    'reply(number, "text")',
    'reply(number, {"content": "text"})',
    'reply(number, {"content": ["text"]})',
    'reply(number, {"content": [{"type": "text", "text": 7}]})',
    'reply(number, {"content": [], "isError": "no"})',
    'reply(number, {"content": [], "isError": 1})',
    'send({"jsonrpc": "2.0", "id": number})',
    'send({"jsonrpc": "2.0", "id": number, "error": "no"})',
    'send({"jsonrpc": "2.0", "id": number, "error": {"code": "x", "message": 1}})',
    'sys.stdout.write(\'{"id": %d, "result": {"a": NaN}}\\n\' % number); sys.stdout.flush()',
    'sys.stdout.write(\'{"id": %d, "result": {"content\\n\' % number); sys.stdout.flush()',
    "sys.stdout.write('[' * 5000 + '\\n'); sys.stdout.flush()",
    "x = 1\nfor _ in range(200): x = [x]\nreply(number, {'content': [], 'structuredContent': x})",
]


@pytest.mark.parametrize("lie", LIES)
def test_an_answer_of_another_shape_is_typed(tmp_path: Path, lie: str) -> None:
    """Whatever a server makes of an answer is `unavailable`, and the tool stays."""
    _, said = depot(tmp_path, lie)

    with mounted(said) as host:
        results = [host.call("depot__find", {"text": "x"}, actor=ADA) for _ in range(2)]
        violations = host.violations

    codes = [(r.failure.code, r.failure.metadata["reason"]) for r in results if r.failure]
    assert codes == [("unavailable", "protocol")] * 2
    assert violations == ()


@pytest.mark.parametrize(
    "lie",
    [
        "reply(number + 1, {'content': []})",
        "reply(str(number), {'content': []})",
        "reply(True, {'content': []})",
        "print('starting up', flush=True)",
        "send({'jsonrpc': '2.0', 'id': None, 'result': {}})",
    ],
)
def test_an_answer_to_nobody_is_no_answer(tmp_path: Path, lie: str) -> None:
    """Another number, or a line that is no message, answers nothing; the deadline does."""
    _, said = depot(tmp_path, lie)

    result = call(said, timeout=0.3)

    assert result.failure is not None
    assert result.failure.code == "timeout"


def test_noise_before_the_answer_does_no_harm(tmp_path: Path) -> None:
    """Lines of a log on standard output are passed over."""
    _, said = depot(tmp_path, "print('[info] hm', flush=True)\ntext(number, 'fine')")

    assert call(said).content == "fine"


def test_an_answer_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """3 MB end the call, not the server: the next call is answered."""
    code = 'text(number, "x" * 3_000_000 if arguments["text"] == "large" else "small")'
    server, said = depot(tmp_path, code)

    with mounted(said) as host:
        large = host.call("depot__find", {"text": "large"}, actor=ADA)
        small = host.call("depot__find", {"text": "small"}, actor=ADA)

    assert large.failure is not None
    assert large.failure.metadata["reason"] == "too_large"
    assert small.content == "small"
    assert sum(each.get("method") == "initialize" for each in server.received) == 1


@pytest.mark.parametrize(
    ("effect", "code"), [("read_only", "unavailable"), ("unknown", "execution_error")]
)
def test_a_closed_pipe_is_told_by_what_may_have_happened(
    tmp_path: Path, effect: str, code: str
) -> None:
    """P06 d: a read is `unavailable`; a write that was sent may have acted: effect `unknown`."""
    server, said = depot(tmp_path, "sys.exit(1)", effect=effect)

    with mounted(said) as host:
        approval = host.approve(host.preview("depot__find", {"text": "x"}, actor=ADA), actor=ADA)
        result = host.call("depot__find", {"text": "x"}, actor=ADA, approval=approval)
        step = host.steps[-1]

    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == (code, "connection_lost")
    assert step.effect == ("none" if effect == "read_only" else "unknown")
    assert len(server.calls()) == 1


def test_an_enabled_write_asks_for_approval(tmp_path: Path) -> None:
    """The operator's `enabled` is his word for a write too; without approval nothing is sent."""
    server, said = depot(tmp_path, effect="idempotent_write")

    result = call(said)

    assert result.failure is not None
    assert result.failure.code == "approval_denied"
    assert server.calls() == []


WAITING = """
if arguments["text"] == "slow":
    for n in range(3):
        token = params["_meta"]["progressToken"]
        told = {"progressToken": token, "progress": n, "total": 3, "message": "step\\x1b"}
        send({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})
else:
    text(number, "quick")
"""


def test_a_call_that_is_given_up_is_said_to_the_server(tmp_path: Path) -> None:
    """A deadline ends the call, the server hears `notifications/cancelled`, and others go on."""
    server, said = depot(tmp_path, WAITING)

    with mounted(said) as host:
        slow = host.call("depot__find", {"text": "slow"}, actor=ADA, timeout=3)
        quick = host.call("depot__find", {"text": "quick"}, actor=ADA)
        told: list[Any] = []
        until = time.monotonic() + 30
        while not told and time.monotonic() < until:
            told = [m["params"] for m in server.received if m["method"].endswith("/cancelled")]
            time.sleep(0.01)

    numbers = [m["id"] for m in server.received if m.get("method") == "tools/call"]
    assert slow.failure is not None
    assert slow.failure.code == "timeout"
    assert quick.content == "quick"
    assert [each["requestId"] for each in told] == numbers[:1]


def test_a_cancelled_task_is_cancelled_there_too(tmp_path: Path) -> None:
    """Who cancels `acall` cancels at the server."""
    server, said = depot(tmp_path, WAITING)

    async def main(host: Host) -> None:
        task = asyncio.ensure_future(host.acall("depot__find", {"text": "slow"}, actor=ADA))
        while not server.calls():
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with mounted(said) as host:
        asyncio.run(asyncio.wait_for(main(host), 60))

    assert any(m.get("method") == "notifications/cancelled" for m in server.received)


def test_progress_is_shown_as_it_comes(tmp_path: Path) -> None:
    """What the server reports is live progress of the call, cleaned."""
    _, said = depot(
        tmp_path, WAITING.replace('else:\n    text(number, "quick")', 'text(number, "")')
    )
    told: list[Any] = []

    with mounted(said) as host:
        host.listen(told.append)
        host.call("depot__find", {"text": "slow"}, actor=ADA)

    live = [(each.done, each.total, each.text) for each in told if each.kind == "progress"]
    assert live == [(0, 3, "step␛"), (1, 3, "step␛"), (2, 3, "step␛")]


def test_calls_of_one_mount_overlap(tmp_path: Path) -> None:
    """Answers are taken by number, in whatever order they come."""
    code = """
held = globals().setdefault("HELD", [])
held.append((number, arguments["text"]))
if len(held) == 3:
    for each, words in reversed(held):
        text(each, words)
"""
    _, said = depot(tmp_path, code)

    async def main(host: Host) -> list[str]:
        session = host.session(actor=ADA, zone="local")
        calls = [session.acall("depot__find", {"text": word}) for word in "abc"]
        return [result.content for result in await asyncio.gather(*calls)]

    with mounted(said) as host:
        assert asyncio.run(asyncio.wait_for(main(host), 60)) == ["a", "b", "c"]


def test_a_child_gets_what_is_named_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H34: PATH, HOME, LANG, and the variables of the mount under the names that it gives them."""
    monkeypatch.setenv("DEPOT_KEY", "tulip")
    monkeypatch.setenv("OTHER_SECRET", "fern")
    monkeypatch.setenv("LANG", "C.UTF-8")
    _, said = depot(tmp_path, "text(number, json.dumps([dict(os.environ), os.getcwd()]))")
    said["depot"]["env"] = {"API_KEY": "DEPOT_KEY"}

    result = call(said)

    environ, folder = json.loads(result.content)
    environ.pop("LC_CTYPE", None)  # Python itself sets it in a child without a locale
    assert environ == {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "LANG": "C.UTF-8",
        "API_KEY": "tulip",
    }
    assert folder == os.path.realpath(os.environ["HOME"])


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    """Nothing is started without it."""
    server, said = depot(tmp_path)
    said["depot"]["env"] = ["NO_SUCH_VARIABLE"]

    with mounted(said) as host:
        told = [text for _, _, text in host.health()]

    assert any("NO_SUCH_VARIABLE is not set" in text for text in told)
    assert server.received == []


def test_standard_error_is_in_the_log_escaped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No escape sequence and no secret of a server gets into a log, nor more than a bound."""
    code = """
sys.stderr.write("\\x1b[31mred AKIAIOSFODNN7EXAMPLE\\n" + "y" * 500_000 + "\\n")
sys.stderr.flush()
text(number, "fine")
"""
    _, said = depot(tmp_path, code)

    with caplog.at_level(logging.INFO, "toolseam"):
        result = call(said)

    logged = "".join(record.getMessage() for record in caplog.records)
    assert result.content == "fine"
    assert "\x1b" not in logged
    assert "AKIAIOSFODNN7EXAMPLE" not in logged
    assert "\\x1b[31mred" in logged
    assert len(logged) < 100_000


def test_closing_the_host_ends_the_server(tmp_path: Path) -> None:
    """A child that ignores its closed pipe and SIGTERM is killed, with what it started."""
    code = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
import subprocess
child = subprocess.Popen(["sleep", "60"])
text(number, f"{os.getpid()} {child.pid}")
time.sleep(60)
"""
    _, said = depot(tmp_path, code)

    began = time.monotonic()
    pids = [int(word) for word in call(said).content.split()]

    assert time.monotonic() - began < 40
    for pid in pids:
        assert (
            not Path(f"/proc/{pid}/cmdline").exists()
            or not Path(f"/proc/{pid}/cmdline").read_bytes()
        )


def test_a_call_after_the_end_is_refused(tmp_path: Path) -> None:
    """A host that was closed sends nothing, and waits for nothing."""
    server, said = depot(tmp_path)
    host = mounted(said)
    host.close()

    result = host.call("depot__find", {"text": "x"}, actor=ADA)

    assert result.failure is not None
    assert result.failure.code in {"unavailable", "cancelled"}
    assert server.calls() == []
    assert not any(t.name == "toolseam-mounts" and t.is_alive() for t in threading.enumerate())


def test_a_mount_that_is_slow_to_begin_holds_nobody_up(tmp_path: Path) -> None:
    """Mounts are connected to at once; one that does not answer in its time is left out."""
    slow = stub(tmp_path / "slow", "def initialize(number, params):\n    time.sleep(30)\n")
    server, said = depot(tmp_path)
    late = {**slow.said, "timeout_s": 0.5, "tools": declared(tool())}

    began = time.monotonic()
    with mounted({**said, "late": late}) as host:
        took = time.monotonic() - began
        fine = host.call("depot__find", {"text": "x"}, actor=ADA)
        missing = host.call("late__find", {"text": "x"}, actor=ADA)

    assert took < 25
    assert fine.success
    assert missing.failure is not None
    assert missing.failure.metadata["reason"] == "no_answer"
    assert server.calls()


def test_naming_a_mount_loads_what_mounts_it(tmp_path: Path) -> None:
    """The operator's file is enough; `mounts=False` connects to none."""
    server, said = depot(tmp_path)

    with Host.load(tmp_path, settings={"mounts": said}) as host:
        result = host.call("depot__find", {"text": "x"}, actor=ADA)
    with Host.load(tmp_path, settings={"mounts": said}, mounts=False) as host:
        absent = host.call("depot__find", {"text": "x"}, actor=ADA)

    assert result.success
    assert absent.failure is not None
    assert absent.failure.code == "not_found"
    assert len(server.calls()) == 1


def test_no_mount_is_no_thread() -> None:
    """The plugin gives nothing where nothing is mounted."""
    with Host(plugins=[mounts]) as host:
        assert host.tools() == ()
        assert host.health() == ()
        assert not any(t.name == "toolseam-mounts" for t in threading.enumerate())
