"""What the adapters of all makers do alike: options, failures, redirects, keys, connections."""

import asyncio
import logging
import socket
import traceback
import warnings
from typing import Any, cast

import pytest

from support import anthropic_wire, google_wire, openai_wire
from support.asking import asked, run_of, streamed, streamed_run
from support.makers import MAKERS, Maker
from support.provider_recorder import Answer, Heard, as_events, as_json, recording
from toolseam.providers import (
    AssistantMessage,
    Delta,
    Endpoint,
    ProviderError,
    ProviderFault,
    Reply,
    Request,
    ToolCall,
    UserMessage,
)
from toolseam_plugins.providers import KINDS, make

KEY = "sk-do-not-tell-0123456789abcdef"

every_maker = pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)


def call_in(heard: Heard) -> tuple[str, Any]:
    """Return name and arguments of the call that a request holds."""
    body = heard.body
    if "input" in body:
        (call,) = (each for each in body["input"] if each.get("type") == "function_call")
        return call["name"], call["arguments"]
    if "contents" in body:
        (part,) = body["contents"][1]["parts"]
        return part["functionCall"]["name"], part["functionCall"]["args"]
    turn = body["messages"][1]
    if "tool_calls" in turn:
        (call,) = turn["tool_calls"]
        return call["function"]["name"], call["function"]["arguments"]
    (call,) = (each for each in turn["content"] if each["type"] == "tool_use")
    return call["name"], call["input"]


def words_in(heard: Heard) -> str:
    """Return the words of the first message that a request holds."""
    body = heard.body
    first = (body.get("messages") or body.get("input") or body["contents"])[0]
    said = first.get("content") or first["parts"]
    words: str = said if isinstance(said, str) else said[0]["text"]
    return words


def asked_in_turn(provider: Any, *requests: Request, streaming: bool) -> list[Any]:
    """Ask one after the other over one connection, and return the reply or the failure of each."""

    async def one(request: Request) -> Any:
        try:
            if streaming:
                return [piece async for piece in provider.stream(request)]
            return await provider.complete(request)
        except ProviderError as failure:
            return failure

    async def whole() -> list[Any]:
        return [await one(request) for request in requests]

    return asyncio.run(whole())


def test_every_kind_is_tried() -> None:
    """A further kind of our own joins these tests, or they fail."""
    assert set(MAKERS) == set(KINDS)


def test_another_kind_is_for_others_to_give() -> None:
    """What is no kind of our own is None, so that plugins are asked."""
    assert make(Endpoint("mine:m", "mine", "m")) is None


@every_maker
def test_a_model_has_to_be_named(maker: Maker) -> None:
    """A kind alone is a fault of the settings, and the message says how a model is written."""
    with pytest.raises(ProviderError, match=f"{maker.kind}:MODEL") as caught:
        make(Endpoint(maker.kind, maker.kind))

    assert caught.value.fault is ProviderFault.CONFIGURATION


