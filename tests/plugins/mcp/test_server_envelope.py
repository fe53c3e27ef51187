"""What is read of a client's message before the SDK sees it."""

import json
import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_plugins.mcp._envelope import Message, Unreadable, read

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
HEAD = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":'
MEMBERS = st.dictionaries(TEXT, LEAVES, max_size=3)
IDS = st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    id_=IDS, name=TEXT, arguments=VALUES, meta=st.dictionaries(TEXT, LEAVES, max_size=3), wide=...
)
def test_a_call_is_taken_apart_without_loss(
    id_: int | str, name: str, arguments: object, meta: dict[str, object], wide: bool
) -> None:
    """The SDK gets everything but the arguments, and these are the client's own bytes."""
    params = {"name": name, "arguments": arguments, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
    raw = json.dumps(body, ensure_ascii=wide, indent=2 if wide else None).encode()

    found = read(raw)

    assert isinstance(found, Message)
    assert found.arguments is not None
    assert found.arguments in raw
    assert orjson.loads(found.arguments) == arguments
    assert found.body == {**body, "params": {**params, "arguments": {}}}
    assert orjson.loads(found.json()) == found.body


@given(method=TEXT, params=st.dictionaries(TEXT, VALUES, max_size=4))
def test_any_other_message_is_what_it_was(method: str, params: dict[str, object]) -> None:
    """Arguments of what is no call are nobody's but the SDK's."""
    body = {"jsonrpc": "2.0", "method": method, "params": params}

    found = read(json.dumps(body).encode())

    assert found == Message(body)
    assert not found.is_request


@given(raw=st.binary(max_size=60) | st.text('{}[]":,\\aé\ud800 0', max_size=60).map(str))
def test_nothing_is_too_broken_to_be_read(raw: bytes | str) -> None:
    """Whatever comes in is a message or an answer, never an exception."""
    found = read(raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass"))

    assert isinstance(found, Message | Unreadable)
    if isinstance(found, Unreadable):
        assert orjson.loads(found.answer())["error"]["code"] == found.code


@given(cut=st.integers(0, 120), extra=st.binary(max_size=3))
def test_a_message_that_was_cut_or_filled_is_never_another(cut: int, extra: bytes) -> None:
    """A broken message that still has its arguments hands them on as they are, to be refused."""
    whole = HEAD + b'{"b":[1]}}}'
    raw = whole[:cut] + extra + whole[cut:]

    found = read(raw)

    if isinstance(found, Message) and found.arguments is not None:
        assert found.arguments in raw
        assert found.body["params"]["arguments"] == {}


@pytest.mark.parametrize(
    "members",
    [
        b'"id":1',
        b'"id":1,"method":7',
        b'"id":1,"method":"a","params":[]',
        b'"id":true,"method":"a"',
        b'"id":"' + b"a" * 257 + b'","method":"a"',
        b'"method":"a","method":"b"',
        b'"method":"a","params":{"b":1,"b":2}',
        b'"method":"a","params":{"b":' + b"[" * 90 + b"]" * 90 + b"}",
    ],
)
def test_an_object_that_is_no_message_is_an_invalid_request(members: bytes) -> None:
    """JSON that the protocol does not know is told apart from what is no JSON."""
    found = read(b'{"jsonrpc":"2.0",' + members + b"}")

    assert isinstance(found, Unreadable)
    assert found.code == -32600


def test_a_message_names_its_version() -> None:
    """Nothing is taken for JSON-RPC 2.0 that does not say so."""
    found = read(b'{"id":1,"method":"a"}')

    assert isinstance(found, Unreadable)
    assert (found.code, found.id) == (-32600, 1)


def test_hostile_messages_cost_no_more_than_their_bytes() -> None:
    """A hundred kilobytes of brackets, quotes or keys are read within a second."""
    units = (b"[", b"[1,2],", b'"', b'{"a":', b"\\", b'"a\\"', b"\xff", b"]}")
    for unit in (*units, b'\\"', b'"a":[,', b'"a":{"b":,', b'"a":x,', b'"a":}'):
        filling = unit * (100_000 // len(unit))
        for raw in (HEAD + filling, HEAD + b'{"x":"' + filling, b"{" + filling + b"}}", filling):
            began = time.process_time()
            read(raw)
            assert time.process_time() - began < 1


def test_many_faults_cost_no_more_than_their_bytes() -> None:
    """Half a megabyte of texts with a fault in each is read within a second."""
    for unit in (b'"a":"\\x",', b'"a":"\xff\\x",'):
        began = time.process_time()
        read(b"{" + unit * (500_000 // len(unit)))
        assert time.process_time() - began < 1


def test_what_follows_a_broken_value_is_read() -> None:
    """The id behind a value that no parser takes is that of the error."""
    for broken in (b"[1,]", b'"\\x"', b"nope", b"[" * 3_000 + b"]" * 3_000):
        found = read(b'{"jsonrpc":"2.0","method":' + broken + b',"id":5}')

        assert isinstance(found, Unreadable)
        assert found.id == 5
