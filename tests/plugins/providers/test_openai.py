"""OpenAI's adapters against a loopback recorder: what goes out, and what comes back."""

import asyncio
import json
import logging
import socket
import traceback
from typing import Any

import pytest

from support.openai_wire import (
    called,
    chat,
    chat_chunks,
    response,
    response_events,
    responses,
    said,
)
from support.provider_recorder import Answer, Heard, Recorder, as_json, recording
from support.tools import ADA, plugin
from toolseam import Host, ToolError, ToolResult
from toolseam.providers import (
    AssistantMessage,
    Delta,
    Endpoint,
    Finish,
    Provider,
    ProviderError,
    ProviderFault,
    Reply,
    Request,
    SystemMessage,
    ToolCall,
    Usage,
    UserMessage,
)
from toolseam.runs import Run
from toolseam_plugins.providers import make

KINDS = ("openai", "openai_responses")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
KEY = "sk-do-not-tell-0123456789abcdef"


def say(arguments: Any) -> ToolResult:
    """Say a text again, or fail."""
    if arguments["text"] == "fail":
        raise ToolError("No such shelf.", "not_found")
    return ToolResult.text(f"said {arguments['text']}")


def provider_at(recorder: Recorder, kind: str = "openai", **more: Any) -> Any:
    """Return a provider that asks the recorder."""
    url = f"{recorder.url}/v1"
    provider = make(Endpoint(f"{kind}:m", kind, "m", base_url=url, timeout_s=5, **more))
    assert provider is not None
    return provider


def run_of(provider: Provider, question: str = "What?", **more: Any) -> Run:
    """Return a run that may call `echo`."""
    tool = plugin(say, name="echo", parameters=TEXT, parallel_safe=True)
    with Host(tools=[tool]) as host:
        return host.session(actor=ADA).run(provider, question, **more)


def asked(provider: Any, *messages: Any, **more: Any) -> Reply:
    """Ask once, without a loop."""
    reply: Reply = asyncio.run(provider.complete(Request(messages or (UserMessage("?"),), **more)))
    return reply


def streamed(provider: Any) -> list[Any]:
    """Return all that a stream gives."""

    async def whole() -> list[Any]:
        return [piece async for piece in provider.stream(Request((UserMessage("?"),)))]

    return asyncio.run(whole())


def call_answer(kind: str, *calls: tuple[str, str, str | None]) -> Answer:
    """Answer with calls, in the words of a kind."""
    if kind == "openai":
        return chat(calls=list(calls))
    return responses(*(called(*call) for call in calls))


