"""What Anthropic's and Google's adapters do alike: options, failures, redirects, keys."""

import asyncio
import logging
import socket
import traceback
from typing import Any

import pytest

from support import anthropic_wire, google_wire
from support.asking import asked, provider_at, run_of, streamed
from support.provider_recorder import Answer, Heard, as_json, recording
from toolseam.providers import (
    AssistantMessage,
    Endpoint,
    ProviderError,
    ProviderFault,
    Request,
    ToolCall,
    UserMessage,
)
from toolseam_plugins.providers import make

KINDS = ("anthropic", "google")
VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
HEADERS = {"anthropic": ("authorization", "Bearer {}"), "google": ("x-goog-api-key", "{}")}
KEY = "sk-do-not-tell-0123456789abcdef"


def text_answer(kind: str, said: str) -> Answer:
    """Answer with words, in the words of a kind."""
    wire: Any = anthropic_wire if kind == "anthropic" else google_wire
    made: Answer = wire.answer(wire.text(said))
    return made


def call_answer(kind: str, name: str, arguments: Any) -> Answer:
    """Answer with a call, in the words of a kind."""
    wire: Any = anthropic_wire if kind == "anthropic" else google_wire
    made: Answer = wire.answer(wire.called(name, arguments, "a"))
    return made


def half_answer(kind: str, *, cut: bool) -> Answer:
    """Begin a stream that has no end."""
    if kind == "anthropic":
        return anthropic_wire.events(anthropic_wire.text("It "), cut=cut, ended=False)
    return google_wire.chunks(google_wire.text("It "), finish=None, cut=cut)


def call_in(heard: Heard) -> tuple[str, Any]:
    """Return name and arguments of the call that a request holds."""
    body = heard.body
    if "messages" in body:
        (call,) = (each for each in body["messages"][1]["content"] if each["type"] == "tool_use")
        return call["name"], call["input"]
    (part,) = body["contents"][1]["parts"]
    return part["functionCall"]["name"], part["functionCall"]["args"]


def words_in(heard: Heard) -> str:
    """Return the words of the first message that a request holds."""
    body = heard.body
    first = body["messages"][0]["content"] if "messages" in body else body["contents"][0]["parts"]
    words: str = first[0]["text"]
    return words


# -- what is sent ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_surrogate_pair_does_not_fail_the_request(kind: str) -> None:
    """A lone surrogate goes out as U+FFFD, a whole pair as what it is (P02)."""
    turn = AssistantMessage("caf\udce9", (ToolCall("echo", {"te\ud83dxt": "\ud83d"}, "a"),))
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind), UserMessage("ship \ud83d now \U0001f680"), turn)

    assert words_in(recorder.heard[0]) == "ship \ufffd now \U0001f680"
    assert '\\ud83d"' not in recorder.heard[0].raw.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_nobody_offered_goes_back_under_one_that_is_taken(kind: str) -> None:
    """A model that invents a tool is told so, and its invention does not spoil the next request."""
    with recording(call_answer(kind, "no such.tool", {}), text_answer(kind, "Done.")) as recorder:
        run = run_of(provider_at(recorder, kind))

    assert run.status == "completed"
    assert call_in(recorder.heard[1])[0].startswith("no_such_tool_")
    assert b"Error (not_found)" in recorder.heard[1].raw


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", ['{"text": "hi', "", None, "[1]", '"x"', '{"text": NaN'])
def test_arguments_that_are_no_object_go_out_as_one(kind: str, broken: str | None) -> None:
    """What goes back is an object whatever a model wrote."""
    turn = AssistantMessage("", (ToolCall("echo", broken, "a"),))
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind), UserMessage("?"), turn)

    assert call_in(recorder.heard[0]) == ("echo", {})


@pytest.mark.parametrize("kind", KINDS)
def test_options_go_into_every_request(kind: str) -> None:
    """The endpoint's options, and a request's own before them."""
    with recording(text_answer(kind, "Yes.")) as recorder:
        provider = provider_at(recorder, kind, options={"temperature": 0.5, "top_k": 1})
        asked(provider, options={"top_k": 2}, max_output_tokens=9)

    body = recorder.heard[0].body
    if kind == "anthropic":
        assert (body["temperature"], body["top_k"], body["max_tokens"]) == (0.5, 2, 9)
    else:
        config = {"temperature": 0.5, "topK": 2, "maxOutputTokens": 9}
        assert body["generationConfig"] == config


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("anthropic", each) for each in ("model", "messages", "system", "tools", "stream")),
        *(("google", each) for each in ("tools", "system_instruction", "http_options")),
    ],
)
def test_what_the_conversation_says_is_no_option(kind: str, name: str) -> None:
    """An option that would replace the conversation, its tools or its address is refused."""
    with recording(text_answer(kind, "Yes.")) as recorder:
        for ask in (
            lambda: provider_at(recorder, kind, options={name: 1}),
            lambda: asked(provider_at(recorder, kind), options={name: 1}),
        ):
            with pytest.raises(ProviderError) as caught:
                ask()
            assert caught.value.fault is ProviderFault.CONFIGURATION

    assert recorder.heard == []


