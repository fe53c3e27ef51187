"""What a provider answers, and what a host hands in, is plain JSON from the first moment on."""

import asyncio
import json
from typing import Any

import attrs
import pytest

from support.tools import ADA, plugin
from toolseam import Host, Step, ToolResult
from toolseam.providers import (
    AssistantMessage,
    Message,
    Reply,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from toolseam.runs import Decision, Run
from toolseam.testing import ScriptedProvider

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@attrs.define
class Tools:
    """Two tools that say what they were given: one reads, one writes."""

    said: list[str] = attrs.field(factory=list[str])

    def _say(self, name: str, **more: Any) -> Any:
        def say(arguments: Any) -> ToolResult:
            self.said.append(arguments["text"])
            return ToolResult.text("said")

        return plugin(say, name=name, parameters=TEXT, **more)

    def host(self) -> Host:
        """Return a host with both."""

        def preview(arguments: Any) -> ToolResult:
            return ToolResult.text("would say it")

        write = self._say("write", effect="idempotent_write", preview=preview)
        return Host(tools=[self._say("echo"), write], settings={"enable": ["write"]})


def statuses(run: Run) -> list[str]:
    """Say how the calls of a run came out."""
    return [each.status for each in run.steps if isinstance(each, Step)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "half \ud83d"},
        {"text": "x", "half \ud83d": 1},
        '{"text": "half \ud83d"}',
        {"text": 2**70},
        {"text": float("nan")},
        {"text": float("-inf")},
        {"text": json.loads("[" * 70 + "]" * 70)},
        '{"text": "x"',
    ],
)
def test_what_is_refused_stays_refused_after_a_wait(arguments: Any) -> None:
    """Arguments that JSON cannot say do not become others while their turn waits (P02, P14)."""
    tools = Tools()
    turn = [("echo", arguments), ("write", {"text": "y"})]
    provider = ScriptedProvider([("echo", arguments), turn, "done"])

    with tools.host() as host:
        run = host.session(actor=ADA).run(provider, "q")
        assert statuses(run) == ["invalid_arguments"]
        assert run.pending[0].refused == "invalid_arguments"
        yes = Decision.approve(run.pending[1], actor=ADA)
        ended = host.session().resume(run.id, [yes], provider)

    assert (statuses(ended), tools.said) == (["invalid_arguments", "ok"], ["y"])


@pytest.mark.parametrize("text", ["\U0001f680", "a \ufffd b", "ж", "\x00", 'quote " and \\'])
def test_honest_text_arrives_as_it_was(text: str) -> None:
    """A replacement character of the model's own, and any other text, is nothing to refuse."""
    tools = Tools()
    turn = [("echo", {"text": text}), ("write", {"text": "y"})]
    provider = ScriptedProvider([turn, "done"])

    with tools.host() as host:
        run = host.session(actor=ADA).run(provider, "q")
        yes = Decision.approve(run.pending[1], actor=ADA)
        host.session().resume(run.id, [yes], provider)

    assert tools.said == [text, "y"]


class Cyclic(dict[str, Any]):
    """A mapping that holds itself."""

    def __init__(self) -> None:
        super().__init__()
        self["self"] = self


