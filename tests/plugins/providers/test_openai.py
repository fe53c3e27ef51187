"""OpenAI's adapters against a loopback recorder: what goes out, and what comes back."""

import json
from typing import Any

import pytest

from support.asking import asked, run_of, streamed
from support.makers import MAKERS
from support.openai_wire import (
    called,
    chat,
    chat_chunks,
    response,
    response_events,
    responses,
    said,
)
from support.provider_recorder import Heard, as_json, recording
from support.tools import ADA, plugin
from toolseam import Host, ToolResult
from toolseam.providers import (
    AssistantMessage,
    Delta,
    Endpoint,
    Finish,
    ProviderError,
    ProviderFault,
    SystemMessage,
    ToolCall,
    Usage,
    UserMessage,
)
from toolseam_plugins.providers import make

KINDS = ("openai", "openai_responses")
KEY = "sk-do-not-tell-0123456789abcdef"


def results(heard: Heard) -> list[tuple[str, str]]:
    """Return id and text of each answer to a call that a request holds."""
    body = heard.body
    if "input" in body:
        items = [each for each in body["input"] if each.get("type") == "function_call_output"]
        return [(each["call_id"], each["output"]) for each in items]
    found = [each for each in body["messages"] if each["role"] == "tool"]
    return [(each["tool_call_id"], each["content"]) for each in found]


