import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

import pytest

from plugins.conformance.broken_hosts import HOSTS, Conversation, Talking
from plugins.conformance.leaks import LEAKS
from toolseam import Actor, Host, hookimpl
from toolseam_plugins.conformance import egress
from toolseam_plugins.conformance._egress import HOST_SINKS, SINKS
from toolseam_plugins.conformance._egress_traffic import make_host, planted

PLACES = set(LEAKS)
ADAPTERS = ("openai", "openai_responses", "anthropic", "google")
SERVERS = ("mcp_stdio", "mcp_http")
TELLING = ("call_wire", "acall_wire", "rendered", "run", *ADAPTERS, *SERVERS, "mcp_mount")
NAMES = {*TELLING, "specifications", "shown", "log", "otel"}


def found(*names: str, make: Any = None) -> set[tuple[str, str]]:
    """Return the sinks, of those named, and the places where a canary came out."""
    return {(cell.sink, cell.place) for cell in egress(make, names=names) if cell.hit}


def heard(name: str) -> bytes:
    """Return what a sink hears, and look whether it hears the answer of a tool."""
    with planted(make_host) as traffic:
        said = SINKS[name](traffic)
        assert traffic.told.is_in(said) is (name in TELLING)
    return said.encode() if isinstance(said, str) else said


def test_nothing_that_must_stay_leaves_the_host() -> None:
    """No canary comes out of any sink, and every sink is driven with every place."""
    cells = egress()

    assert {cell.place for cell in cells} == PLACES
    assert {cell.sink for cell in cells} == set(SINKS) >= NAMES
    assert [cell for cell in cells if cell.hit] == []


def test_a_leak_is_found() -> None:
    """A host that tells the data is caught, at that sink and for that place alone."""
    assert found(*HOST_SINKS, make=HOSTS["host-keeps-run-only"]) == {("call_wire", "data")}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_sink_lets_something_out(name: str) -> None:
    """No sink is clean for want of traffic: what a provider is to be told is heard there."""
    assert heard(name)


def test_a_further_sink_can_be_driven() -> None:
    """An adapter joins as one more way out, which is driven and looked through like the others."""

    def leaky(traffic: Any) -> bytes:
        step = traffic.session()
        step.call("fine")
        return str(step.steps[-1].metadata.value).encode()

    cells = egress(sinks={"leaky": leaky}, names=())

    assert {(cell.sink, cell.place) for cell in cells if cell.hit} == {("leaky", "metadata")}


class Overhearing:
    """A host plugin around every call, which keeps what its context shows of settings."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    @hookimpl(wrapper=True)
    def execute(self, context: Any) -> Iterator[None]:
        """Keep the settings, and let the call go on."""
        self.heard.append(repr(context.settings))
        return (yield)


def of_the_host(traffic: Any) -> str:
    """Tell all settings of the operator."""
    return repr(traffic.host.settings)


def of_the_call(traffic: Any) -> str:
    """Tell what each tool is given of them."""
    around = Overhearing()
    with traffic.elsewhere(around).host as host:
        for name in traffic.names:
            host.session(actor=Actor.system).call(name)
    return "".join(around.heard)


@pytest.mark.parametrize("sink", [of_the_host, of_the_call])
def test_settings_that_leak_are_found(sink: Any) -> None:
    """The settings of host and call hold their canary, so a way out that tells either is caught."""
    cells = egress(sinks={"leaky": sink}, names=())

    assert {cell.place for cell in cells if cell.hit} == {"settings"}


def test_settings_are_planted_in_a_host_of_somebody_else() -> None:
    """A host that is given the tools alone holds the canary of their settings too."""

    def make(tools: Sequence[Any]) -> Host:
        return Host(tools=tools)

    cells = egress(make, {"leaky": of_the_call}, names=())

    assert {cell.place for cell in cells if cell.hit} == {"settings"}


def test_a_sink_that_cannot_be_driven_is_no_pass() -> None:
    """What was promised and cannot run fails, and is not left out."""

    def broken(traffic: Any) -> bytes:
        raise TimeoutError("no answer")

    with pytest.raises(TimeoutError):
        egress(sinks={"broken": broken}, names=())


class Silent(Conversation):
    """A session that calls its tools and tells nobody what they say."""

    def call_wire(self, name: str, *given: Any, **more: Any) -> Any:
        """Call the tool, and keep its answer."""
        _, step = self.inner.call_wire(name, *given, **more)
        return "", step


class Muted(Talking):
    """A host of such sessions."""

    kind = Silent


def test_a_host_that_tells_nothing_is_no_pass() -> None:
    """Where what a tool says is not heard, that nothing else came out proves nothing."""
    make: Any = Muted

    with pytest.raises(AssertionError, match="call_wire"):
        egress(make, names=["call_wire"])


def test_an_adapter_that_tells_nothing_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A way out that asked for every tool and sends none of their answers fails by name."""
    room = import_module(f"toolseam_plugins.providers.{MUTANTS['openai']}")
    monkeypatch.setattr(room, "spoken", lambda text: "")

    with pytest.raises(AssertionError, match="openai"):
        egress(names=["openai"])


def test_a_further_sink_that_hears_nothing_is_no_pass() -> None:
    """Of a way out of somebody else at least something is heard."""
    with pytest.raises(AssertionError, match="mute"):
        egress(sinks={"mute": lambda traffic: b""}, names=())


