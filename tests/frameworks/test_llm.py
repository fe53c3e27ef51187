"""`llm`: text, sync and async models, and what its log keeps."""

import asyncio
from typing import Any

import llm
import pytest

from support.tools import ADA, Counted, CountedAsync, fine
from toolseam import Host, Session
from toolseam_plugins.interop import to_llm


class Scripted(llm.Model):
    """A model in the way of `llm`'s own tests: it asks, then says what it was told."""

    model_id = "scripted"
    supports_tools = True

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls = list(calls)

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Any:
        """Ask, then answer."""
        for number, (name, arguments) in enumerate(self.calls):
            response.add_tool_call(llm.ToolCall(name, arguments, f"c{number}"))
        self.calls = []
        yield "".join(each.output for each in prompt.tool_results)


def asked(session: Session, *calls: tuple[str, dict[str, Any]]) -> str:
    """Return what the model was told of its calls."""
    chain = Scripted(*calls).chain("q", tools=list(to_llm(session)))
    return str(chain.text())


@pytest.mark.parametrize("kind", [Counted, CountedAsync], ids=["sync", "async"])
def test_a_sync_model_gets_answers_of_both_kinds(kind: type[Counted]) -> None:
    """A tool that is awaited answers a model that is not."""
    assert asked(Host(tools=[kind(fine)]).session(actor=ADA), ("probe", {})) == "fine"


@pytest.mark.parametrize(
    "arguments",
    [{"m": 1}, {"text": 1}, {"text": "\ud83d"}, {"text": float("nan")}],
    ids=["unknown", "type", "surrogate", "nan"],
)
def test_bad_arguments_are_answered_by_code(arguments: dict[str, Any]) -> None:
    """`llm` judges no arguments, and puts no words of its own before the answer."""
    tool = Counted(fine, parameters={"properties": {"text": {"type": "string"}}})

    text = asked(Host(tools=[tool]).session(actor=ADA), ("probe", arguments))

    assert (tool.count, text[:25]) == (0, "Error (invalid_arguments)")


def test_tools_have_names_of_their_own() -> None:
    """Each tool says whose it is, and what its schema is."""
    session = Host(tools=[Counted(fine, name="one"), Counted(fine, name="two")]).session(actor=ADA)

    made = to_llm(session)

    assert [(each.name, each.plugin) for each in made] == [("one", "toolseam"), ("two", "toolseam")]
    assert made[0].input_schema == session.tools()[0].schema
    assert asyncio.run(made[0].implementation()) == "fine"  # type: ignore[misc]