def calls_in(heard: Heard) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of each call that a request holds."""
    body = heard.body
    if "input" in body:
        items = [each for each in body["input"] if each.get("type") == "function_call"]
        return [(each["call_id"], each["name"], each["arguments"]) for each in items]
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for each in body["messages"]
        for call in each.get("tool_calls", [])
    ]


# -- a run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_by_way_of_a_tool(kind: str) -> None:
    """Question, call, the seam's text under the call's id, answer; tokens are counted."""
    answers = (
        MAKERS[kind].call((("echo", '{"text": "hi"}', "call_1"),)),
        MAKERS[kind].say("It is hi."),
    )
    with recording(*answers) as recorder:
        run = run_of(MAKERS[kind].at(recorder))

    assert (run.status, run.answer, run.usage) == ("completed", "It is hi.", Usage(14, 6))
    first, second = recorder.heard
    assert first.body["model"] == "m"
    (tool,) = first.body["tools"]
    tool = tool.get("function", tool)
    assert (tool["name"], tool["strict"]) == ("echo", True)
    assert calls_in(second) == [("call_1", "echo", '{"text": "hi"}')]
    assert results(second) == [("call_1", "said hi")]
    path = "/v1/chat/completions" if kind == "openai" else "/v1/responses"
    assert {each.path for each in recorder.heard} == {path}


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_call_is_told_by_its_text(kind: str) -> None:
    """The wire has no flag for errors, so that the renderer's text says it."""
    calls = (("echo", '{"text": "fail"}', "a"), ("echo", '{"text": "x"}', "b"))
    with recording(MAKERS[kind].call(calls), MAKERS[kind].say("Done.")) as recorder:
        run_of(MAKERS[kind].at(recorder))

    assert results(recorder.heard[1]) == [
        ("a", "Error (not_found): No such shelf."),
        ("b", "said x"),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ids", [("call_1", "call_1"), (None, None), ("", "x"), ("x", None)])
def test_ids_that_are_absent_or_repeated_are_paired_by_position(
    kind: str, ids: tuple[str | None, str | None]
) -> None:
    """Each call and its answer share an id of their own, in the model's order (P16)."""
    first, second = (
        ("echo", json.dumps({"text": text}), id_) for text, id_ in zip("xy", ids, strict=True)
    )
    answers = MAKERS[kind].call((first, second)), MAKERS[kind].say("Done.")
    with recording(*answers) as recorder:
        run = run_of(MAKERS[kind].at(recorder))

    assert run.status == "completed"
    sent = [id_ for id_, _, _ in calls_in(recorder.heard[1])]
    assert [text for _, text in results(recorder.heard[1])] == ["said x", "said y"]
    assert [id_ for id_, _ in results(recorder.heard[1])] == sent
    assert len(set(sent)) == 2
    assert not {"", "None", "null"} & set(sent)
    assert sent[0] == (ids[0] or sent[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_fills_every_key_with_null_runs(kind: str) -> None:
    """What strict mode makes a model write is what the tool takes (P11)."""
    seen: list[Any] = []

    def look(arguments: Any) -> ToolResult:
        seen.append(dict(arguments))
        return ToolResult.text("looked")

    schema = {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "limit": {"type": "integer", "default": 20},
            "since": {"type": "string", "format": "date"},
        },
        "required": ["table"],
    }
    call = ("look", '{"table": "stock", "limit": null, "since": null}', "call_1")
    bad = ("look", '{"table": null, "limit": 5, "since": null}', "call_2")
    with (
        recording(MAKERS[kind].call((call, bad)), MAKERS[kind].say("Done.")) as recorder,
        Host(tools=[plugin(look, name="look", parameters=schema)]) as host,
    ):
        host.session(actor=ADA).run(MAKERS[kind].at(recorder), "Look.")

    assert seen == [{"table": "stock", "limit": 20}]
    ok, refused = results(recorder.heard[1])
    assert ok == ("call_1", "looked")
    assert "invalid_arguments" in refused[1]
    assert "table" in refused[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", ['{"text": "hi', "", "[1]", '"x"', '{"text": NaN'])
def test_arguments_that_are_no_object_do_not_spoil_the_next_request(kind: str, broken: str) -> None:
    """Some servers read the conversation: what goes back is an object whatever the model wrote."""
    answers = MAKERS[kind].call((("echo", broken, "a"),)), MAKERS[kind].say("Done.")
    with recording(*answers) as recorder:
        run_of(MAKERS[kind].at(recorder))

    ((_, _, arguments),) = calls_in(recorder.heard[1])
    assert arguments == "{}"
    assert "invalid_arguments" in results(recorder.heard[1])[0][1]


# -- what is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_blank_text_is_sent(kind: str) -> None:
    """Blank words become a placeholder, a blank instruction nothing at all (P04)."""
    messages = (SystemMessage(" "), UserMessage("\n"), AssistantMessage(""), UserMessage("Well?"))
    with recording(MAKERS[kind].say("Yes.")) as recorder:
        asked(MAKERS[kind].at(recorder), *messages)

    body = recorder.heard[0].body
    sent = body.get("messages") or body["input"]
    assert [(each["role"], each["content"]) for each in sent] == [
        ("user", "(no text)"),
        ("assistant", "(no text)"),
        ("user", "Well?"),
    ]
    assert "tools" not in body


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_without_words_has_no_content(kind: str) -> None:
    """An assistant's turn of calls alone sends no blank text, and never the word None (P04)."""
    turn = AssistantMessage("", (ToolCall("echo", {"text": "ж"}, None),))
    with recording(MAKERS[kind].say("Yes.")) as recorder:
        asked(MAKERS[kind].at(recorder), UserMessage("?"), turn, UserMessage("!"))

    assert b"None" not in recorder.heard[0].raw
    assert b'"content":""' not in recorder.heard[0].raw.replace(b" ", b"")
    assert calls_in(recorder.heard[0])[0][1:] == ("echo", '{"text": "\\u0436"}')


def test_openai_itself_knows_the_newer_name_of_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the maker's own address the bound has the name that its newer models insist on."""
    from toolseam_plugins.providers import _openai

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with recording(chat("Yes.")) as recorder:
        monkeypatch.setattr(_openai, "HOME", f"{recorder.url}/v1")
        provider = make(Endpoint("openai:m", "openai", "m"))
        asked(provider, max_output_tokens=9)

    assert recorder.heard[0].body["max_completion_tokens"] == 9
    assert recorder.heard[0].headers["authorization"] == f"Bearer {KEY}"


def test_strict_mode_can_be_switched_off() -> None:
    """A server that does not know strict mode is told the tool's own schema."""
    answers = chat(calls=[("echo", '{"text": "hi"}', "a")]), chat("Done.")
    with recording(*answers) as recorder:
        run_of(MAKERS["openai"].at(recorder, options={"strict": False}))

    (tool,) = recorder.heard[0].body["tools"]
    assert "strict" not in tool["function"]


def test_responses_are_not_stored_unless_an_option_says_so() -> None:
    """OpenAI is asked to keep nothing; who wants it kept says so."""
    with recording(responses(said("Yes."))) as recorder:
        asked(MAKERS["openai_responses"].at(recorder))
        asked(MAKERS["openai_responses"].at(recorder, options={"store": True}))

    assert [each.body["store"] for each in recorder.heard] == [False, True]


# -- what comes back -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.FILTERED),
        ("something_new", Finish.OTHER),
    ],
)
def test_why_a_chat_ended(finish: str, expected: Finish) -> None:
    """Each word of the API is one of ours, and a new one is `other`."""
    with recording(chat("Words.", finish=finish)) as recorder:
        assert asked(MAKERS["openai"].at(recorder)).finish is expected


def test_calls_are_calls_though_a_server_says_stop() -> None:
    """Some servers end a turn of calls with `stop`."""
    with recording(chat(calls=[("echo", "{}", "a")], finish="stop")) as recorder:
        assert asked(MAKERS["openai"].at(recorder)).finish is Finish.CALLS


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, Finish.STOP),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Finish.LENGTH,
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            Finish.FILTERED,
        ),
        ({"status": "cancelled"}, Finish.OTHER),
    ],
)
def test_why_a_response_ended(more: dict[str, Any], expected: Finish) -> None:
    """Likewise for responses, whose status and reason stand apart."""
    with recording(responses(said("Words."), **more)) as recorder:
        assert asked(MAKERS["openai_responses"].at(recorder)).finish is expected


