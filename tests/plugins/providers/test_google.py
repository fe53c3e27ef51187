"""Google's adapter against a loopback recorder: parts out, parts back."""

from typing import Any

import pytest

from support.asking import asked, provider_at, run_of, streamed, streamed_run
from support.google_wire import answer, called, chunks, content, text
from support.provider_recorder import Heard, as_events, as_json, recording
from toolseam.providers import (
    AssistantMessage,
    Delta,
    Finish,
    ProviderError,
    ProviderFault,
    SystemMessage,
    ToolCall,
    Usage,
    UserMessage,
)

ECHO = called("echo", {"text": "hi"})
SIGNED = {"thoughtSignature": "c2lnbmVkIQ=="}
FOREIGN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="


def sent(heard: Heard) -> list[tuple[str, list[Any]]]:
    """Return role and parts of each content that a request holds."""
    return [(each["role"], each["parts"]) for each in heard.body["contents"]]


def answered(name: str, id_: str | None = None, **told: str) -> dict[str, Any]:
    """Return a part that answers a call."""
    named = {} if id_ is None else {"id": id_}
    return {"functionResponse": {**named, "name": name, "response": told}}


def test_a_run_goes_by_way_of_a_tool() -> None:
    """Question, call, the seam's text under the tool's name, answer; thoughts are tokens too."""
    with recording(answer(ECHO), answer(text("It is hi."))) as recorder:
        run = run_of(provider_at(recorder, "google"), instructions="Be brief.")

    assert (run.status, run.answer, run.usage) == ("completed", "It is hi.", Usage(14, 6))
    first, second = recorder.heard
    assert {each.path for each in recorder.heard} == {"/v1/models/m:generateContent"}
    assert first.body["systemInstruction"]["parts"] == [text("Be brief.")]
    ((tool,),) = [each["functionDeclarations"] for each in first.body["tools"]]
    schema = tool["parameters_json_schema"]
    assert (tool["name"], schema["required"], schema["additionalProperties"]) == (
        "echo",
        ["text"],
        False,
    )
    assert sent(second) == [
        ("user", [text("What?")]),
        ("model", [ECHO]),
        ("user", [answered("echo", output="said hi")]),
    ]


@pytest.mark.parametrize("ids", [(None, None), ("a", "b"), ("a", "a"), ("a", None)])
def test_two_calls_are_answered_in_order_with_ids_where_they_were_given(
    ids: tuple[str | None, str | None],
) -> None:
    """Ids are echoed when given and left out when not; the order pairs the answers (P16)."""
    calls = [called("echo", {"text": t}, id_) for t, id_ in zip("xy", ids, strict=True)]
    with recording(answer(*calls), answer(text("Done."))) as recorder:
        run = run_of(provider_at(recorder, "google"))

    assert run.status == "completed"
    assert sent(recorder.heard[1])[1:] == [
        ("model", calls),
        (
            "user",
            [answered("echo", ids[0], output="said x"), answered("echo", ids[1], output="said y")],
        ),
    ]
    assert b"null" not in recorder.heard[1].raw
    assert b"None" not in recorder.heard[1].raw


def test_a_failed_call_is_told_as_an_error() -> None:
    """The key of the response says whether it is an output or an error."""
    calls = [called("echo", {"text": each}) for each in ("fail", "x")]
    with recording(answer(*calls), answer(text("Done."))) as recorder:
        run_of(provider_at(recorder, "google"))

    assert sent(recorder.heard[1])[2][1] == [
        answered("echo", error="Error (not_found): No such shelf."),
        answered("echo", output="said x"),
    ]


@pytest.mark.parametrize("streaming", [False, True])
def test_signatures_go_back_with_their_parts(streaming: bool) -> None:
    """Each signature stands at the part that it came with, be it a call or words."""
    parts = (
        text("Hm.", thought=True),
        text("So:", **SIGNED),
        {**ECHO, **SIGNED},
        called("echo", {"text": "ho"}),
    )
    if streaming:
        with recording(chunks(*parts), chunks(text("Done."))) as recorder:
            *shown, run = streamed_run(provider_at(recorder, "google"))
        assert Delta(thinking="Hm.") in shown
    else:
        with recording(answer(*parts), answer(text("Done."))) as recorder:
            run = run_of(provider_at(recorder, "google"))

    assert run.answer == "Done."
    assert sent(recorder.heard[1])[1] == ("model", list(parts))


def test_a_signature_without_words_goes_back_too() -> None:
    """A stream may end with a blank part that holds the signature of all before it."""
    last = text("", **SIGNED)
    with recording(chunks(text("So "), text("it is."), last)) as recorder:
        *deltas, reply = streamed(provider_at(recorder, "google"))
    turn = AssistantMessage(reply.text, extra=reply.extra)
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "google"), UserMessage("?"), turn, UserMessage("Sure?"))

    assert deltas == [Delta("So "), Delta("it is.")]
    assert sent(recorder.heard[0])[1] == ("model", [text("So it is."), last])