def text_answer(kind: str, text: str) -> Answer:
    """Answer with words, in the words of a kind."""
    return chat(text) if kind == "openai" else responses(said(text))


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
        call_answer(kind, ("echo", '{"text": "hi"}', "call_1")),
        text_answer(kind, "It is hi."),
    )
    with recording(*answers) as recorder:
        run = run_of(provider_at(recorder, kind))

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
    with recording(call_answer(kind, *calls), text_answer(kind, "Done.")) as recorder:
        run_of(provider_at(recorder, kind))

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
    answers = call_answer(kind, first, second), text_answer(kind, "Done.")
    with recording(*answers) as recorder:
        run = run_of(provider_at(recorder, kind))

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
        recording(call_answer(kind, call, bad), text_answer(kind, "Done.")) as recorder,
        Host(tools=[plugin(look, name="look", parameters=schema)]) as host,
    ):
        host.session(actor=ADA).run(provider_at(recorder, kind), "Look.")

    assert seen == [{"table": "stock", "limit": 20}]
    ok, refused = results(recorder.heard[1])
    assert ok == ("call_1", "looked")
    assert "invalid_arguments" in refused[1]
    assert "table" in refused[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_nobody_offered_goes_back_under_one_that_is_taken(kind: str) -> None:
    """A model that invents a tool is told so, and its invention does not spoil the next request."""
    with recording(
        call_answer(kind, ("no such.tool", "{}", "a")), text_answer(kind, "Done.")
    ) as recorder:
        run = run_of(provider_at(recorder, kind))

    ((_, name, _),) = calls_in(recorder.heard[1])
    assert name.startswith("no_such_tool_")
    assert "not_found" in results(recorder.heard[1])[0][1]
    assert run.status == "completed"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", ['{"text": "hi', "", "[1]", '"x"', '{"text": NaN'])
def test_arguments_that_are_no_object_do_not_spoil_the_next_request(kind: str, broken: str) -> None:
    """Some servers read the conversation: what goes back is an object whatever the model wrote."""
    answers = call_answer(kind, ("echo", broken, "a")), text_answer(kind, "Done.")
    with recording(*answers) as recorder:
        run_of(provider_at(recorder, kind))

    ((_, _, arguments),) = calls_in(recorder.heard[1])
    assert arguments == "{}"
    assert "invalid_arguments" in results(recorder.heard[1])[0][1]


# -- what is sent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_blank_text_is_sent(kind: str) -> None:
    """Blank words become a placeholder, a blank instruction nothing at all (P04)."""
    messages = (SystemMessage(" "), UserMessage("\n"), AssistantMessage(""), UserMessage("Well?"))
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind), *messages)

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
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind), UserMessage("?"), turn, UserMessage("!"))

    assert b"None" not in recorder.heard[0].raw
    assert b'"content":""' not in recorder.heard[0].raw.replace(b" ", b"")
    assert calls_in(recorder.heard[0])[0][1:] == ("echo", '{"text": "\\u0436"}')


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_surrogate_pair_does_not_fail_the_request(kind: str) -> None:
    """A lone surrogate goes out as U+FFFD, a whole pair as what it is (P02)."""
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind), UserMessage("ship \ud83d now \U0001f680"))

    body = recorder.heard[0].body
    assert (body.get("messages") or body["input"])[0]["content"] == "ship \ufffd now \U0001f680"


@pytest.mark.parametrize("kind", KINDS)
def test_options_go_into_every_request(kind: str) -> None:
    """The endpoint's options, and a request's own before them."""
    with recording(text_answer(kind, "Yes.")) as recorder:
        provider = provider_at(recorder, kind, options={"temperature": 0, "seed": 1})
        asked(provider, options={"seed": 2}, max_output_tokens=9)

    body = recorder.heard[0].body
    assert (body["temperature"], body["seed"]) == (0, 2)
    assert body["max_tokens" if kind == "openai" else "max_output_tokens"] == 9


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["model", "messages", "input", "tools", "stream"])
def test_what_the_conversation_says_is_no_option(kind: str, name: str) -> None:
    """An option that would replace the conversation or its tools is a fault of the settings."""
    with pytest.raises(ProviderError) as caught:
        make(Endpoint(f"{kind}:m", kind, "m", base_url="http://127.0.0.1:1", options={name: 1}))

    assert caught.value.fault is ProviderFault.CONFIGURATION


def test_strict_mode_can_be_switched_off() -> None:
    """A server that does not know strict mode is told the tool's own schema."""
    answers = chat(calls=[("echo", '{"text": "hi"}', "a")]), chat("Done.")
    with recording(*answers) as recorder:
        run_of(provider_at(recorder, options={"strict": False}))

    (tool,) = recorder.heard[0].body["tools"]
    assert "strict" not in tool["function"]


def test_responses_are_not_stored_unless_an_option_says_so() -> None:
    """OpenAI is asked to keep nothing; who wants it kept says so."""
    with recording(responses(said("Yes."))) as recorder:
        asked(provider_at(recorder, "openai_responses"))
        asked(provider_at(recorder, "openai_responses", options={"store": True}))

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
        assert asked(provider_at(recorder)).finish is expected


def test_calls_are_calls_though_a_server_says_stop() -> None:
    """Some servers end a turn of calls with `stop`."""
    with recording(chat(calls=[("echo", "{}", "a")], finish="stop")) as recorder:
        assert asked(provider_at(recorder)).finish is Finish.CALLS


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
        assert asked(provider_at(recorder, "openai_responses")).finish is expected


def test_a_refusal_is_what_the_model_said() -> None:
    """A refusal is the text of the reply, and the reply is filtered."""
    part = {"type": "refusal", "refusal": "I will not."}
    with recording(chat(refusal="I will not.")) as recorder:
        reply = asked(provider_at(recorder))
    with recording(responses(said("", content=[part]))) as recorder:
        other = asked(provider_at(recorder, "openai_responses"))

    assert (reply.text, reply.finish) == ("I will not.", Finish.FILTERED)
    assert (other.text, other.finish) == ("I will not.", Finish.FILTERED)