def test_a_refusal_is_what_the_model_said() -> None:
    """A refusal is the text of the reply, and the reply is filtered."""
    part = {"type": "refusal", "refusal": "I will not."}
    with recording(chat(refusal="I will not.")) as recorder:
        reply = asked(MAKERS["openai"].at(recorder))
    with recording(responses(said("", content=[part]))) as recorder:
        other = asked(MAKERS["openai_responses"].at(recorder))

    assert (reply.text, reply.finish) == ("I will not.", Finish.FILTERED)
    assert (other.text, other.finish) == ("I will not.", Finish.FILTERED)


def test_thoughts_are_kept_apart_from_words() -> None:
    """Where a server shows a model's thoughts, they are no part of its answer."""
    with recording(chat("Four.", reasoning_content="Two and two.")) as recorder:
        reply = asked(MAKERS["openai"].at(recorder))

    assert (reply.text, reply.thinking) == ("Four.", "Two and two.")


@pytest.mark.parametrize("kind", KINDS)
def test_words_come_in_pieces(kind: str) -> None:
    """Deltas come as they are made, and the whole reply at the end."""
    if kind == "openai":
        answer = chat_chunks({"role": "assistant", "content": "It "}, {"content": "is 3."})
    else:
        pieces = [
            {"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, **each}
            for each in ({"delta": "It "}, {"delta": "is 3."})
        ]
        more = [{**each, "content_index": 0, "logprobs": []} for each in pieces]
        answer = response_events(*more, end=response(said("It is 3.")))
    with recording(answer) as recorder:
        *deltas, reply = streamed(MAKERS[kind].at(recorder))

    assert deltas == [Delta("It "), Delta("is 3.")]
    assert (reply.text, reply.finish, reply.usage) == ("It is 3.", Finish.STOP, Usage(7, 3))
    assert recorder.heard[0].body["stream"] is True


def piece(index: int | None, id_: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """Return a piece of a call in a stream of chat completions."""
    call = {"index": index, "id": id_, "type": "function"}
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{**call, "function": function}]}