@every_maker
@pytest.mark.parametrize("sdk", ["no_such_sdk", "no_such_package.sdk"])
def test_an_extra_that_is_missing_is_named(
    maker: Maker, sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its SDK a kind says what to install."""
    kind = KINDS[maker.kind]
    monkeypatch.setitem(KINDS, maker.kind, kind._replace(sdk=sdk))

    with pytest.raises(ProviderError, match=rf"toolseam\[{kind.extra}\]") as caught:
        make(Endpoint(f"{maker.kind}:m", maker.kind, "m"))

    assert caught.value.fault is ProviderFault.CONFIGURATION


# -- what is sent ---------------------------------------------------------------------------------


@every_maker
def test_a_run_streams(maker: Maker) -> None:
    """`astream` shows words while the model speaks, and ends with the same run."""
    calls = maker.call_in_pieces((("echo", '{"text": "hi"}', "a"),))
    with recording(calls, maker.say_in_pieces("It is hi.")) as recorder:
        *shown, run = streamed_run(maker.at(recorder))

    assert (run.status, run.answer) == ("completed", "It is hi.")
    assert b"said hi" in recorder.heard[1].raw
    words = "".join(each.text for each in shown if isinstance(each, Delta))
    assert words in {"It is hi.", ""}


@every_maker
def test_half_a_surrogate_pair_does_not_fail_the_request(maker: Maker) -> None:
    """A lone surrogate goes out as U+FFFD, a whole pair as what it is (P02)."""
    turn = AssistantMessage("caf\udce9", (ToolCall("echo", {"te\ud83dxt": "\ud83d"}, "a"),))
    with recording(maker.say("Yes.")) as recorder:
        asked(maker.at(recorder), UserMessage("ship \ud83d now \U0001f680"), turn)

    assert words_in(recorder.heard[0]) == "ship \ufffd now \U0001f680"
    assert '\\ud83d"' not in recorder.heard[0].raw.decode()


@every_maker
def test_a_name_that_nobody_offered_goes_back_under_one_that_is_taken(maker: Maker) -> None:
    """A model that invents a tool is told so, and its invention does not spoil the next request."""
    calls = maker.call((("no such.tool", "{}", "a"),))
    with recording(calls, maker.say("Done.")) as recorder:
        run = run_of(maker.at(recorder))

    assert run.status == "completed"
    assert call_in(recorder.heard[1])[0].startswith("no_such_tool_")
    assert b"Error (not_found)" in recorder.heard[1].raw


@every_maker
def test_arguments_that_are_no_object_go_out_as_one(maker: Maker) -> None:
    """Some servers read the conversation: what goes back is an object whatever a model wrote."""
    broken = ('{"text": "hi', "", None, "[1]", '"x"', '{"n": NaN}', '{"n": 1e999}')
    turns = [AssistantMessage("", (ToolCall("echo", each, "a"),)) for each in broken]
    requests = [Request((UserMessage("?"), turn)) for turn in turns]
    with recording(maker.say("Yes.")) as recorder:
        replies = asked_in_turn(maker.at(recorder), *requests, streaming=False)

    assert [each.text for each in replies] == ["Yes."] * len(broken)
    assert len(recorder.heard) == len(broken)
    for heard in recorder.heard:
        name, arguments = call_in(heard)
        assert name == "echo"
        assert arguments in ({}, "{}")


@every_maker
def test_options_go_into_every_request(maker: Maker) -> None:
    """The endpoint's options, and a request's own before them."""
    with recording(maker.say("Yes.")) as recorder:
        provider = maker.at(recorder, options={"temperature": 0.5, "top_p": 0.1})
        asked(provider, options={"top_p": 0.2}, max_output_tokens=9)

    body = recorder.heard[0].body
    body = body.get("generationConfig", body)
    bounds = ("max_tokens", "max_output_tokens", "maxOutputTokens")
    assert body["temperature"] == 0.5
    assert body.get("top_p", body.get("topP")) == 0.2
    assert [body[each] for each in bounds if each in body] == [9]


RESERVED = {
    "openai": ("model", "messages", "input", "tools", "stream"),
    "openai_responses": ("model", "messages", "input", "tools", "stream"),
    "anthropic": ("model", "messages", "system", "tools", "stream"),
    "google": ("tools", "system_instruction", "http_options"),
}


@pytest.mark.parametrize("kind", RESERVED)
def test_what_the_conversation_says_is_no_option(kind: str) -> None:
    """An option that would replace the conversation, its tools or its address is refused."""
    maker = MAKERS[kind]
    with recording(maker.say("Yes.")) as recorder:
        for name in RESERVED[kind]:
            with pytest.raises(ProviderError) as caught:
                maker.at(recorder, options={name: 1})
            assert caught.value.fault is ProviderFault.CONFIGURATION, name

        requests = [Request((UserMessage("?"),), options={name: 1}) for name in RESERVED[kind]]
        failures = asked_in_turn(maker.at(recorder), *requests, streaming=False)

    assert [each.fault for each in failures] == [ProviderFault.CONFIGURATION] * len(failures)
    assert recorder.heard == []


# -- failures -------------------------------------------------------------------------------------


FAULTS = {
    400: ProviderFault.CLIENT_ERROR,
    401: ProviderFault.AUTH,
    403: ProviderFault.AUTH,
    404: ProviderFault.CLIENT_ERROR,
    429: ProviderFault.RATE_LIMIT,
    500: ProviderFault.SERVER_ERROR,
    529: ProviderFault.SERVER_ERROR,
}


@every_maker
@pytest.mark.parametrize("streaming", [False, True])
def test_a_status_is_a_kind_of_failure(maker: Maker, streaming: bool) -> None:
    """The kind comes of the status, nothing is asked again, and no word of the server goes on."""
    error = {"message": f"Wrong key {KEY}", "type": "x", "code": "x", "status": "x"}
    answers = [as_json({"type": "error", "error": error}, status) for status in FAULTS]
    requests = [Request((UserMessage("?"),))] * len(FAULTS)
    with recording(*answers) as recorder:
        failures = asked_in_turn(maker.at(recorder), *requests, streaming=streaming)

    assert len(recorder.heard) == len(FAULTS)
    for failure, (status, fault) in zip(failures, FAULTS.items(), strict=True):
        assert failure.fault is fault, status
        assert str(status) in str(failure)
        assert KEY not in "".join(traceback.format_exception(failure))
        assert failure.__context__ is None


@every_maker
@pytest.mark.parametrize("streaming", [False, True])
def test_nobody_there_is_a_failed_connection(maker: Maker, streaming: bool) -> None:
    """A port on which nobody listens is a `connection` failure, which a chain may pass on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    url = f"http://127.0.0.1:{port}{maker.path}"
    provider = make(Endpoint("x", maker.kind, "m", base_url=url))

    with pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider)

    assert caught.value.fault is ProviderFault.CONNECTION
    assert caught.value.__context__ is None


