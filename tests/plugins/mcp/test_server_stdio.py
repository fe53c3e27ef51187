"""The MCP server over standard streams, in raw bytes."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from support import mcp_server
from support.mcp_server import CANARY, HELLO, READY, Served, call, given_up, request, text_of

DEEP = b'{"a":' * 90 + b"1" + b"}" * 90


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """Return a client of a server that lives as long as the module."""
    with Served() as served:
        yield served.greet()


def arguments(text: bytes, tool: bytes = b"echo") -> bytes:
    """Return a call with arguments as they are written here."""
    head = b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"'
    return head + tool + b'","arguments":' + text + b"}}"


def code_of(answer: dict[str, Any]) -> object:
    """Return the code of a failure."""
    return answer["result"]["_meta"]["toolseam/code"]


def test_a_success_is_one_text_and_nothing_else(server: Served) -> None:
    """Neither artifacts nor metadata nor undeclared data reach a client, in `_meta` either."""
    server.send(call(1, "full"))

    line = server.line()

    assert json.loads(line)["result"] == {
        "content": [{"type": "text", "text": "plain"}],
        "isError": False,
    }
    assert CANARY.encode() not in line


def test_a_failure_says_its_code(server: Served) -> None:
    """`isError` and the code come from the typed outcome (P06)."""
    answer = server.ask(call(1, "nothing_like_it"))

    assert answer["result"]["isError"] is True
    assert answer["result"]["_meta"] == {
        "toolseam/code": "not_found",
        "toolseam/retriable": False,
    }


def test_blank_content_is_told_as_none(server: Served) -> None:
    """A blank answer is a success that says so (P04)."""
    answer = server.ask(call(1, "blank"))

    assert text_of(answer) == "(no output)"
    assert answer["result"]["isError"] is False


def test_a_tool_without_arguments_takes_every_way_to_give_none(server: Served) -> None:
    """No arguments, null and an empty object are the same (P10)."""
    ways: list[dict[str, object]] = [{}, {"arguments": None}, {"arguments": {}}]
    for params in ways:
        answer = server.ask(request(1, "tools/call", name="blank", **params))
        assert text_of(answer) == "(no output)"


@pytest.mark.parametrize(
    "text",
    [
        b'{"text": "a\\ud800b"}',
        b"[" * 2_000 + b"]" * 2_000,
        b'{"text": ' + b'{"a": ' * 2_000 + b"1" + b"}" * 2_001,
        b'{"text": "a", "count": NaN}',
        b'{"text": "a", "text": "b"}',
        b'{"text": "a\xff"}',
        b'{"count": 99999999999999999999999}',
        b'{"nothing": 1}',
        b'"{"',
        b"7",
    ],
    ids=lambda text: text[:20].decode("ascii", "replace"),
)
def test_arguments_that_nobody_can_take_are_an_answer(server: Served, text: bytes) -> None:
    """The seam refuses hostile arguments, and the client is told instead of left waiting (P02)."""
    answer = server.ask(arguments(text))

    assert answer["id"] == "x"
    assert code_of(answer) == "invalid_arguments"
    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (b"garbage", None, -32700),
        (b"\xff\xfe\x00", None, -32700),
        (b"[]", None, -32700),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list"', 5, -32700),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\\ud800"}}', 5, -32700),
        (b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":[1]}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5}', 5, -32600),
        (b'{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}', 6, -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":"a","params":' + DEEP + b"}", 5, -32600),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    server: Served, line: bytes, id_: object, code: int
) -> None:
    """What cannot be read as a request gets an error, with its id where that can be read."""
    answer = server.ask(line)

    assert answer["id"] == id_
    assert answer["error"]["code"] == code
    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


def test_a_method_that_there_is_not_is_answered(server: Served) -> None:
    """An unknown method is an error with the request's id; each major has a code of its own."""
    answer = server.ask(request(5, "no/such"))

    assert answer["id"] == 5
    assert answer["error"]["code"] in {-32601, -32602}


def test_an_answer_that_nobody_asked_for_is_passed_over(server: Served) -> None:
    """The server asks its client nothing, so that no answer is one to it."""
    bodies: list[dict[str, object]] = [{"result": {}}, {"result": 7}, {"error": {"code": 1}}]
    for body in bodies:
        server.send({"jsonrpc": "2.0", "id": 1, **body})

    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


def test_a_line_without_end_is_answered_and_passed_over(server: Served) -> None:
    """More than 1,100,000 bytes are read to their end, kept nowhere, and refused."""
    answer = server.ask(arguments(b'{"text": "' + b"a" * 3_000_000 + b'"}'))

    assert answer["error"]["code"] == -32600
    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


