import asyncio
import threading
import types
from typing import Any

import pytest

from support.tools import ADA, BOB, Counted, fine, plugin, spec
from toolseam import Actor, Host, ToolResult, hookimpl
from toolseam._errors import LoadError, SettingsError


def test_an_empty_host_knows_no_tool() -> None:
    """Code that hands over nothing gets nothing: no entry point is looked for."""
    host = Host()

    assert host.tools() == ()
    assert host.records == ()
    assert host.discovery is None
    assert host.call("read_records").failure.code == "not_found"  # type: ignore[union-attr]


def test_tools_by_code_need_no_settings() -> None:
    """They are the operator's word: a write is enabled, and still needs approval."""
    host = Host(tools=[Counted(fine, effect="unknown")])

    assert host.call("probe", actor=ADA).failure.code == "approval_denied"  # type: ignore[union-attr]


def test_a_refused_plugin_raises_with_the_reason() -> None:
    """Code is told at once, nothing is half loaded."""
    with pytest.raises(LoadError, match="name an instance"):
        Host(tools=[Counted(fine), Counted])


@pytest.mark.parametrize(
    "settings", [{"nope": 1}, {"limits": {"threads": 0}}, {"limits": {"content_bytes": 60_000}}]
)
def test_a_bad_setting_raises(settings: dict[str, Any]) -> None:
    """Unknown keys, and limits that would be switched off or raised."""
    with pytest.raises(SettingsError):
        Host(settings=settings)


def test_without_an_actor_only_public_content_answers() -> None:
    """No actor is no permission; host code may act for itself (H40)."""
    host = Host(tools=[Counted(fine), Counted(fine, name="inner", data_class="editor_content")])

    assert host.call("probe").success
    assert host.call("inner").metadata["reason"] == "no_actor"
    assert host.call("inner", actor=Actor.system).success


@pytest.mark.parametrize("name", [None, "", " "])
def test_nobody_is_no_actor(name: Any) -> None:
    """A look-up that found nobody cannot be made an actor, who might then be permitted."""
    with pytest.raises(ValueError, match="has a name"):
        Actor(name)


def test_an_actor_has_a_name_that_encodes() -> None:
    """Half a surrogate pair would break every digest, and mending it would make another name."""
    with pytest.raises(ValueError, match="UTF-8"):
        Actor("caf\udce9")
    assert Actor("café 🚀").name == "café 🚀"


def test_only_an_actor_is_one() -> None:
    """A bare name would pass where no role is asked for."""
    name: Any = "ada"
    probe = Counted(fine, data_class="editor_content")
    host = Host(tools=[probe])

    with pytest.raises(TypeError, match="str, expected Actor or None"):
        host.call("probe", actor=name)
    with pytest.raises(TypeError, match="str, expected Actor or None"):
        host.session(actor=name)
    assert probe.count == 0


def test_the_hosts_own_calls_are_local() -> None:
    """The host's code may see everything that its actor may."""
    host = Host(tools=[Counted(fine, data_class="secret_adjacent")])

    assert host.call("probe", actor=ADA).success
    assert host.decide(host.tools()[0], actor=ADA, zone="local").allowed
    assert host.decide(host.tools()[0], actor=ADA, zone="external_eu").reason == "data_class"


def test_a_tool_can_be_looked_up() -> None:
    """By name or alias, or None."""
    host = Host(tools=[Counted(fine, aliases=("clear",))])

    assert host.tool("probe") is host.tool("clear") is host.tools()[0]
    assert host.tool("nope") is None


def opened(log: list[str]) -> Any:
    """Return a tool that opens something with the host."""

    def execute(arguments: object, context: Any) -> ToolResult:
        context.resource("x", lambda: types.SimpleNamespace(close=lambda: log.append("closed")))
        return fine()

    return plugin(execute)


def test_a_host_is_a_context_manager() -> None:
    """What was opened is closed once, however often the host is."""
    log: list[str] = []

    with Host(tools=[opened(log)]) as host:
        host.call("probe")
    host.close()

    assert log == ["closed"]


def test_a_host_is_an_async_context_manager() -> None:
    """The same with async with, also when the body raises."""
    log: list[str] = []

    async def main() -> None:
        async with Host(tools=[opened(log)]) as host:
            await host.acall("probe")
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(main())
    assert log == ["closed"]


def test_a_closed_host_still_answers_in_place() -> None:
    """Calls without a thread work, those that need one are unavailable."""
    host = Host(tools=[Counted(fine)])
    host.close()

    assert host.call("probe").success
    assert host.call("probe", timeout=1).failure.code == "unavailable"  # type: ignore[union-attr]


def test_two_hosts_live_side_by_side() -> None:
    """Withdrawals, steps and settings of one are nothing to the other."""
    tool = Counted(lambda: None, effect="unknown")
    one, other = Host(tools=[tool]), Host(tools=[tool])
    one.call("probe", actor=ADA, approval=one.approve(one.preview("probe", actor=ADA), actor=ADA))

    assert one.call("probe", actor=ADA).metadata["reason"] == "withdrawn"
    assert other.call("probe", actor=ADA).failure.code == "approval_denied"  # type: ignore[union-attr]
    assert (len(one.violations), len(other.violations)) == (1, 0)


def test_violations_are_told_in_order() -> None:
    """doctor lists who broke the contract, where and how."""
    host = Host(tools=[Counted(lambda: None), Counted(lambda: "x", name="other")])
    host.call("probe")
    host.call("other")

    assert [(v.tool, v.path, v.wrapper) for v in host.violations] == [
        ("probe", "$", None),
        ("other", "$", None),
    ]
    assert "NoneType" in host.violations[0].reason


def test_strict_finds_nothing_wrong_with_code() -> None:
    """strict is about what discovery found."""
    assert Host(tools=[Counted(fine)], settings={"strict": True}).call("probe").success


def test_eight_threads_share_a_host() -> None:
    """Calls, sessions and refusals at once: each is answered, each has its step."""
    tool = Counted(fine)
    host = Host(tools=[tool])
    wrong: list[object] = []
    sessions = [host.session(actor=BOB) for _ in range(8)]

    def work(i: int) -> None:
        for _ in range(100):
            if not sessions[i].call("probe").success or host.call("nope").success:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong
    assert tool.count == 800
    assert [len(s.steps) for s in sessions] == [100] * 8


def test_a_plugin_that_only_opens_may_call_the_host() -> None:
    """toolseam_open gets a host that is ready."""
    seen: list[str] = []
    opener = types.SimpleNamespace(
        toolseam_open=hookimpl(lambda host: seen.append(host.call("probe").content))
    )

    Host(tools=[Counted(fine)], plugins=[opener])

    assert seen == ["fine"]


def test_the_specification_is_what_a_session_hands_out() -> None:
    """The very object of the plugin, since nobody can change it."""
    told = spec()
    made = plugin(lambda arguments: fine())
    made.tool_spec = hookimpl(lambda: told)

    assert Host(tools=[made]).session().tools() == (told,)