@every_maker
@pytest.mark.parametrize("cut", [False, True])
def test_a_stream_that_breaks_off_is_no_answer(maker: Maker, cut: bool) -> None:
    """Whether the connection breaks or the end is missing: half an answer is a failure."""
    half = maker.half(cut)
    with recording(half) as recorder, pytest.raises(ProviderError) as caught:
        streamed(maker.at(recorder))

    assert caught.value.fault is ProviderFault.CONNECTION


NO_ANSWERS = {
    "page": Answer((b"<html>A page.</html>",), kind="text/html"),
    "empty": Answer((b"{}",)),
    "list": Answer((b"[]",)),
    "nulls": Answer((b'{"choices": null, "output": null, "content": null, "candidates": null}',)),
    "numbers": Answer((b'{"choices": [1], "output": [1], "content": [1], "candidates": [1]}',)),
    "text": Answer((b"not json",)),
    "events": Answer((b"data: not json\n\n",), kind="text/event-stream"),
}


@every_maker
@pytest.mark.parametrize("streaming", [False, True])
def test_what_is_no_answer_of_the_api_is_a_failure(maker: Maker, streaming: bool) -> None:
    """A base URL that leads to something else is told as such, and never an empty answer."""
    requests = [Request((UserMessage("?"),))] * len(NO_ANSWERS)
    with recording(*NO_ANSWERS.values()) as recorder:
        failures = asked_in_turn(maker.at(recorder), *requests, streaming=streaming)

    assert len(recorder.heard) == len(NO_ANSWERS)
    for failure, name in zip(failures, NO_ANSWERS, strict=True):
        assert failure.fault in {ProviderFault.UNKNOWN, ProviderFault.CONNECTION}, name
        assert failure.__context__ is None


STRANGE = {
    "openai": openai_wire.chat_chunks({"content": "x"}, finish=cast("Any", ["plum"])),
    "openai_responses": openai_wire.response_events(
        end=openai_wire.response(openai_wire.said("x", content=None))
    ),
    "anthropic": as_events(
        [
            {"type": "message_start", "message": anthropic_wire.message()},
            {
                "type": "content_block_delta",
                "index": 3,
                "delta": {"type": "text_delta", "text": "plum"},
            },
            {"type": "message_stop"},
        ],
        named=True,
    ),
    "google": google_wire.chunks({"text": "x"}, {"functionCall": {"name": ["plum"], "args": {}}}),
}


@every_maker
def test_a_stream_of_other_shapes_is_a_failure(maker: Maker) -> None:
    """What comes to its end and is no answer all the same fails as in one piece."""
    with recording(STRANGE[maker.kind]) as recorder, pytest.raises(ProviderError) as caught:
        streamed(maker.at(recorder))

    assert caught.value.fault is ProviderFault.UNKNOWN
    assert caught.value.__context__ is None


@pytest.mark.parametrize("streaming", [False, True])
def test_no_word_of_an_answer_is_in_a_warning(streaming: bool) -> None:
    """Where a server counts in words, serialising would warn with them."""
    usage = {"input_tokens": "plum", "output_tokens": 1}
    whole = anthropic_wire.message(anthropic_wire.text("x"), usage=usage)
    pieces = [{"type": "message_start", "message": whole}, {"type": "message_stop"}]
    answer = as_events(pieces, named=True) if streaming else as_json(whole)
    with recording(answer) as recorder, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(ProviderError):
            (streamed if streaming else asked)(MAKERS["anthropic"].at(recorder))

    assert heard == []


