"""Anthropic's adapter against a loopback recorder: blocks out, blocks back."""

import json
from typing import Any

import pytest

from support.anthropic_wire import (
    answer,
    called,
    events,
    failing_events,
    message,
    text,
    thought,
)
from support.asking import asked, provider_at, run_of, streamed, streamed_run
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

ECHO = called("echo", {"text": "hi"}, "toolu_1")
SEALED = {"type": "redacted_thinking", "data": "c2VhbGVk"}


def sent(heard: Heard) -> list[tuple[str, list[Any]]]:
    """Return role and blocks of each message that a request holds."""
    return [(each["role"], each["content"]) for each in heard.body["messages"]]


def test_a_run_goes_by_way_of_a_tool() -> None:
    """Question, call, the seam's text under the call's id, answer; what a cache held counts."""
    with recording(answer(text("Let me see."), ECHO), answer(text("It is hi."))) as recorder:
        run = run_of(provider_at(recorder, "anthropic"), instructions="Be brief.")

    assert (run.status, run.answer, run.usage) == ("completed", "It is hi.", Usage(14, 6))
    first, second = recorder.heard
    assert {each.path for each in recorder.heard} == {"/v1/messages"}
    assert (first.body["model"], first.body["system"]) == ("m", "Be brief.")
    (tool,) = first.body["tools"]
    assert (tool["name"], tool["input_schema"]["required"]) == ("echo", ["text"])
    assert sent(second) == [
        ("user", [text("What?")]),
        ("assistant", [text("Let me see."), ECHO]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "said hi"}]),
    ]


def test_both_answers_of_a_turn_stand_in_one_message_and_the_failed_one_is_flagged() -> None:
    """Two calls, the first fails: one user message, two blocks, one flag (P16)."""
    calls = (called("echo", {"text": "fail"}, "a"), called("echo", {"text": "x"}, "b"))
    with recording(answer(*calls), answer(text("Done."))) as recorder:
        run_of(provider_at(recorder, "anthropic"))

    said = "Error (not_found): No such shelf."
    assert sent(recorder.heard[1])[2] == (
        "user",
        [
            {"type": "tool_result", "tool_use_id": "a", "content": said, "is_error": True},
            {"type": "tool_result", "tool_use_id": "b", "content": "said x"},
        ],
    )


@pytest.mark.parametrize(
    "ids",
    [("call_1", "call_1"), (None, None), ("", "x"), ("x", None), ("a.b", "a:b"), ("i" * 65, "y")],
)
def test_ids_that_cannot_be_used_are_paired_by_position(ids: tuple[str | None, str | None]) -> None:
    """Absent, repeated and ill-formed ids become ones that the API takes, all different (P16)."""
    calls = [called("echo", {"text": t}, id_) for t, id_ in zip("xy", ids, strict=True)]
    with recording(answer(*calls), answer(text("Done."))) as recorder:
        run = run_of(provider_at(recorder, "anthropic"))

    assert run.status == "completed"
    _, (_, uses), (_, results) = sent(recorder.heard[1])
    used = [block["id"] for block in uses]
    assert [(block["tool_use_id"], block["content"]) for block in results] == list(
        zip(used, ["said x", "said y"], strict=True)
    )
    assert len(set(used)) == 2
    assert all(id_.replace("_", "").isalnum() and len(id_) <= 64 for id_ in used)


@pytest.mark.parametrize("streaming", [False, True])
def test_thoughts_go_back_in_their_places(streaming: bool) -> None:
    """Signed and sealed thoughts stand before their calls again, as they came."""
    pair = (thought("First."), SEALED, text("So:"), ECHO, thought("Then."))
    other = called("echo", {"text": "ho"}, "toolu_2")
    if streaming:
        ways = [{**each, "input": json.dumps(each["input"])} for each in (ECHO, other)]
        first = events(*pair[:3], ways[0], pair[4], ways[1])
        with recording(first, events(text("Done."))) as recorder:
            *shown, run = streamed_run(provider_at(recorder, "anthropic"))
        deltas = [each for each in shown if isinstance(each, Delta)]
        assert "".join(each.thinking for each in deltas) == "First.Then."
    else:
        with recording(answer(*pair, other), answer(text("Done."))) as recorder:
            run = run_of(provider_at(recorder, "anthropic"))

    assert run.answer == "Done."
    assert sent(recorder.heard[1])[1] == ("assistant", [*pair, other])


def test_thoughts_of_another_model_stay_here() -> None:
    """A signature is its model's own: a provider that takes over is told words and calls."""
    overloaded = as_json({"error": {"type": "overloaded_error", "message": ""}}, 529)
    with (
        recording(answer(thought("Hm."), ECHO), overloaded) as one,
        recording(answer(text("Done."))) as two,
    ):
        second = provider_at(two, "anthropic")
        second._model = "other"
        run = run_of([provider_at(one, "anthropic"), second])

    assert run.answer == "Done."
    assert sent(two.heard[0])[1] == ("assistant", [ECHO])


def test_the_last_request_names_the_tools_that_were_called_and_forbids_them() -> None:
    """The API refuses a conversation with calls and no tools; their names stand, and no more."""
    calls = answer(thought("Hm."), called("echo", {"text": "hi"}, "a"))
    with recording(calls, calls, answer(text("So far."))) as recorder:
        run = run_of(provider_at(recorder, "anthropic"), max_rounds=1)

    assert (run.reason, run.answer) == ("max_rounds", "")
    assert recorder.heard[-1].body["tools"] == [
        {"name": "echo", "input_schema": {"type": "object"}}
    ]
    assert recorder.heard[-1].body["tool_choice"] == {"type": "none"}