def test_thoughts_are_kept_apart_from_words() -> None:
    """Where a server shows a model's thoughts, they are no part of its answer."""
    with recording(chat("Four.", reasoning_content="Two and two.")) as recorder:
        reply = asked(provider_at(recorder))

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
        *deltas, reply = streamed(provider_at(recorder, kind))

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
        (reply,) = streamed(provider_at(recorder))

    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("echo", '{"text": "x"}'),
        ("echo", '{"text": "y"}'),
    ]
    assert reply.finish is Finish.CALLS


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_streams(kind: str) -> None:
    """`astream` shows deltas while the model speaks, and ends with the same run."""
    if kind == "openai":
        answers = [
            chat_chunks(piece(0, "a", "echo", '{"text": "hi"}'), finish="tool_calls"),
            chat_chunks({"content": "Hi."}),
        ]
    else:
        answers = [
            response_events(end=response(called("echo", '{"text": "hi"}', "a"))),
            response_events(end=response(said("Hi."))),
        ]

    async def whole(provider: Any) -> list[Any]:
        with Host(tools=[plugin(say, name="echo", parameters=TEXT)]) as host:
            return [each async for each in host.session(actor=ADA).astream(provider, "?")]

    with recording(*answers) as recorder:
        *_, run = asyncio.run(whole(provider_at(recorder, kind)))

    assert (run.status, run.answer) == ("completed", "Hi.")
    assert results(recorder.heard[1]) == [("a", "said hi")]


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
        run = run_of(provider_at(recorder, "openai_responses"))

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
        reply = asked(provider_at(recorder, "openai_responses"), UserMessage("?"), turn)

    assert recorder.heard[0].body["input"][1] == {"role": "assistant", "content": "Let me see."}
    assert (reply.extra, reply.thinking) == ({}, "I should look.")


# -- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, ProviderFault.CLIENT_ERROR),
        (401, ProviderFault.AUTH),
        (403, ProviderFault.AUTH),
        (404, ProviderFault.CLIENT_ERROR),
        (429, ProviderFault.RATE_LIMIT),
        (500, ProviderFault.SERVER_ERROR),
        (529, ProviderFault.SERVER_ERROR),
    ],
)
def test_a_status_is_a_kind_of_failure(
    kind: str, streaming: bool, status: int, fault: ProviderFault
) -> None:
    """The kind comes of the status, nothing is asked again, and no word of the server goes on."""
    body = {"error": {"message": f"Wrong key {KEY}", "type": "x", "code": "x"}}
    with recording(as_json(body, status)) as recorder:
        provider = provider_at(recorder, kind)
        with pytest.raises(ProviderError) as caught:
            (streamed if streaming else asked)(provider)

    assert caught.value.fault is fault
    assert len(recorder.heard) == 1
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    assert str(status) in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
def test_nobody_there_is_a_failed_connection(kind: str, streaming: bool) -> None:
    """A port on which nobody listens is a `connection` failure, which a chain may pass on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    provider = make(Endpoint("x", kind, "m", base_url=f"http://127.0.0.1:{port}/v1"))

    with pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider)

    assert caught.value.fault is ProviderFault.CONNECTION


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_that_breaks_off_is_no_answer(kind: str, cut: bool) -> None:
    """Whether the connection breaks or the end is missing: half an answer is a failure."""
    if kind == "openai":
        answer = chat_chunks({"content": "It "}, finish=None, cut=cut)
    else:
        delta = {"type": "response.output_text.delta", "delta": "It ", "item_id": "m1"}
        more = {"output_index": 0, "content_index": 0, "logprobs": []}
        answer = response_events({**delta, **more}, end=None, cut=cut)

    with recording(answer) as recorder, pytest.raises(ProviderError) as caught:
        streamed(provider_at(recorder, kind))

    assert caught.value.fault is ProviderFault.CONNECTION


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        Answer((b"<html>A page.</html>",), kind="text/html"),
        Answer((b"{}",)),
        Answer((b"[]",)),
        Answer((b'{"choices": null, "output": null}',)),
        Answer((b"not json",)),
        Answer((b"data: not json\n\n",), kind="text/event-stream"),
    ],
    ids=["page", "empty", "list", "nulls", "text", "events"],
)
def test_what_is_no_answer_of_the_api_is_a_failure(
    kind: str, streaming: bool, answer: Answer
) -> None:
    """A base URL that leads to something else is told as such, and never an empty answer."""
    with recording(answer) as recorder, pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider_at(recorder, kind))

    assert caught.value.fault in {ProviderFault.UNKNOWN, ProviderFault.CONNECTION}
    assert caught.value.__context__ is None


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
            ask(provider_at(recorder, "openai_responses"))
        assert caught.value.fault is fault
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_is_not_followed(kind: str) -> None:
    """The conversation goes where the operator said, and nowhere that an answer says."""
    with recording(text_answer(kind, "Yes.")) as elsewhere:
        moved = as_json({}, 307, location=f"{elsewhere.url}/v1/chat/completions")
        with recording(moved) as recorder, pytest.raises(ProviderError):
            asked(provider_at(recorder, kind))

    assert len(recorder.heard) == 1
    assert elsewhere.heard == []


# -- keys ------------------------------------------------------------------------------------------


@pytest.fixture
def makers_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set all that the SDK reads from the environment."""
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")