@pytest.mark.parametrize("tool", ["raises", "raises_async"])
@pytest.mark.parametrize(
    ("kind", "code"),
    [("exit", "execution_error"), ("interrupt", "cancelled"), ("value", "execution_error")],
)
def test_whatever_a_tool_raises_is_an_answer(
    server: Served, tool: str, kind: str, code: str
) -> None:
    """`SystemExit` and `KeyboardInterrupt` end no server, and no text of theirs goes out."""
    server.send(call(1, tool, kind=kind))
    line = server.line()

    assert code_of(json.loads(line)) == code
    assert CANARY.encode() not in line
    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


def test_half_a_surrogate_pair_in_an_answer_is_replaced(server: Served) -> None:
    """Text that no encoder takes is mended before it gets here (P02)."""
    assert text_of(server.ask(call(1, "surrogate"))) == "a\ufffdb"


def test_five_megabytes_are_cut_to_the_bound(server: Served) -> None:
    """An answer has at most 50,000 bytes, and says what it was."""
    text = text_of(server.ask(call(1, "large")))

    assert len(text.encode()) <= 50_000
    assert text.endswith("[truncated: 2500000 characters in all]")


def test_nothing_dirty_or_unbounded_goes_out(server: Served) -> None:
    """A message of 1 MB of control characters is cleaned and cut, progress as well (S5)."""
    server.send(call(1, "dirty", meta={"progressToken": "p"}))
    progress, line = server.line(), server.line()

    for raw in (progress, line):
        text = raw.decode() + json.dumps(json.loads(raw), ensure_ascii=False)
        assert not [c for c in text if c in "\x1b\x07\u202e\U000e0041" or "\ud800" <= c <= "\udfff"]
    assert len(text_of(json.loads(line)).encode()) <= 2_064


@pytest.fixture(scope="module")
def ended() -> tuple[int, dict[object, dict[str, Any]], bytes]:
    """Return exit code, answers by id and standard error of a server whose client only wrote."""
    with Served() as served:
        served.send(HELLO, READY, call("slow", "sleeps", seconds=0.2), call("prints", "prints"))
        code, out, err = served.end()
    answers = [json.loads(line) for line in out.splitlines()]
    assert len(answers) == len({each["id"] for each in answers})
    return code, {each["id"]: each for each in answers}, err


def test_a_tool_that_prints_does_not_speak_for_the_server(
    ended: tuple[int, dict[object, dict[str, Any]], bytes],
) -> None:
    """Forged answers on the streams, from the tool and a child of it, go to standard error (S7)."""
    _, answers, err = ended

    assert text_of(answers["prints"]) == "read b''"
    assert err.count(b'"result":{"content":[]') == 3


def test_progress_comes_before_the_answer(server: Served) -> None:
    """A client that gave a token is told each note, in order, and then the answer."""
    server.send(call(1, "steps", meta={"progressToken": "mine"}, count=3))
    notes = [message["params"] for message in server.answers(3)]
    answer = server.answer()

    assert [(n["progressToken"], n["progress"], n["total"], n["message"]) for n in notes] == [
        ("mine", done, 3, f"at {done}") for done in (1, 2, 3)
    ]
    assert text_of(answer) == "done"


def test_what_a_tool_says_goes_to_the_log_of_a_client_without_a_token(server: Served) -> None:
    """Without a progress token the same notes are log messages of the tool."""
    server.send(call(1, "steps", count=2))
    notes = [message["params"] for message in server.answers(2)]

    assert notes == [{"level": "info", "logger": "steps", "data": f"at {n}"} for n in (1, 2)]
    assert text_of(server.answer()) == "done"


def test_a_client_can_turn_the_log_down(server: Served) -> None:
    """Above `info` nothing that a tool says while it works is sent."""
    assert server.ask(request(1, "logging/setLevel", level="warning"))["result"] == {}
    told = server.ask(call(2, "steps"))
    server.ask(request(3, "logging/setLevel", level="info"))

    assert text_of(told) == "done"


def test_calls_run_side_by_side(server: Served) -> None:
    """A slow tool in a thread or in the loop holds up nobody."""
    server.send(call("slow", "sleeps", seconds=3), call("loop", "waits", seconds=3))
    server.send(call("fast", "echo", text="now"))

    first, *others = [answer["id"] for answer in server.answers(3)]
    assert (first, set(others)) == ("fast", {"loop", "slow"})


def test_a_cancelled_call_is_stopped_and_not_answered(server: Served) -> None:
    """The protocol wants no answer to what its client gave up, and the next call is served."""
    server.send(call(1, "waits", seconds=30), given_up(1))

    assert server.ask(call(2, "echo", text="next"))["id"] == 2


