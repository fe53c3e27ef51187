"""A loop of the host's own: tools in the words of an API, and calls under the names given out."""

import asyncio
import re
from typing import Any

import pytest

from support.tools import ADA, BOB, plugin
from toolseam import Host, ToolResult
from toolseam import _lowering as lowering
from toolseam._lowering import Dialect
from toolseam._lowering._names import NameRule

LONG = "count_all_the_records_of_a_table"


def say(arguments: Any) -> ToolResult:
    """Say something."""
    return ToolResult.text("said")


def names(tools: list[dict[str, Any]]) -> list[str]:
    """Return what each tool is called in the words of any API."""
    return [tool.get("function", tool)["name"] for tool in tools]


@pytest.fixture
def short_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a dialect whose names are short, as our own names fit all that there are."""
    rule = NameRule(re.compile(r"[A-Za-z0-9_-]{1,20}"), 20)
    monkeypatch.setitem(lowering._NAMES, Dialect.OPENAI, rule)


@pytest.mark.parametrize("dialect", Dialect)
def test_what_is_offered_is_what_is_told(dialect: str) -> None:
    """Only tools that the gate lets through are told, in every dialect."""
    tools = [plugin(say, name="echo"), plugin(say, name="hidden", requires_admin=True)]

    with Host(tools=tools) as host:
        assert names(host.session(actor=BOB).schemas(dialect)) == ["echo"]
        assert names(host.session(actor=ADA).schemas(dialect)) == ["echo", "hidden"]
        assert host.session(actor=ADA, tools=[]).schemas(dialect) == []


def test_what_is_given_out_is_a_copy() -> None:
    """A host that changes its list changes nobody else's."""
    with Host(tools=[plugin(say, name="echo")]) as host:
        session = host.session(actor=ADA)
        session.schemas("openai")[0]["function"]["name"] = "changed"

        assert names(session.schemas("openai")) == ["echo"]


def test_an_unknown_dialect_is_a_value_error() -> None:
    """A misspelt dialect names nothing."""
    with Host() as host, pytest.raises(ValueError, match="openia"):
        host.session(actor=ADA).schemas("openia")


@pytest.mark.usefixtures("short_names")
def test_a_call_under_a_name_that_was_given_out_reaches_its_tool() -> None:
    """The step shows the tool's own name and the provider's, sync and async (P13)."""
    with Host(tools=[plugin(say, name=LONG)]) as host:
        session = host.session(actor=ADA)
        (name,) = names(session.schemas("openai"))
        text, step = session.call_wire(name)
        _, again = asyncio.run(session.acall_wire(name))

    assert name != LONG
    assert len(name) <= 20
    assert (str(text), step.status) == ("said", "ok")
    assert [(each.tool, each.alias) for each in (step, again)] == [(LONG, name)] * 2


@pytest.mark.usefixtures("short_names")
def test_a_name_that_was_not_given_out_here_is_nobodys() -> None:
    """Another session's names are no names of this one; the tool's own always is."""
    with Host(tools=[plugin(say, name=LONG)]) as host:
        (name,) = names(host.session(actor=ADA).schemas("openai"))
        session = host.session(actor=ADA)
        _, unknown = session.call_wire(name)
        _, own = session.call_wire(LONG)

    assert unknown.status == "not_found"
    assert (own.status, own.alias) == ("ok", None)


@pytest.mark.usefixtures("short_names")
@pytest.mark.parametrize("name", [None, 3, ["echo"], {}])
def test_what_is_no_name_is_refused_as_before(name: Any) -> None:
    """Whatever a model's SDK hands over as a name, the answer is a refusal."""
    with Host(tools=[plugin(say, name=LONG)]) as host:
        session = host.session(actor=ADA)
        session.schemas("openai")
        _, step = session.call_wire(name)

    assert step.status == "not_found"