STREAMS = {
    "by place": [
        piece(0, "a", "echo", '{"te'),
        piece(0, None, None, 'xt": "x"}'),
        piece(1, "b", "echo", ""),
        piece(1, None, None, '{"text": "y"}'),
    ],
    "one id": [piece(0, "a", "echo", '{"text": "x"}'), piece(1, "a", "echo", '{"text": "y"}')],
    "one place": [piece(0, "a", "echo", '{"text": "x"}'), piece(0, "b", "echo", '{"text": "y"}')],
    "no place": [
        piece(None, "a", "echo", '{"text": "x"}'),
        piece(None, "b", "echo", '{"text": "y"}'),
    ],
    "the name again": [
        piece(0, "a", "echo", '{"text": '),
        piece(0, "a", "echo", '"x"}'),
        piece(1, "b", "echo", '{"text": "y"}'),
    ],
}


@pytest.mark.parametrize("deltas", STREAMS.values(), ids=STREAMS)
def test_calls_come_in_pieces(deltas: list[dict[str, Any]]) -> None:
    """However a server numbers the pieces, two calls are two calls, in order (P16)."""
    with recording(chat_chunks(*deltas, finish="tool_calls")) as recorder:
        (reply,) = streamed(MAKERS["openai"].at(recorder))

    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("echo", '{"text": "x"}'),
        ("echo", '{"text": "y"}'),
    ]
    assert reply.finish is Finish.CALLS


REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "I should look."}],
    "encrypted_content": "c2VhbGVk",
}


def test_sealed_thoughts_go_back_in_their_place() -> None:
    """A reasoning item stands before its call in the next request, sealed as it came."""
    first = responses(
        REASONING,
        said("Let me see.", phase="commentary"),
        called("echo", '{"text": "hi"}', "call_1"),
    )
    with recording(first, responses(said("Hi."))) as recorder:
        run = run_of(MAKERS["openai_responses"].at(recorder))

    kept = recorder.heard[1].body["input"][1:]
    assert kept == [
        REASONING,
        {"role": "assistant", "content": "Let me see.", "phase": "commentary"},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "echo",
            "arguments": '{"text": "hi"}',
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "said hi"},
    ]
    assert run.status == "completed"


def test_thoughts_that_are_not_sealed_or_of_another_model_stay_here() -> None:
    """Without its seal OpenAI would look a thought up at home; another model cannot open one."""
    turn = AssistantMessage(
        "Let me see.", extra={"openai_responses": {"model": "other", "items": [REASONING]}}
    )
    bare = {key: value for key, value in REASONING.items() if key != "encrypted_content"}
    with recording(responses(bare, said("Hi."))) as recorder:
        reply = asked(MAKERS["openai_responses"].at(recorder), UserMessage("?"), turn)

    assert recorder.heard[0].body["input"][1] == {"role": "assistant", "content": "Let me see."}
    assert (reply.extra, reply.thinking) == ({}, "I should look.")


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("rate_limit_exceeded", ProviderFault.RATE_LIMIT),
        ("server_error", ProviderFault.SERVER_ERROR),
        ("invalid_prompt", ProviderFault.UNKNOWN),
    ],
)
def test_a_response_may_fail_after_a_good_status(code: str, fault: ProviderFault) -> None:
    """A failed response is a failure by its code, in one piece and in a stream."""
    failed = response(status="failed", error={"code": code, "message": f"Ouch {KEY}"})
    event = {"type": "error", "code": code, "message": "Ouch", "param": None}
    for answer, ask in (
        (as_json(failed), asked),
        (response_events(end=failed), streamed),
        (response_events(event, end=None), streamed),
    ):
        with recording(answer) as recorder, pytest.raises(ProviderError) as caught:
            ask(MAKERS["openai_responses"].at(recorder))
        assert caught.value.fault is fault
        assert KEY not in str(caught.value)


def test_thoughts_of_calls_that_were_dropped_stay_away() -> None:
    """A conversation that was closed without its calls is told without their thoughts."""
    items = [{"type": "reasoning", "encrypted_content": "sealed"}, {"type": "function_call"}]
    closed = AssistantMessage("Enough.", (), {"openai_responses": {"model": "m", "items": items}})
    with recording(responses(said("Yes."))) as recorder:
        asked(MAKERS["openai_responses"].at(recorder), UserMessage("?"), closed, UserMessage("!"))

    told = [(item["role"], item["content"]) for item in recorder.heard[0].body["input"]]
    assert told == [("user", "?"), ("assistant", "Enough."), ("user", "!")]