@pytest.mark.parametrize("name", ["run", *ADAPTERS])
def test_a_run_is_whole(name: str) -> None:
    """Every planted tool is told of, the one that waits for a person after he said yes."""
    said = heard(name).decode()

    told = ("Error (conflict): It failed.", "Error (execution_error)", "Error (contract_error)")
    assert all(each in said for each in (*told, "Two secrets of", "fine"))
    assert "approval_denied" not in said
    assert "permission_denied" not in said


@pytest.mark.parametrize("name", SERVERS)
def test_a_client_of_mcp_hears_every_outcome(name: str) -> None:
    """The list, each failure with its code, and the answers are in the bytes of a client."""
    said = heard(name).decode()

    codes = {"conflict", "execution_error", "contract_error", "invalid_arguments", "not_found"}
    assert all(f'"toolseam/code":"{code}"' in said.replace(" ", "") for code in codes)
    assert "A tool of the egress proof." in said


def test_a_mounted_server_hears_its_arguments_alone() -> None:
    """Of all that a process holds, a child is given three variables and the call."""
    said = heard("mcp_mount").decode()

    assert '"word": "see"' in said or '"word":"see"' in said
    assert "LD_LIBRARY" not in said
    assert '"PATH": ' in said


@pytest.mark.parametrize("where", ["structured", "meta", "block"])
@pytest.mark.parametrize("place", LEAKS)
def test_a_server_that_leaks_is_found(
    place: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of MCP that hands out any place in any slot is caught over pipes and HTTP."""
    peer = import_module("toolseam_plugins.mcp._server_peer").Peer
    honest = peer._answer

    def answer(self: Any, session: Any, wire: Any, step: Any) -> Any:
        made, leak = honest(self, session, wire, step), LEAKS[place](session, step)
        if where == "structured":
            return {**made, "structuredContent": {"x": leak}}
        if where == "meta":
            return {**made, "_meta": {**made.get("_meta", {}), "x": leak}}
        return {**made, "content": [*made["content"], {"type": "text", "text": leak}]}

    monkeypatch.setattr(peer, "_answer", answer)
    names = SERVERS if where == "meta" else SERVERS[:1]

    assert {(name, place) for name in names} <= found(*names)


def test_a_mount_that_leaks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount that lends its child the whole environment is caught."""
    stdio = import_module("toolseam_plugins.mcp._client_stdio")
    mount = import_module("toolseam_plugins.mcp._mount")
    monkeypatch.setattr(mount, "environment", lambda named: dict(stdio.os.environ))

    assert found("mcp_mount") == {("mcp_mount", "environment")}


@pytest.mark.parametrize("kept", ["data", "metadata"])
def test_a_mounts_answer_that_leaks_is_found(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount that tells what its server put beside the text is caught."""
    results = import_module("toolseam_plugins.mcp._mount_tools")
    honest = results.result_of
    key = "structuredContent" if kept == "data" else "_meta"

    def result_of(raw: Any, *more: Any) -> Any:
        block = {"type": "text", "text": json.dumps(raw[key])}
        return honest({**raw, "content": [*raw["content"], block]}, *more)

    monkeypatch.setattr(results, "result_of", result_of)

    assert found("mcp_mount") == {("mcp_mount", kept)}


@pytest.mark.parametrize("place", ["data", "metadata", "failure_metadata", "artifact_tree"])
def test_telemetry_that_leaks_is_found(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A span with a word of a result is caught where it is exported."""
    telemetry = import_module("toolseam_plugins.otel._telemetry")
    honest = telemetry.facts_of

    def facts_of(step: Any, *, ran: bool) -> Any:
        return {**honest(step, ran=ran), "x": LEAKS[place](cast("Any", None), step)}

    monkeypatch.setattr(telemetry, "facts_of", facts_of)

    assert found("otel") == {("otel", place)}


def test_telemetry_that_tells_settings_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A span with what the tool is set to is caught."""
    telemetry = import_module("toolseam_plugins.otel._telemetry")

    @contextmanager
    def inside(self: Any, context: Any) -> Iterator[None]:
        with self._tracer.start_as_current_span(f"{context.settings}"):
            yield

    monkeypatch.setattr(telemetry.Telemetry, "_inside", inside)

    assert found("otel") == {("otel", "settings"), ("otel", "exception")}


def test_telemetry_that_records_exceptions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A span that keeps what a tool raised as an event, as the API's own way does, is caught."""
    telemetry = import_module("toolseam_plugins.otel._telemetry")

    @contextmanager
    def inside(self: Any, context: Any) -> Iterator[None]:
        with self._tracer.start_as_current_span(context.tool.name):
            yield

    monkeypatch.setattr(telemetry.Telemetry, "_inside", inside)

    assert found("otel") == {("otel", "exception")}


def overheard(tools: Sequence[Any]) -> tuple[Host, str]:
    """Return a host of the planted tools, and the data that one of them gives."""
    data: Any = tools[0].execute({}).data
    return make_host(tools), json.dumps(data.value)


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
    honest, said = room.spoken, [""]
    monkeypatch.setattr(room, "spoken", lambda text: f"{honest(text)} {said[0]}")

    def make(tools: Sequence[Any]) -> Host:
        host, said[0] = overheard(tools)
        return host

    assert found("run", *ADAPTERS, make=make) == {(name, "data")}


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

    hits = found("run", "call_wire", *ADAPTERS)

    assert {sink for sink, _ in hits} == {"run", *ADAPTERS}
    assert {place for _, place in hits} == {"metadata", "failure_metadata"}
