from typing import Any

from plugins.conformance.broken_hosts import HOSTS
from toolseam_plugins.conformance import egress
from toolseam_plugins.conformance._egress import SINKS

PLACES = {
    *("data", "metadata", "artifact_table", "artifact_text", "artifact_label"),
    *("artifact_tree", "artifact_key_value", "artifact_code"),
    *("failure_metadata", "exception", "look_alike", "settings", "environment"),
}
NAMES = {"call_wire", "acall_wire", "rendered", "specifications", "shown", "log"}


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