@pytest.mark.usefixtures("makers_keys")
@pytest.mark.parametrize("kind", KINDS)
def test_another_address_is_not_sent_the_makers_key(kind: str) -> None:
    """A base URL of the operator's gets a key only if he names its variable."""
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind))
        asked(provider_at(recorder, kind, api_key_env="OPENAI_API_KEY"))

    without, with_key = recorder.heard
    assert KEY not in str(without.headers)
    assert "authorization" not in without.headers
    assert with_key.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.usefixtures("makers_keys")
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_never_shown(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither repr nor the log at its most talkative nor an error holds the key."""
    caplog.set_level(logging.DEBUG)
    answers = as_json({"error": {"message": KEY}}, 401), text_answer(kind, "Yes.")
    with recording(*answers) as recorder:
        provider = provider_at(recorder, kind, api_key_env="OPENAI_API_KEY")
        with pytest.raises(ProviderError) as caught:
            asked(provider)
        asked(provider)

    assert KEY not in caplog.text
    assert KEY not in f"{provider!r} {vars(provider)!r} {caught.value!r} {caught.value}"


def test_a_key_that_is_not_set_is_told_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is found when the provider is made, and names the variable."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(ProviderError, match="OPENAI_API_KEY") as caught:
        make(Endpoint("openai:m", "openai", "m"))

    assert caught.value.fault is ProviderFault.CONFIGURATION


# -- connections -----------------------------------------------------------------------------------


def test_one_provider_serves_many_loops() -> None:
    """Run after run, each in an event loop of its own; nothing is left open behind them."""
    with recording(chat("Yes.")) as recorder:
        provider = provider_at(recorder)
        answers = [run_of(provider).answer for _ in range(3)]

    assert answers == ["Yes."] * 3
    assert len(provider.clients._held) == 0


def test_the_rounds_of_a_run_share_a_connection() -> None:
    """One loop has one client, whoever asks first."""
    with recording(chat("Yes.")) as recorder:
        provider = provider_at(recorder)

        async def both() -> int:
            request = Request((UserMessage("?"),))
            await asyncio.gather(provider.complete(request), provider.complete(request))
            return len(provider.clients._held)

        assert asyncio.run(both()) == 1


def test_who_stops_listening_ends_the_stream() -> None:
    """A stream that is left closes its connection, and the provider answers others."""

    async def leave(provider: Any) -> Reply:
        pieces = provider.stream(Request((UserMessage("?"),)))
        await anext(pieces)
        await pieces.aclose()
        reply: Reply = await provider.complete(Request((UserMessage("?"),)))
        return reply

    with recording(chat_chunks({"content": "It "}, {"content": "is"}), chat("Yes.")) as recorder:
        reply = asyncio.run(leave(provider_at(recorder)))

    assert reply.text == "Yes."