def test_what_is_no_id_cancels_nothing(server: Served) -> None:
    """`true` is not the request 1, whose client waits on."""
    for odd in (True, 1.0, None, [1]):
        server.send(call(1, "waits", seconds=0.2), given_up(odd))

        assert server.answer()["id"] == 1


def test_streams_that_do_not_block_lose_nothing() -> None:
    """A client may leave its ends so, and read nothing for a while."""
    begin = "import os, sys; [os.set_blocking(fd, False) for fd in (0, 1)]; "
    begin += "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    program = (sys.executable, "-c", begin, mcp_server.__file__)
    with Served(program=program) as served:
        served.greet()
        served.send(*(call(id_, "echo", text="a" * 20_000) for id_ in range(1, 31)))
        time.sleep(1)
        ids = {answer["id"] for answer in served.answers(30)}

    assert ids == set(range(1, 31))


def test_cancelling_as_a_call_ends_never_gives_two_answers(server: Served) -> None:
    """In 200 crossings each call has at most one answer, and the server goes on."""
    for id_ in range(1_000, 1_200):
        server.send(call(id_, "sleeps" if id_ % 2 else "waits"), given_up(id_))
    server.send(call("last", "waits", seconds=0.3))

    seen = [server.answer()["id"]]
    while seen[-1] != "last":
        seen.append(server.answer()["id"])

    assert len(seen) == len(set(seen))
    assert text_of(server.ask(call(2, "echo", text="alive"))) == "alive"


def test_a_contract_error_is_told_once_for_all(server: Served) -> None:
    """A tool that broke the contract is withdrawn from the session and from its list."""
    first, second = server.ask(call(1, "leaks")), server.ask(call(2, "leaks"))

    assert code_of(first) == code_of(second) == "contract_error"
    assert CANARY not in text_of(first) + text_of(second)
    listed = server.ask(request(3, "tools/list"))["result"]["tools"]
    assert "leaks" not in [tool["name"] for tool in listed]


def test_a_write_says_where_it_can_be_approved(server: Served) -> None:
    """Nobody approves over MCP; the text names the command with which a person can."""
    answer = server.ask(call(1, "writes"))

    assert code_of(answer) == "approval_denied"
    assert "`toolseam run writes`" in text_of(answer)


def test_the_list_tells_of_each_tool_what_its_effect_is(server: Served) -> None:
    """Hints come from the declared effect; a schema of no arguments is an empty closed object."""
    tools = {t["name"]: t for t in server.ask(request(1, "tools/list"))["result"]["tools"]}

    assert tools["blank"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert tools["writes"]["annotations"]["readOnlyHint"] is False
    assert tools["blank"]["inputSchema"] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert "outputSchema" not in tools["typed"]


def test_declared_data_goes_out_only_where_the_operator_said_so() -> None:
    """`structuredContent` needs a promised schema and the operator's word, and no error has it."""
    with Served("typed", "full") as served:
        served.greet()
        tools = {t["name"]: t for t in served.ask(request(1, "tools/list"))["result"]["tools"]}
        told = served.ask(call(2, "typed", word="sk-" + "a1B2" * 12))["result"]
        failed = served.ask(call(3, "typed", number=-1))["result"]
        undeclared = served.ask(call(4, "full"))["result"]

    assert tools["typed"]["outputSchema"]["required"] == ["word"]
    assert "outputSchema" not in tools["full"]
    assert told["structuredContent"]["number"] == 7
    assert "a1B2" not in json.dumps(told)
    assert not {"structuredContent", "structured_content"} & (failed.keys() | undeclared.keys())
    assert CANARY not in json.dumps([told, failed, undeclared])


def test_what_was_asked_before_the_end_is_answered(
    ended: tuple[int, dict[object, dict[str, Any]], bytes],
) -> None:
    """A client may write its questions, close its side, and read."""
    code, answers, _ = ended

    assert code == 0
    assert answers.keys() == {0, "slow", "prints"}


def test_a_signal_ends_the_server_at_once() -> None:
    """SIGTERM ends it with 0, whatever is under way."""
    with Served() as served:
        served.greet().send(call(1, "sleeps", seconds=30))
        time.sleep(0.2)
        began = time.monotonic()
        served.signal(signal.SIGTERM)
        code, _, _ = served.end()

    assert code == 0
    assert time.monotonic() - began < 25


def test_a_client_that_does_not_read_holds_up_nobody_but_itself(server: Served) -> None:
    """Ten megabytes of answers that nobody reads leave the server waiting, then going on."""
    server.send(*(call(i, "echo", text="a" * 100, count=500) for i in range(200)))

    assert {answer["id"] for answer in server.answers(200)} == set(range(200))
