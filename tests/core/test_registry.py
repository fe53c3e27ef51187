import builtins
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.tools import ADA, Counted, fine, plugin, spec
from toolseam import Host, ToolResult, hookimpl
from toolseam._entrypoints import Record
from toolseam._errors import LoadError, SettingsError
from toolseam._registry import Given, Registry


def test_two_tools_of_one_name_are_refused() -> None:
    """Code that hands over both is told which name it is."""
    with pytest.raises(LoadError, match="'probe'"):
        Host(tools=[Counted(fine), Counted(fine)])


def test_the_same_object_twice_is_one_tool() -> None:
    """Benign: nothing differs."""
    tool = Counted(fine)

    assert len(Host(tools=[tool, tool]).tools()) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"name": "a", "aliases": ("b",)}, {"name": "b"}),
        ({"name": "b"}, {"name": "a", "aliases": ("b",)}),
        ({"name": "a", "aliases": ("x",)}, {"name": "b", "aliases": ("x",)}),
    ],
)
def test_an_alias_that_is_anothers_name_is_refused(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Neither a name nor an alias can be taken twice (H22)."""
    with pytest.raises(LoadError, match="alias"):
        Host(tools=[Counted(fine, **first), Counted(fine, **second)])


def test_tools_stand_in_the_order_of_their_names() -> None:
    """Listing is stable, whatever the order in which they came."""
    host = Host(tools=[Counted(fine, name=name) for name in ("c", "a", "b")])

    assert [tool.name for tool in host.tools()] == ["a", "b", "c"]


def making(*tools: Any, error: BaseException | None = None, **hooks: Any) -> Any:
    """Return a host plugin that makes tools at run time, and may fail half-way."""

    def make(settings: Any) -> Any:
        yield from tools
        if error is not None:
            raise error

    return types.SimpleNamespace(
        toolseam_tools=hookimpl(lambda settings: make(settings)),
        **{name: hookimpl(hook) for name, hook in hooks.items()},
    )


def test_a_host_plugin_makes_tools() -> None:
    """They are called like all others, and come under the name of their maker."""
    host = Host(plugins=[making(Counted(fine), Counted(fine, name="other"))])

    assert host.call("probe").success
    assert [tool.name for tool in host.tools()] == ["other", "probe"]


class Source:
    """A source of tools that remembers what it is told."""

    def __init__(self, *tools: Any, error: BaseException | None = None) -> None:
        self.tools = tools
        self.error = error
        self.told: list[Any] = []

    def __iter__(self) -> Iterator[object]:
        yield from self.tools

    def refused(self, tool: object, reason: str) -> None:
        """Remember it."""
        self.told.append((tool, reason))

    def health(self) -> Iterator[tuple[str, str, str]]:
        """Say that all is well."""
        yield "depot", "ok", f"{len(self.tools)} tools"

    def close(self) -> None:
        """Remember it, and fail if that is wanted."""
        self.told.append("closed")
        if self.error is not None:
            raise self.error


def giving(source: Source, **hooks: Any) -> Any:
    """Return a host plugin that gives a source."""
    return types.SimpleNamespace(
        toolseam_tools=hookimpl(lambda: source),
        **{name: hookimpl(hook) for name, hook in hooks.items()},
    )


def test_of_a_source_each_sound_tool_is_taken() -> None:
    """One that is refused is told to it, and takes no other with it."""
    twin, odd = Counted(fine), object()
    source = Source(Counted(fine), twin, odd, Counted(fine, name="other"))

    with Host(plugins=[giving(source)]) as host:
        assert [tool.name for tool in host.tools()] == ["other", "probe"]
        assert host.health() == (("depot", "ok", "4 tools"),)
        assert [tool for tool, _ in source.told] == [twin, odd]
        assert "'probe'" in source.told[0][1]

    assert source.told[-1] == "closed"


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(3)])
def test_a_source_that_does_not_end_well_stops_no_other(error: BaseException) -> None:
    """All of them are closed, whatever one raises."""
    first, second = Source(error=error), Source()

    Host(plugins=[giving(first), giving(second)]).close()

    assert (first.told, second.told) == (["closed"], ["closed"])


def test_a_start_that_fails_closes_what_was_given() -> None:
    """No server stays behind of a host that never was."""

    def refuse(host: Host) -> None:
        raise RuntimeError("no store")

    source = Source(Counted(fine))

    with pytest.raises(RuntimeError, match="no store"):
        Host(plugins=[giving(source, toolseam_run_store=refuse)])
    assert source.told == ["closed"]


def test_a_source_beside_a_plugin_that_fails_is_closed() -> None:
    """Whoever of them came first."""

    def fail() -> Any:
        raise RuntimeError("no tools")

    source = Source(Counted(fine))

    with pytest.raises(RuntimeError, match="no tools"):
        Host(plugins=[giving(source), types.SimpleNamespace(toolseam_tools=hookimpl(fail))])
    with pytest.raises(RuntimeError, match="no tools"):
        Host(plugins=[types.SimpleNamespace(toolseam_tools=hookimpl(fail)), giving(source)])
    assert "closed" in source.told


def test_a_source_that_cannot_say_how_it_stands_is_told_of() -> None:
    """The others say it all the same."""
    ill = Source()
    ill.health = lambda: iter([1 / 0])  # type: ignore[assignment,method-assign,list-item]

    with Host(plugins=[giving(Source()), giving(ill)]) as host:
        found = host.health()

    assert set(found) == {
        ("depot", "ok", "0 tools"),
        ("Source", "fault", "health raised ZeroDivisionError"),
    }


def test_a_maker_is_given_the_operators_settings() -> None:
    """The second parameter is optional too."""
    seen: list[Any] = []

    def make(settings: Any, operator: Any) -> list[object]:
        seen.append((settings, operator))
        return []

    maker = types.SimpleNamespace(toolseam_tools=hookimpl(make))

    Host(plugins=[maker], settings={"enable": ["probe"], "plugins": {"host code": {"a": 1}}})

    assert [(own, his.enable) for own, his in seen] == [({"a": 1}, ("probe",))]


def test_a_maker_may_name_no_settings() -> None:
    """The parameter is optional, like every parameter of a hook."""
    maker = types.SimpleNamespace(toolseam_tools=hookimpl(lambda: [Counted(fine)]))

    assert Host(plugins=[maker]).call("probe").success


def test_what_a_plugin_makes_is_not_enabled_by_that() -> None:
    """A write that was made at run time waits for the operator's word; one by code has it."""
    write = Counted(fine, effect="unknown")

    made = Host(plugins=[making(write)]).call("probe", actor=ADA)
    given = Host(tools=[write]).call("probe", actor=ADA)
    enabled = Host(plugins=[making(write)], settings={"enable": ["probe"]})

    assert made.metadata["reason"] == "disabled"
    assert given.failure.code == "approval_denied"  # type: ignore[union-attr]
    assert enabled.call("probe", actor=ADA).failure.code == "approval_denied"  # type: ignore[union-attr]


@pytest.mark.parametrize("error", [KeyError("CAN"), LoadError("no"), SystemExit(3)])
def test_a_maker_given_by_code_that_fails_is_the_codes_error(error: BaseException) -> None:
    """The caller of Host sees what went wrong."""
    with pytest.raises(type(error)):
        Host(plugins=[making(Counted(fine), error=error)])


def test_a_bad_tool_of_a_maker_is_an_error_with_its_reason() -> None:
    """What a maker gives is verified like every tool."""
    with pytest.raises(LoadError, match="name an instance"):
        Host(plugins=[making(Counted(fine), Counted)])


@pytest.mark.parametrize("where", ["description", "schema"])
def test_a_specification_that_holds_a_secret_is_refused(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What every provider would be told may hold no secret's shape and no secret's value (H13)."""
    monkeypatch.setenv("ACME_API_KEY", "correct-horse-battery")
    monkeypatch.setenv("ACME_TOKEN", 'say "horse\\battery"')
    monkeypatch.setenv("ACME_NAME", "harmless-value")

    def made(text: str) -> Counted:
        if where == "description":
            return Counted(fine, description=f"Uses {text}.")
        schema = {"properties": {"a": {"type": "string", "default": text}}}
        return Counted(fine, parameters=schema)

    shaped = "sk-proj-" + "a1B2" * 10
    for secret in (shaped, "correct-horse-battery", 'say "horse\\battery"'):
        with pytest.raises(LoadError, match=r"secret|sensitive") as error:
            Host(tools=[made(secret)])
        assert secret not in str(error.value)
    assert Host(tools=[made("harmless-value")]).tools()


def test_eight_threads_load_and_call() -> None:
    """Each tool is bound once, and every call is answered."""
    asked: list[str] = []

    def module(name: str) -> Any:
        def describe() -> Any:
            asked.append(name)
            return spec(name)

        return types.SimpleNamespace(
            tool_spec=hookimpl(describe),
            execute=hookimpl(lambda arguments: ToolResult.text(name)),
        )

    names = [f"t{i}" for i in range(20)]
    host = Host(tools=[module(name) for name in names])
    wrong: list[str] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        for _ in range(20):
            for name in names:
                if host.call(name).content != name:
                    wrong.append(name)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong
    assert sorted(asked) == sorted(names)


@attrs.frozen
class Odd:
    """Settings that cannot say how delicate the tool's answers are."""

    def data_class_of(self, tool: object) -> str:
        """Fail."""
        raise ZeroDivisionError


def test_settings_that_fail_to_name_a_class_are_the_codes_error() -> None:
    """A tool whose class is not known is never bound with a lower one."""
    with pytest.raises(ZeroDivisionError):
        Host(tools=[plugin(lambda arguments: fine(), settings=Odd)])


# -- records: what discovery found -------------------------------------------------------------

GOOD = """
from toolseam import ToolResult, ToolSpec, hookimpl

@hookimpl
def tool_spec():
    return ToolSpec(name={name!r}, description="A probe.", effect="read_only",
                    data_class="public_content", aliases={aliases!r})

@hookimpl
def execute(arguments):
    return ToolResult.text({name!r})
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, whose modules are forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def found(site: Path, name: str, code: str | None = None, aliases: tuple[str, ...] = ()) -> Record:
    """Write a module and return the record of its entry point."""
    module = f"acme_{name}"
    text = GOOD.format(name=name, aliases=aliases) if code is None else code
    (site / f"{module}.py").write_text(text)
    return Record(
        kind="tool",
        name=name,
        value=module,
        distribution="acme",
        version="2.1",
        location=str(site),
    )


def registry(*records: Record, strengthen: Any = lambda tool: None) -> Registry:
    """Return a registry of records."""
    return Registry(records, (), strengthen)


def test_nothing_is_imported_before_it_is_wanted(site: Path) -> None:
    """A call loads its own tool and leaves the others alone."""
    made = registry(found(site, "one"), found(site, "two"))
    assert "acme_one" not in sys.modules

    tool = made.get("one")

    assert tool is not None
    assert (tool.name, tool.distribution, tool.version) == ("one", "acme", "2.1")
    assert "acme_two" not in sys.modules
    assert [record.status for record in made.records] == ["ready", "found"]


def test_an_alias_loads_what_has_it(site: Path) -> None:
    """It is known only once its tool is, so everything is loaded for it."""
    made = registry(found(site, "one", aliases=("uno",)), found(site, "two"))

    assert made.get("uno") is made.get("one")
    assert made.get("nothing") is None


BROKEN = {
    "import": ("raise KeyError", "import_failed"),
    "hooks": ("x = 1", "refused"),
    "name": (GOOD.format(name="other", aliases=()), "refused"),
    "alias": (GOOD.format(name="bad", aliases=("good",)), "refused"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_a_record_with_a_reason(site: Path, kind: str) -> None:
    """It has no tool, it stops nobody else, and it is tried once."""
    code, reason = BROKEN[kind]
    made = registry(found(site, "bad", code), found(site, "good"))

    assert made.get("bad") is None
    assert made.get("bad") is None
    assert [tool.name for tool in made.tools()] == ["good"]
    (bad,) = [record for record in made.records if record.name == "bad"]
    assert (bad.status, bad.reason) == ("broken", reason)
    assert bad.detail


@pytest.mark.parametrize("error", [SettingsError("no such key"), ZeroDivisionError()])
def test_settings_that_are_refused_break_the_tool_alone(site: Path, error: Exception) -> None:
    """What cannot be made as strict as the settings want it is never bound."""

    def strengthen(tool: Any) -> None:
        if tool.name == "bad":
            raise error

    made = registry(found(site, "bad"), found(site, "good"), strengthen=strengthen)

    assert [tool.name for tool in made.tools()] == ["good"]
    assert (made.records[0].status, made.records[0].reason) == ("broken", "settings")


def test_a_tool_by_code_never_shadows_a_found_one(site: Path) -> None:
    """The same name from both sides is refused."""
    with pytest.raises(LoadError, match="'one'"):
        Registry(
            [found(site, "one")],
            [Given(Counted(fine, name="one"), "host code", "")],
            lambda tool: None,
        )


def test_eight_threads_load_each_tool_once(site: Path) -> None:
    """Whoever comes first loads, and all get the same tool."""
    counting = "import builtins\nbuiltins.acme_loads = getattr(builtins, 'acme_loads', 0) + 1\n"
    names = [f"t{i}" for i in range(6)]
    records = [found(site, n, counting + GOOD.format(name=n, aliases=())) for n in names]
    made = registry(*records)
    barrier = threading.Barrier(8)
    got: list[tuple[int, ...]] = []

    def work(turn: int) -> None:
        barrier.wait()
        order = names[turn % 6 :] + names[: turn % 6]
        tools = {name: made.get(name) for name in order}
        got.append(tuple(id(tools[name]) for name in names))

    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert vars(builtins)["acme_loads"] == 6
    finally:
        vars(builtins).pop("acme_loads", None)

    assert len(set(got)) == 1
    assert {record.status for record in made.records} == {"ready"}