# -- failures -------------------------------------------------------------------------------------


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
    body = {"type": "error", "error": {"message": f"Wrong key {KEY}", "type": "x", "status": "x"}}
    with recording(as_json(body, status)) as recorder, pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider_at(recorder, kind))

    assert caught.value.fault is fault
    assert str(status) in str(caught.value)
    assert len(recorder.heard) == 1
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
def test_nobody_there_is_a_failed_connection(kind: str, streaming: bool) -> None:
    """A port on which nobody listens is a `connection` failure, which a chain may pass on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    provider = make(Endpoint("x", kind, "m", base_url=f"http://127.0.0.1:{port}"))

    with pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider)

    assert caught.value.fault is ProviderFault.CONNECTION
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", [False, True])
def test_a_stream_that_breaks_off_is_no_answer(kind: str, cut: bool) -> None:
    """Whether the connection breaks or the end is missing: half an answer is a failure."""
    half = half_answer(kind, cut=cut)
    with recording(half) as recorder, pytest.raises(ProviderError) as caught:
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
        Answer((b'{"content": null, "candidates": null}',)),
        Answer((b'{"content": [1], "candidates": [1]}',)),
        Answer((b"not json",)),
        Answer((b"data: not json\n\n",), kind="text/event-stream"),
    ],
    ids=["page", "empty", "list", "nulls", "numbers", "text", "events"],
)
def test_what_is_no_answer_of_the_api_is_a_failure(
    kind: str, streaming: bool, answer: Answer
) -> None:
    """A base URL that leads to something else is told as such, and never an empty answer."""
    with recording(answer) as recorder, pytest.raises(ProviderError) as caught:
        (streamed if streaming else asked)(provider_at(recorder, kind))

    assert caught.value.fault in {ProviderFault.UNKNOWN, ProviderFault.CONNECTION}
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streaming", [False, True])
def test_a_redirect_is_not_followed(kind: str, streaming: bool) -> None:
    """The conversation goes where the operator said, and nowhere that an answer says."""
    with recording(text_answer(kind, "Yes.")) as elsewhere:
        moved = as_json({}, 307, location=f"{elsewhere.url}/elsewhere")
        with recording(moved) as recorder, pytest.raises(ProviderError):
            (streamed if streaming else asked)(provider_at(recorder, kind))

    assert len(recorder.heard) == 1
    assert elsewhere.heard == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_is_cancelled_with_its_task(kind: str) -> None:
    """Who cancels a run waits for no model, and no failure is made of it."""

    async def cancel(provider: Any) -> None:
        task = asyncio.create_task(provider.complete(Request((UserMessage("?"),))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        asyncio.run(cancel(make(Endpoint("x", kind, "m", base_url=f"http://127.0.0.1:{port}"))))


# -- keys -----------------------------------------------------------------------------------------


@pytest.fixture
def makers_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set what the SDKs read from the environment."""
    for name in (*VARIABLES.values(), "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")


@pytest.mark.usefixtures("makers_keys")
@pytest.mark.parametrize("kind", KINDS)
def test_another_address_is_not_sent_the_makers_key(kind: str) -> None:
    """A base URL of the operator's gets a key only if he names its variable."""
    header, shape = HEADERS[kind]
    with recording(text_answer(kind, "Yes.")) as recorder:
        asked(provider_at(recorder, kind))
        asked(provider_at(recorder, kind, api_key_env=VARIABLES[kind]))

    without, with_key = recorder.heard
    assert KEY not in str(without.headers)
    assert with_key.headers[header] == shape.format(KEY)


@pytest.mark.usefixtures("makers_keys")
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_never_shown(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither repr nor the log at its most talkative nor an error holds the key."""
    caplog.set_level(logging.DEBUG)
    answers = as_json({"error": {"message": KEY}}, 401), text_answer(kind, "Yes.")
    with recording(*answers) as recorder:
        provider = provider_at(recorder, kind, api_key_env=VARIABLES[kind])
        with pytest.raises(ProviderError) as caught:
            asked(provider)
        asked(provider)

    assert KEY not in caplog.text
    assert KEY not in f"{provider!r} {vars(provider)!r} {caught.value!r} {caught.value}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_not_set_is_told_by_its_name(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a key nothing is asked, and the message names the variable."""
    monkeypatch.delenv(VARIABLES[kind], raising=False)

    with pytest.raises(ProviderError, match=VARIABLES[kind]) as caught:
        make(Endpoint(f"{kind}:m", kind, "m"))

    assert caught.value.fault is ProviderFault.CONFIGURATION