def test_a_call_of_another_model_says_that_its_signature_is_missing() -> None:
    """The API refuses a call without a signature, unless it is told that another model made it."""
    turn = AssistantMessage("", (ToolCall("echo", '{"text": "x"}', "a"), ToolCall("echo", None)))
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "google"), UserMessage("?"), turn)

    assert sent(recorder.heard[0])[1] == (
        "model",
        [
            {**called("echo", {"text": "x"}, "a"), "thoughtSignature": FOREIGN},
            called("echo", {}),
        ],
    )


def test_the_last_request_names_no_tools() -> None:
    """At the cap of rounds the model is asked once more, without tools or a choice of them."""
    options = {"tool_config": {"function_calling_config": {"mode": "AUTO"}}}
    with recording(answer(ECHO), answer(ECHO), answer(text("So far."))) as recorder:
        run = run_of(provider_at(recorder, "google"), max_rounds=2, options=options)

    assert (run.reason, run.answer) == ("max_rounds", "So far.")
    assert [{"tools", "toolConfig"} <= each.body.keys() for each in recorder.heard] == [
        True,
        True,
        False,
    ]
    assert not {"tools", "toolConfig"} & recorder.heard[-1].body.keys()


def test_no_blank_part_is_sent() -> None:
    """Blank words become a placeholder, blank instructions and answers nothing at all (P04)."""
    turns = (AssistantMessage("\n"), UserMessage("Well?"))
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "google"), SystemMessage(" "), UserMessage("\n"), *turns)

    assert sent(recorder.heard[0]) == [("user", [text("(no text)")]), ("user", [text("Well?")])]
    assert "systemInstruction" not in recorder.heard[0].body


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("STOP", Finish.STOP),
        ("MAX_TOKENS", Finish.LENGTH),
        ("SAFETY", Finish.FILTERED),
        ("PROHIBITED_CONTENT", Finish.FILTERED),
        ("MALFORMED_FUNCTION_CALL", Finish.OTHER),
    ],
)
def test_why_it_ended(finish: str, expected: Finish) -> None:
    """Each word of the API is one of ours, and any other is `other`."""
    with recording(answer(text("Words."), finish=finish)) as recorder:
        assert asked(provider_at(recorder, "google")).finish is expected


@pytest.mark.parametrize("streaming", [False, True])
def test_a_question_that_is_blocked_is_filtered(streaming: bool) -> None:
    """An answer without candidates says why, and is an answer."""
    body = {"promptFeedback": {"blockReason": "SAFETY"}}
    with recording(as_events([body]) if streaming else as_json(body)) as recorder:
        provider = provider_at(recorder, "google")
        reply = streamed(provider)[-1] if streaming else asked(provider)

    assert (reply.text, reply.finish) == ("", Finish.FILTERED)


def test_words_and_calls_come_in_pieces() -> None:
    """Deltas come as they are made, and at the end the reply that one piece would have given."""
    with recording(chunks(text("It "), text("is 3."), ECHO)) as recorder:
        *deltas, reply = streamed(provider_at(recorder, "google"))

    assert deltas == [Delta("It "), Delta("is 3.")]
    assert (reply.text, reply.finish, reply.usage) == ("It is 3.", Finish.CALLS, Usage(7, 3))
    assert [(call.name, call.arguments) for call in reply.calls] == [("echo", '{"text": "hi"}')]
    assert recorder.heard[0].path == "/v1/models/m:streamGenerateContent?alt=sse"


def test_the_sdk_asks_only_once() -> None:
    """An answer that could be continued is not continued behind the run's back."""
    unfinished = content(text("It "), finish="CONTINUATION")
    unfinished["candidates"][0]["continuationToken"] = "c29tZQ=="
    with recording(as_json(unfinished)) as recorder:
        reply = asked(provider_at(recorder, "google"))

    assert (reply.text, reply.finish, len(recorder.heard)) == ("It ", Finish.LENGTH, 1)


def test_the_version_of_the_api_is_an_option_of_the_address() -> None:
    """Servers that speak an older version are asked for it; it is no option of a request."""
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "google", options={"api_version": "v1beta", "seed": 3}))

    assert recorder.heard[0].path == "/v1beta/models/m:generateContent"
    assert recorder.heard[0].body["generationConfig"] == {"seed": 3}


def test_an_option_that_the_api_has_not_is_told() -> None:
    """A misspelt option is a fault of the settings, and nothing is sent."""
    with recording(answer(text("Yes."))) as recorder, pytest.raises(ProviderError) as caught:
        asked(provider_at(recorder, "google"), options={"temprature": 1})

    assert caught.value.fault is ProviderFault.CONFIGURATION
    assert recorder.heard == []


def test_the_environment_of_the_sdk_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that would choose another service, address, version of files stay unheard."""
    elsewhere = "http://127.0.0.1:1"
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", elsewhere)
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "replay")
    with recording(answer(text("Yes."))) as recorder:
        assert asked(provider_at(recorder, "google")).text == "Yes."

    assert len(recorder.heard) == 1


def test_blank_parts_that_come_do_not_go_back() -> None:
    """A blank text without a signature is left out of the next request (P04)."""
    with recording(answer(text("\n"), ECHO), answer(text("Hi."))) as recorder:
        run_of(provider_at(recorder, "google"))

    assert sent(recorder.heard[1])[1] == ("model", [ECHO])
