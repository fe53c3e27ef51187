"""Bodies apart from their host: bytes there, bytes back (contract §5)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tracemalloc
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ToolArtifact, ToolResult, encode_result
from toolseam._body import Lost, NotStarted, Raised, asked, outcome_of, request_of, run_body
from toolseam._errors import SettingsError
from toolseam._judgement import Broken

ENDS = (Lost, NotStarted, Raised, Broken, TimeoutError, SettingsError, asyncio.CancelledError)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
words = st.sampled_from(
    ["timeout", "cancelled", "unsettled", "refused", "raised", "broken", "unstarted", "other"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
others = st.builds(lambda word, value: b"X" + json.dumps({word: value}).encode(), words, anything)


def head(tool: str, **more: object) -> dict[str, Any]:
    """Make what a body of `support.apart` is told."""
    told: dict[str, Any] = {
        "target": f"support.apart:{tool}",
        "name": tool,
        "distribution": "host code",
        "version": None,
        "hook": "execute",
        "settings": None,
        "run_id": "r",
        "call_id": "r:1",
        "step_id": "r:1",
        "remaining": 60.0,
        "actor": ["ada", ["admin"], False],
    }
    return told | more


def body(tool: str, arguments: object = None, ask: Any = None, **more: object) -> ToolResult:
    """Run a body here and return what its answer carries."""
    text = orjson.dumps({} if arguments is None else arguments)
    return outcome_of(run_body(request_of(head(tool, **more), text), ask))


@given(st.binary(max_size=60) | others | st.builds(lambda rest: b"R" + rest, st.binary()))
def test_any_answer_is_a_result_or_one_of_the_known_ends(answer: bytes) -> None:
    """Whatever bytes come back, nothing else comes of them."""
    with contextlib.suppress(*ENDS):
        assert type(outcome_of(answer)) is ToolResult


@pytest.mark.parametrize("answer", [None, "R{}", bytearray(b"R"), 3])
def test_an_answer_that_is_no_bytes_is_no_answer(answer: object) -> None:
    """What an executor gives is judged too, and nothing is done with what it is."""
    with pytest.raises(Lost) as lost:
        outcome_of(answer)
    assert lost.value.reason == "worker_protocol"


def answer_of(**channels: str) -> bytes:
    """Make an answer with members of any kind, each as JSON text."""
    whole = {"content": '""', "failure": "null", "data": "null", "metadata": "{}"}
    whole |= {"artifacts": "[]", "output": '""', "omitted": "[]"} | channels
    return b"R{" + ",".join(f'"{key}":{text}' for key, text in whole.items()).encode() + b"}"


@pytest.mark.parametrize(
    "channels",
    [
        {"data": "[" + "[]," * 1_000_000 + "0]"},
        {"metadata": '{"a":[' + "{}," * 1_000_000 + "0]}"},
        {"omitted": "[" + '"data",' * 1_000_000 + '"data"]'},
        {"data": "[" + ("[" * 900 + "]" * 900 + ",") * 1_000 + "0]"},
    ],
    ids=["lists", "objects", "omitted", "nests"],
)
def test_an_answer_of_malice_costs_no_more_than_its_bytes(channels: dict[str, str]) -> None:
    """Megabytes of brackets are refused before they become a hundred times as much."""
    answer = answer_of(**channels)
    tracemalloc.start()
    try:
        with pytest.raises(Lost):
            outcome_of(answer)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_a_large_text_is_no_malice() -> None:
    """However many marks stand in a text, it comes back whole."""
    for text in ("[{,]}" * 200_000, 'a "b" \\ , [c]\n' * 50_000):
        result = ToolResult.text(text, data=[text[:100]] * 100)
        assert outcome_of(b"R" + encode_result(result).encode()) == result


def test_what_was_left_out_is_a_channel() -> None:
    """Of what a body says of itself only the names of channels are taken."""
    told = outcome_of(answer_of(omitted='["data","anything",["metadata"]]'))

    assert json.loads(encode_result(told))["omitted"] == ["data"]


@given(st.binary(max_size=200))
def test_any_request_has_an_answer(request: bytes) -> None:
    """A body that cannot even be read says so, and nothing is raised where it should run."""
    with pytest.raises(Raised):
        outcome_of(run_body(request))


@given(st.binary(max_size=60))
def test_what_a_body_asks_is_a_word_or_refused(message: bytes) -> None:
    """A question is a list that begins with a word; anything else loses the body."""
    with contextlib.suppress(Lost):
        word, values = asked(message)
        assert type(word) is str
        assert type(values) is list


def test_a_result_comes_back_whole() -> None:
    """Content, data, metadata and artifacts of a body are those that it returned."""
    result = body("echo", {"text": "a", "times": 3})

    table = ToolArtifact.table("said", ["text"], [["a"]])
    assert result.content == "aaa"
    assert result.metadata == {"n": 3}
    assert list(result.artifacts) == [table]
    assert set(result.data.value) == {"pid"}  # type: ignore[union-attr]


def test_what_a_body_raises_comes_back_as_what_it_is() -> None:
    """Each end of a body is told from the others, and a traceback goes to the log, masked."""
    found = {}
    for kind in ("value", "exit", "time", "cancelled", "memory", "keyboard", "contract"):
        with pytest.raises(ENDS) as raised:
            body("raises", {"kind": kind})
        found[kind] = raised.value
    told = body("raises", {"kind": "tool"})

    assert {k: e.kind for k, e in found.items() if isinstance(e, Raised)} == {
        "value": "ValueError",
        "exit": "SystemExit",
        "memory": "MemoryError",
        "keyboard": "KeyboardInterrupt",
    }
    assert isinstance(found["time"], TimeoutError)
    assert isinstance(found["cancelled"], asyncio.CancelledError)
    assert isinstance(found["contract"], Broken)
    value = found["value"]
    assert isinstance(value, Raised)
    assert "hunter2" not in value.line
    assert "ValueError" in value.line
    assert told.failure is not None
    assert (told.failure.code, told.failure.metadata) == ("not_found", {"row": 7})


def test_a_tool_that_is_not_there_was_not_started() -> None:
    """A missing module, a missing name and another version say so, and nothing has run."""
    for more, reason in (
        ({"target": "support.nowhere"}, "import_failed"),
        ({"target": "support.apart:nothing"}, "import_failed"),
        ({"name": "other"}, "import_failed"),
        ({"distribution": "pluggy", "version": "0.0.1"}, "other_version"),
        ({"distribution": "no-such-thing", "version": "1"}, "other_version"),
    ):
        with pytest.raises(NotStarted) as refused:
            body("echo", {"text": "a"}, **more)
        assert refused.value.reason == reason


def test_why_a_body_did_not_begin_is_one_of_our_words() -> None:
    """A model is told the reason, so a body that was taken over cannot choose it."""
    with pytest.raises(Lost):
        outcome_of(b"X" + json.dumps({"unstarted": ["[executors] read /srv", ""]}).encode())


def test_what_arguments_refuse_was_not_executed() -> None:
    """The text of the author's own class comes back as `invalid_arguments`."""
    result = body("where", {"number": 3}, settings='[{}, {}, "", "plugins.x"]')

    assert result.failure is not None
    assert result.failure.code == "invalid_arguments"
    assert result.failure.message == "an even number is meant"


