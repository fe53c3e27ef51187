"""Rates: how often one actor may call a tool within a minute."""

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import ADA, BOB, fine, plugin
from toolseam import Actor, Host, ToolResult
from toolseam._errors import SettingsError
from toolseam._rates import Rates
from toolseam._settings import load_settings
from toolseam.testing import ScriptedProvider


def host_of(per_minute: dict[str, int]) -> Host:
    """Return a host with two tools and rates."""
    tools = [plugin(lambda arguments: fine(), name=name, group="shop") for name in ("one", "two")]
    return Host(tools=tools, settings={"limits": {"per_minute": per_minute}})


def codes(host: Host, name: str, times: int, actor: Actor = ADA) -> list[str]:
    """Call a tool and say how it went each time."""
    results = [host.call(name, {}, actor=actor) for _ in range(times)]
    return ["ok" if each.failure is None else each.failure.code.value for each in results]


def test_a_call_too_many_is_unavailable_and_does_not_run() -> None:
    """Beyond the rate the tool is not called; the answer says so and may be tried again."""
    ran: list[int] = []

    def count(arguments: Any) -> ToolResult:
        ran.append(1)
        return fine()

    settings = {"limits": {"per_minute": {"probe": 2}}}
    with Host(tools=[plugin(count)], settings=settings) as host:
        assert codes(host, "probe", 3) == ["ok", "ok", "unavailable"]
        refused = host.call("probe", {}, actor=ADA).failure

    assert len(ran) == 2
    assert refused is not None
    assert (refused.retriable, refused.metadata["reason"]) == (True, "rate")


def test_each_actor_has_a_rate_of_his_own() -> None:
    """What one actor has used up another one still has."""
    with host_of({"one": 1}) as host:
        assert codes(host, "one", 2) == ["ok", "unavailable"]
        assert codes(host, "one", 1, BOB) == ["ok"]
        assert codes(host, "two", 3) == ["ok"] * 3


@pytest.mark.parametrize("rule", ["group:shop", "*"])
def test_a_rule_for_many_counts_them_together(rule: str) -> None:
    """The calls of a group, or of every tool, use up one rate."""
    with host_of({rule: 2}) as host:
        assert codes(host, "one", 1) + codes(host, "two", 2) == ["ok", "ok", "unavailable"]


def test_a_minute_later_there_is_room() -> None:
    """The window moves: what is a minute old counts no more."""
    now = [0.0]
    rates = Rates({"one": 2}, clock=lambda: now[0])
    tool: Any = type("Tool", (), {"name": "one", "spec": type("Spec", (), {"group": ""})})

    found = []
    for moment in (0, 30, 59, 60, 61, 90, 91):
        now[0] = moment
        found.append(rates.take(tool, ADA))

    assert found == [None, None, 2, None, 2, None, 2]


def test_to_look_is_no_call() -> None:
    """A preview counts nothing, so what it was made for still runs."""

    def preview(arguments: Any, context: Any) -> ToolResult:
        return fine()

    write = plugin(lambda arguments: fine(), preview=preview, effect="idempotent_write")
    settings = {"limits": {"per_minute": {"probe": 1}}}
    with Host(tools=[write], settings=settings) as host:
        run = host.session(actor=ADA).run(ScriptedProvider([("probe", {}), "done"]), "q")
        assert run.pending[0].refused is None
        approval = host.approve(host.preview("probe", {}, actor=ADA), actor=ADA)
        assert host.call("probe", {}, actor=ADA, approval=approval).failure is None


def test_threads_share_one_rate() -> None:
    """Of a hundred calls in eight threads as many run as the rate allows."""
    with host_of({"one": 10}) as host:
        found: list[str] = []

        def work() -> None:
            found.extend(codes(host, "one", 12))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert found.count("ok") == 10


@given(
    st.dictionaries(st.sampled_from("ab*"), st.integers(1, 9)),
    st.dictionaries(st.sampled_from("ab*"), st.integers(1, 9)),
)
def test_a_workspace_only_narrows(operator: dict[str, int], workspace: dict[str, int]) -> None:
    """Whatever a workspace says of rates, each is the operator's or smaller, or an error."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        folder, config = Path(place) / "work", Path(place) / "config.toml"
        folder.mkdir()
        for file, rates in ((folder / "toolseam.toml", workspace), (config, operator)):
            lines = "".join(f'"{name}" = {rate}\n' for name, rate in rates.items())
            file.write_text(f"[limits.per_minute]\n{lines}")
        try:
            joined = load_settings(folder, operator_file=config).limits.per_minute
        except SettingsError:
            assert any(rate > operator.get(name, rate) for name, rate in workspace.items())
        else:
            assert all(joined[name] <= rate for name, rate in operator.items())
            assert all(joined[name] <= rate for name, rate in workspace.items())