def test_a_request_without_tools_or_calls_names_none() -> None:
    """Neither tools nor a choice among them is sent where there are none."""
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "anthropic"), options={"tool_choice": {"type": "any"}})

    assert not {"tools", "tool_choice", "system"} & recorder.heard[0].body.keys()


def test_no_blank_block_is_sent() -> None:
    """Blank words become a placeholder, blank instructions and answers nothing at all (P04)."""
    turns = (AssistantMessage("\n"), UserMessage("Well?"), AssistantMessage(" ", (ToolCall("x"),)))
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "anthropic"), SystemMessage(" "), UserMessage("\n"), *turns)

    assert sent(recorder.heard[0]) == [
        ("user", [text("(no text)"), text("Well?")]),
        ("assistant", [called("x", {}, "call_1")]),
    ]
    assert "system" not in recorder.heard[0].body


def test_blank_blocks_that_come_do_not_go_back() -> None:
    """A blank text between thoughts and call is left out of the next request (P04)."""
    with recording(answer(thought("Hm."), text("\n\n"), ECHO), answer(text("Hi."))) as recorder:
        run_of(provider_at(recorder, "anthropic"))

    assert sent(recorder.heard[1])[1] == ("assistant", [thought("Hm."), ECHO])


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("refusal", Finish.FILTERED),
        ("something_new", Finish.OTHER),
    ],
)
def test_why_it_ended(stop: str, expected: Finish) -> None:
    """Each word of the API is one of ours, and a new one is `other`."""
    with recording(answer(text("Words."), stop=stop)) as recorder:
        assert asked(provider_at(recorder, "anthropic")).finish is expected


def test_calls_are_calls_though_a_server_says_end_turn() -> None:
    """Some servers end a turn of calls as any other."""
    with recording(answer(ECHO, stop="end_turn")) as recorder:
        assert asked(provider_at(recorder, "anthropic")).finish is Finish.CALLS


def test_words_and_calls_come_in_pieces() -> None:
    """Deltas come as they are made, and at the end the reply that one piece would have given."""
    content = (text("It is 3."), called("echo", '{"text": "hi"}', "a"))
    with recording(events(*content)) as recorder:
        *deltas, reply = streamed(provider_at(recorder, "anthropic"))

    assert deltas == [Delta("It i"), Delta("s 3.")]
    assert (reply.text, reply.finish, reply.usage) == ("It is 3.", Finish.CALLS, Usage(7, 3))
    assert [(call.name, call.arguments) for call in reply.calls] == [("echo", '{"text": "hi"}')]
    assert recorder.heard[0].body["stream"] is True


@pytest.mark.parametrize("arguments", ['{"text": "st', '{"text": NaN}', ""])
def test_arguments_that_were_cut_off_stay_cut_off(arguments: str) -> None:
    """What a stream broke off, or what is no JSON, comes to the seam as it came: never mended."""
    cut = events(called("echo", arguments, "a"), stop="max_tokens")
    with recording(cut, events(text("Done."))) as recorder:
        *_, run = streamed_run(provider_at(recorder, "anthropic"))

    assert [each.status for each in run.steps if each.kind == "tool"] == ["invalid_arguments"]
    _, (_, [use]), (_, [result]) = sent(recorder.heard[1])
    assert (use["input"], result["is_error"]) == ({}, True)


def test_an_answer_is_bounded_whoever_asks() -> None:
    """The API insists on a bound: the request's own, else the operator's, else ours."""
    with recording(answer(text("Yes."))) as recorder:
        asked(provider_at(recorder, "anthropic"))
        asked(provider_at(recorder, "anthropic", options={"max_tokens": 7}))
        asked(provider_at(recorder, "anthropic", options={"max_tokens": 7}), max_output_tokens=9)

    assert [each.body["max_tokens"] for each in recorder.heard] == [8_192, 7, 9]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("overloaded_error", ProviderFault.SERVER_ERROR),
        ("rate_limit_error", ProviderFault.RATE_LIMIT),
        ("authentication_error", ProviderFault.AUTH),
        ("invalid_request_error", ProviderFault.CLIENT_ERROR),
        ("something_new", ProviderFault.SERVER_ERROR),
    ],
)
def test_a_stream_may_fail_after_a_good_status(kind: str, fault: ProviderFault) -> None:
    """An error in the middle of a stream is a failure by its type."""
    with (
        recording(failing_events(kind, "Ouch")) as recorder,
        pytest.raises(ProviderError) as caught,
    ):
        streamed(provider_at(recorder, "anthropic"))

    assert caught.value.fault is fault
    assert "Ouch" not in str(caught.value)
    assert caught.value.__context__ is None


def test_pieces_of_kinds_that_are_new_do_not_spoil_a_stream() -> None:
    """A delta that nobody knows, a citation for example, is passed over."""
    start = {"type": "content_block_start", "index": 0, "content_block": text("")}
    cited = {"type": "citations_delta", "citation": {"type": "page_location"}}
    deltas = [cited, {"type": "text_delta", "text": "Four."}]
    middle = [{"type": "content_block_delta", "index": 0, "delta": each} for each in deltas]
    ends = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}]
    stream = [{"type": "message_start", "message": message()}, start, *middle, *ends]
    whole = as_events([*stream, {"type": "message_stop"}], named=True)
    with recording(whole) as recorder:
        *shown, reply = streamed(provider_at(recorder, "anthropic"))

    assert shown == [Delta("Four.")]
    assert (reply.text, reply.finish, reply.extra) == ("Four.", Finish.STOP, {})