@every_maker
@pytest.mark.parametrize("streaming", [False, True])
def test_a_redirect_is_not_followed(maker: Maker, streaming: bool) -> None:
    """The conversation goes where the operator said, and nowhere that an answer says."""
    with recording(maker.say("Yes.")) as elsewhere:
        moved = as_json({}, 307, location=f"{elsewhere.url}/elsewhere")
        with recording(moved) as recorder, pytest.raises(ProviderError):
            (streamed if streaming else asked)(maker.at(recorder))

    assert len(recorder.heard) == 1
    assert elsewhere.heard == []


@every_maker
def test_a_request_is_cancelled_with_its_task(maker: Maker) -> None:
    """Who cancels a run waits for no model, and no failure is made of it."""

    async def cancel(provider: Any) -> None:
        task = asyncio.create_task(provider.complete(Request((UserMessage("?"),))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}{maker.path}"
        asyncio.run(cancel(make(Endpoint("x", maker.kind, "m", base_url=url))))


# -- keys -----------------------------------------------------------------------------------------


@pytest.fixture
def makers_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what the SDKs read from the environment."""
    keys = {maker.variable for maker in MAKERS.values()}
    more = ("ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "OPENAI_ADMIN_KEY")
    for name in (*keys, *more, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")


@pytest.mark.usefixtures("makers_keys")
@every_maker
def test_another_address_is_not_sent_the_makers_key(maker: Maker) -> None:
    """A base URL of the operator's gets a key only if he names its variable."""
    header, shape = maker.header
    with recording(maker.say("Yes.")) as recorder:
        asked(maker.at(recorder))
        asked(maker.at(recorder, api_key_env=maker.variable))

    without, with_key = recorder.heard
    assert KEY not in str(without.headers)
    assert "authorization" not in without.headers
    assert with_key.headers[header] == shape.format(KEY)


@pytest.mark.usefixtures("makers_keys")
@every_maker
def test_a_key_is_never_shown(maker: Maker, caplog: pytest.LogCaptureFixture) -> None:
    """Neither repr nor the log at its most talkative nor an error holds the key."""
    caplog.set_level(logging.DEBUG)
    answers = as_json({"error": {"message": KEY}}, 401), maker.say("Yes.")
    with recording(*answers) as recorder:
        provider = maker.at(recorder, api_key_env=maker.variable)
        with pytest.raises(ProviderError) as caught:
            asked(provider)
        asked(provider)

    assert KEY not in caplog.text
    assert KEY not in f"{provider!r} {vars(provider)!r} {caught.value!r} {caught.value}"


@every_maker
def test_a_key_that_is_not_set_is_told_by_its_name(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is found when the provider is made, and names the variable."""
    monkeypatch.delenv(maker.variable, raising=False)

    with pytest.raises(ProviderError, match=maker.variable) as caught:
        make(Endpoint(f"{maker.kind}:m", maker.kind, "m"))

    assert caught.value.fault is ProviderFault.CONFIGURATION


# -- connections ----------------------------------------------------------------------------------


@every_maker
def test_what_is_on_this_machine_is_asked_without_a_proxy(
    maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of the environment never sees what the operator sends to his own machine."""
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with recording(as_json({}, 502)) as proxy, recording(maker.say("Yes.")) as recorder:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        reply = asked(maker.at(recorder))

    assert (reply.text, proxy.heard) == ("Yes.", [])


@every_maker
def test_one_provider_serves_many_loops(maker: Maker) -> None:
    """Run after run, each in an event loop of its own; nothing is left open behind them."""
    with recording(maker.say("Yes.")) as recorder:
        provider = maker.at(recorder)
        answers = [run_of(provider).answer for _ in range(3)]

    assert answers == ["Yes."] * 3
    assert len(provider.clients._held) == 0


@every_maker
def test_the_rounds_of_a_run_share_a_connection(maker: Maker) -> None:
    """One loop has one client, whoever asks first."""
    with recording(maker.say("Yes.")) as recorder:
        provider = maker.at(recorder)

        async def both() -> int:
            request = Request((UserMessage("?"),))
            await asyncio.gather(provider.complete(request), provider.complete(request))
            return len(provider.clients._held)

        assert asyncio.run(both()) == 1


@every_maker
def test_who_stops_listening_ends_the_stream(maker: Maker) -> None:
    """A stream that is left closes its connection, and the provider answers others."""

    async def leave(provider: Any) -> Reply:
        pieces = provider.stream(Request((UserMessage("?"),)))
        await anext(pieces)
        await pieces.aclose()
        reply: Reply = await provider.complete(Request((UserMessage("?"),)))
        return reply

    with recording(maker.say_in_pieces("It is."), maker.say("Yes.")) as recorder:
        reply = asyncio.run(leave(maker.at(recorder)))

    assert reply.text == "Yes."
