"""What is sent of a conversation that a model cannot read as a whole."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolseam._context_fit import fit
from toolseam._render import issue
from toolseam.providers import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

LONG = "x" * 900


def turn(name: str) -> list[Message]:
    """Return a turn with one call and its answer."""
    call = ToolCall(name, {"text": LONG})
    return [AssistantMessage(name, (call,)), ToolMessage(call, issue(LONG))]


def words(messages: list[Message] | None) -> list[str]:
    """Say what is sent, shortly."""
    return [each.text[:4] for each in messages or ()]


def test_the_newest_question_stays() -> None:
    """Of a long conversation old turns go with old questions, and never the newest one."""
    talk = [
        SystemMessage("sys"),
        UserMessage("one"),
        AssistantMessage("aaa" + LONG),
        UserMessage("two"),
        AssistantMessage("bbb" + LONG),
        UserMessage("new"),
        *turn("ccc"),
        *turn("ddd"),
    ]

    sent, dropped = fit(talk, 800)

    assert words(sent) == ["sys", "one", "new", "ddd", "xxxx"]
    assert dropped == len(talk) - 5


def test_a_turn_that_was_answered_by_a_question_may_go() -> None:
    """A question of now needs no answer of before: what remains is what stands before and it."""
    talk = [UserMessage("one"), AssistantMessage("aaa" + LONG), UserMessage("new")]

    assert words(fit(talk, 256)[0]) == ["one", "new"]


def test_the_newest_turn_stays_or_nothing_is_sent() -> None:
    """A turn whose answers the model has not read yet is never left out."""
    talk = [UserMessage("one"), *turn("aaa"), *turn("bbb")]

    assert words(fit(talk, 800)[0]) == ["one", "bbb", "xxxx"]
    assert fit(talk, 256) == (None, 0)


@pytest.mark.parametrize("text", ["ж" * 600, "語" * 400, "😀" * 300])
def test_other_scripts_take_more_of_the_room(text: str) -> None:
    """Tokens are estimated by bytes: 1,200 of them do not pass for 200 tokens."""
    assert fit([UserMessage(text)], 390)[0] is None


TEXTS = st.text(alphabet="x", max_size=900)
TURNS = st.tuples(st.builds(UserMessage, TEXTS)) | st.tuples(st.builds(AssistantMessage, TEXTS))


@settings(max_examples=200)
@given(
    parts=st.lists(TURNS | st.just(tuple(turn("ccc"))), min_size=1, max_size=9),
    tokens=st.integers(256, 1500),
)
def test_whatever_is_sent_is_whole(parts: list[tuple[Message, ...]], tokens: int) -> None:
    """Order, the beginning, the newest words and each call with its answer survive."""
    talk = [message for part in parts for message in part]
    sent, dropped = fit(talk, tokens)

    if sent is None:
        return
    assert dropped == len(talk) - len(sent)
    left = iter(talk)
    assert all(any(each is other for other in left) for each in sent)  # a part, in order
    users = [each for each in talk if isinstance(each, UserMessage)]
    assert not users or any(each is users[-1] for each in sent)
    calls = [call for each in sent if isinstance(each, AssistantMessage) for call in each.calls]
    assert [each.call for each in sent if isinstance(each, ToolMessage)] == calls