def test_settings_are_made_from_the_same_words() -> None:
    """A body has its plugin's settings class, structured anew from the table; a bad one is told."""
    own = {"words": ["a", "b"], "deep": {"x": [1]}}
    words = json.dumps([own, {}, "", "plugins.x"])

    assert body("where", {"number": 2}, settings=words).data == [["a", "b"], {"x": [1]}]
    with pytest.raises(SettingsError):
        body("where", {"number": 2}, settings=json.dumps([{"words": 3}, {}, "", "plugins.x"]))


def test_the_context_says_who_calls_and_where_it_stands() -> None:
    """Actor, ids and what is left of the deadline are those of the call; resources are kept."""
    data: Any = body("facts", run_id="run", call_id="run:1.2", step_id="run:7").data

    assert data["actor"] == ["ada", ["admin"], False]
    assert (data["run"], data["call"], data["step"]) == ("run", "run:1.2", "run:7")
    assert 0 < data["left"] <= 60
    assert data["opened"] is True


def test_a_body_asks_its_host() -> None:
    """Progress, secrets, zones and other tools are asked for over the way back."""
    seen: list[Any] = []

    def ask(message: bytes) -> bytes:
        seen.append(json.loads(message))
        inner = encode_result(ToolResult.text("from inside"))
        return orjson.dumps({"ok": {"secret": "12345", "call": inner}.get(seen[-1][0])})

    assert body("asks", {"what": "secret"}, ask).content == "5"
    assert body("asks", {"what": "call"}, ask).content == "from inside"
    assert body("asks", {"what": "send_to"}, ask).content == "send_to"
    assert body("asks", {"what": "progress"}, ask).content == "progress"
    assert seen == [
        ["secret", "key"],
        ["call", "echo", '{"text":"inner"}'],
        ["send_to", "external_global"],
        ["progress", 1, 2, "half"],
    ]


def test_where_no_way_leads_back_a_question_is_unavailable() -> None:
    """The tool is told so with a typed error; progress is for the host alone and is dropped."""
    for what in ("secret", "call", "send_to"):
        failure = body("asks", {"what": what}).failure
        assert failure is not None
        assert (failure.code, failure.metadata) == ("unavailable", {"reason": "runs_apart"})
    assert body("asks", {"what": "progress"}).content == "progress"


def test_a_line_for_the_log_is_made_safe_here() -> None:
    """What another process calls one line with secrets masked is held to that by the host."""
    forged = json.dumps({"raised": ["E", "x\nERROR all is well postgresql://a:hunter2hunter2@d/s"]})

    with pytest.raises(Raised) as raised:
        outcome_of(b"X" + forged.encode())
    assert "\n" not in raised.value.line
    assert "hunter2" not in raised.value.line
