import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import pytest

from plugins.conformance.broken_hosts import HOSTS
from toolseam import Host
from toolseam_plugins.conformance import egress
from toolseam_plugins.conformance._egress import SINKS, _make

PLACES = {
    *("data", "metadata", "artifact_table", "artifact_text", "artifact_label"),
    *("artifact_tree", "artifact_key_value", "artifact_code"),
    *("failure_metadata", "exception", "look_alike", "settings", "environment"),
}
ADAPTERS = ("openai", "openai_responses", "anthropic", "google")
NAMES = {"call_wire", "acall_wire", "rendered", "specifications", "shown", "log", "run", *ADAPTERS}


def test_nothing_that_must_stay_leaves_the_host() -> None:
    """No canary comes out of any sink, and every sink is driven with every place."""
    cells = egress()

    assert {cell.place for cell in cells} == PLACES
    assert {cell.sink for cell in cells} == NAMES == set(SINKS)
    assert [cell for cell in cells if cell.hit] == []


def test_a_leak_is_found() -> None:
    """A host that tells the data is caught, at that sink and for that place alone."""
    hits = [(cell.sink, cell.place) for cell in egress(HOSTS["host-keeps-run-only"]) if cell.hit]

    assert hits == [("call_wire", "data")]


def test_every_sink_lets_something_out() -> None:
    """No sink is clean for want of traffic: each one, the log included, has something to say."""
    heard: dict[str, str | bytes] = {}

    def listening(name: str) -> Any:
        def sink(traffic: Any) -> str | bytes:
            heard[name] = SINKS[name](traffic)
            return heard[name]

        return sink

    egress(sinks={f"{name} again": listening(name) for name in SINKS})

    assert {name for name, said in heard.items() if said} == set(SINKS)


def test_a_further_sink_can_be_driven() -> None:
    """An adapter joins as one more way out, which is driven and looked through like the others."""

    def leaky(traffic: Any) -> bytes:
        step = traffic.session()
        step.call("fine")
        return str(step.steps[-1].metadata.value).encode()

    hits = {(cell.sink, cell.place) for cell in egress(sinks={"leaky": leaky}) if cell.hit}

    assert hits == {("leaky", "metadata")}


@pytest.mark.parametrize("name", ["run", *ADAPTERS])
def test_a_run_is_whole(name: str) -> None:
    """Every planted tool is told of, the one that waits for a person after he said yes."""
    heard: list[str] = []

    def listening(traffic: Any) -> str:
        said = SINKS[name](traffic)
        heard.append(said if isinstance(said, str) else said.decode())
        return said if isinstance(said, str) else said.decode()

    egress(sinks={"again": listening})

    (said,) = heard
    told = ("Error (conflict): It failed.", "Error (execution_error)", "Error (contract_error)")
    assert all(each in said for each in (*told, "Two secrets of", "fine"))
    assert "approval_denied" not in said
    assert "permission_denied" not in said


def overheard(tools: Sequence[Any]) -> tuple[Host, str]:
    """Return a host of the planted tools, and the data that one of them gives."""
    data: Any = tools[0].execute({}).data
    return _make(tools), json.dumps(data.value)


MUTANTS = {
    "openai": "_openai_chat",
    "openai_responses": "_openai_responses",
    "anthropic": "_anthropic_words",
    "google": "_google_words",
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_that_leaks_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that adds what it overheard to an answer is caught, at its sink alone."""
    room = import_module(f"toolseam_plugins.providers.{MUTANTS[name]}")
    honest, heard = room.spoken, [""]
    monkeypatch.setattr(room, "spoken", lambda text: f"{honest(text)} {heard[0]}")

    def make(tools: Sequence[Any]) -> Host:
        host, heard[0] = overheard(tools)
        return host

    hits = {(cell.sink, cell.place) for cell in egress(make) if cell.hit}

    assert hits == {(name, "data")}


def test_a_loop_that_leaks_is_found_at_every_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seam that issued the metadata with the text would be caught wherever a run is sent."""
    turns = import_module("toolseam._turns")
    issue = import_module("toolseam._render").issue
    honest = turns._message

    def message(run: Any, asked: Any, call: Any) -> Any:
        metadata = turns.step(call).metadata
        call.wire = issue(f"{call.wire} {None if metadata is None else metadata.value}")
        return honest(run, asked, call)

    monkeypatch.setattr(turns, "_message", message)

    hits = {(cell.sink, cell.place) for cell in egress() if cell.hit}

    assert {sink for sink, _ in hits} == {"run", *ADAPTERS}
    assert {place for _, place in hits} == {"metadata", "failure_metadata"}