@pytest.mark.parametrize(
    "reply",
    [
        Reply(None),  # type: ignore[arg-type]
        Reply(b"x"),  # type: ignore[arg-type]
        Reply(calls=[("echo", {})]),  # type: ignore[arg-type]
        Reply(calls=None),  # type: ignore[arg-type]
        Reply(calls=(ToolCall(None),)),  # type: ignore[arg-type]
        Reply(calls=(ToolCall("echo", {1: "x"}),)),  # type: ignore[dict-item]
        Reply(calls=(ToolCall("echo", {"text": object()}),)),
        Reply(calls=(ToolCall("echo", Cyclic()),)),
        Reply(calls=(ToolCall("echo", ["x"]),)),  # type: ignore[arg-type]
        Reply(calls=(ToolCall("echo", {}, 7),)),  # type: ignore[arg-type]
        Reply("x", usage=None),  # type: ignore[arg-type]
        Reply("x", finish="whenever"),  # type: ignore[arg-type]
        Reply("x", extra={"signature": b"x"}),
        Reply("x" * 5_000_000),
        Reply("x", thinking="x" * 5_000_000),
        Reply(calls=(ToolCall("echo", {"text": "x" * 5_000_000}),)),
    ],
    ids=lambda reply: repr(reply)[:60],
)
def test_what_is_no_sound_reply_ends_the_run(
    reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever else a provider returns is its failure, said in words of ours, and no crash."""
    with Tools().host() as host:
        run = host.session(actor=ADA).run(ScriptedProvider([reply]), "q")

    assert (run.status, run.reason, run.fault) == ("failed", "provider_failed", "unknown")
    assert run.messages == (UserMessage("q"),)
    assert [each.facts["finish"] for each in run.steps if each.kind == "llm"] == ["failed"]  # type: ignore[union-attr]
    assert "no sound reply" in caplog.text


@pytest.mark.parametrize("way", ["run", "astream"])
@pytest.mark.parametrize("error", [SystemExit(3), TimeoutError(), StopAsyncIteration()])
def test_a_provider_cannot_end_the_host(way: str, error: BaseException) -> None:
    """`sys.exit` in a provider is its failure, as in a tool, and the host goes on (P07)."""

    class Leaving:
        name = "leaving\nERROR root approved"

        async def complete(self, request: Any) -> Reply:
            raise error

    async def last(stream: Any) -> Any:
        return [each async for each in stream][-1]

    with Tools().host() as host:
        session = host.session(actor=ADA)
        if way == "run":
            run = session.run(Leaving(), "q")
        else:
            run = asyncio.run(last(session.astream(Leaving(), "q")))
        assert session.run(ScriptedProvider(["here"]), "q").answer == "here"

    assert (run.reason, run.fault) == ("provider_failed", "unknown")


def test_a_log_record_of_a_provider_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    """The name that a provider gives itself forges no second record."""

    class Named:
        name = "leaving\nERROR root approved"

        def complete(self, request: Any) -> Any:
            raise ValueError("x")

    with Tools().host() as host:
        host.session(actor=ADA).run(Named(), "q")

    (record,) = caplog.records
    assert record.getMessage().startswith("provider leaving")
    assert "\n" not in record.getMessage()


def test_words_of_a_model_encode() -> None:
    """Half of a surrogate pair in an answer is replaced before anybody prints it (P02)."""
    provider = ScriptedProvider([Reply("caf\udce9", (ToolCall("echo", {"text": "x"}),)), "\ud83d"])

    with Tools().host() as host:
        run = host.session(actor=ADA).run(provider, "which\udce9")

    assert run.answer == "\ufffd"
    assert [each.text for each in run.messages] == ["which\ufffd", "caf\ufffd", "said", "\ufffd"]


def test_tokens_are_numbers() -> None:
    """What counts towards a budget is a whole number, whatever the provider counts in."""
    provider = ScriptedProvider([Reply("x", usage=Usage(1.0, True))])  # type: ignore[arg-type]

    with Tools().host() as host:
        assert host.session().run(provider, "q").usage == Usage(1, 1)


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        (["hello"], TypeError),
        ([{"role": "user", "content": "hello"}], TypeError),
        ([UserMessage(None)], TypeError),  # type: ignore[arg-type]
        ([AssistantMessage("x", (), {"signature": b"x"})], TypeError),
        ([AssistantMessage("x", (ToolCall("echo", {"x": object()}),))], TypeError),
        ([UserMessage("x" * 5_000_000), SystemMessage("y" * 5_000_000)], ValueError),
    ],
    ids=["text", "dict", "none", "bytes", "object", "long"],
)
def test_what_is_handed_in_is_judged_before_anybody_is_asked(
    messages: list[Message], error: type[Exception]
) -> None:
    """A host hears at once of messages that no run can keep."""
    provider = ScriptedProvider(["never"])

    with Tools().host() as host, pytest.raises(error, match="messages"):
        host.session().run(provider, messages=messages)

    assert provider.requests == []


@pytest.mark.parametrize("options", [{"x": object()}, {"x": float("nan")}, {1: 2}])
def test_options_are_plain_json(options: Any) -> None:
    """What could not be kept while a run waits is refused when it begins."""
    with Tools().host() as host, pytest.raises(ValueError, match="options"):
        host.session().run(ScriptedProvider(["never"]), "q", options=options)


def test_a_whole_conversation_comes_back_as_it_was() -> None:
    """The messages of one run are those that the next one takes."""
    with Tools().host() as host:
        session = host.session(actor=ADA)
        first = session.run(ScriptedProvider([("echo", {"text": "x"}), "done"]), "q")
        more = [*first.messages, UserMessage("more")]
        second = session.run(ScriptedProvider(["yes"]), messages=more, mark=first.mark)

    assert second.messages[:-1] == tuple(more)
    assert any(isinstance(each, ToolMessage) for each in second.messages)
