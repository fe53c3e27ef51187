"""`Host.load`: installed plugins, in one process with the test."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.dist_info import write_dist
from support.tools import ADA, Counted, fine
from toolseam import Host
from toolseam._errors import LoadError, SettingsError
from toolseam._settings_files import operator_folder

TOOL = """
from toolseam import ToolResult, ToolSpec, hookimpl

@hookimpl
def tool_spec():
    return ToolSpec(name="greet", description="Greets.", effect="read_only",
                    data_class="public_content")

@hookimpl
def execute(arguments):
    return ToolResult.text("hello")
"""

PLUGIN = """
from toolseam import ToolResult, hookimpl, tool

def make(name):
    @tool(effect="read_only", data_class="public_content", name=name)
    def made() -> ToolResult:
        '''Made at run time.'''
        return ToolResult.text(name)
    return made

@hookimpl
def toolseam_tools(settings):
    for name in settings["names"]:
        if name == "boom":
            raise KeyError(name)
        yield make(name)

@hookimpl(wrapper=True)
def execute():
    result = yield
    return ToolResult.text(result.content + "!") if result.success else result
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with two distributions, whose modules are forgotten afterwards."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    (place / "acme_greet.py").write_text(TOOL)
    write_dist(place, "acme_greet", points="[toolseam.tools]\ngreet = acme_greet\n")
    (place / "acme_many.py").write_text(PLUGIN)
    write_dist(place, "acme_many", points="[toolseam.plugins]\nmany = acme_many\n")
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def load(folder: Path, *trust: str, **more: Any) -> Host:
    """Load a host for the workspace."""
    return Host.load(folder, trust=trust, **more)


def status(host: Host, name: str) -> tuple[str, str]:
    """Return status and detail of a record."""
    (record,) = [r for r in host.records if r.name == name]
    return record.status, record.detail


def test_a_trusted_distribution_brings_its_tool(site: Path, folder: Path) -> None:
    """Nothing is imported before the first call, and the step names where it came from."""
    host = load(folder, "acme-greet")
    assert "acme_greet" not in sys.modules

    assert host.call("greet").content == "hello"
    assert (host.steps[-1].distribution, host.steps[-1].version) == ("acme-greet", "1.0")
    assert status(host, "greet")[0] == "ready"


def test_an_untrusted_one_is_a_record_and_no_tool(site: Path, folder: Path) -> None:
    """The operator has not named it, so it is never imported."""
    host = load(folder)

    assert host.call("greet").failure.code == "not_found"  # type: ignore[union-attr]
    assert status(host, "greet")[0] == "untrusted"
    assert "acme_greet" not in sys.modules


def many(folder: Path, *names: str, **more: Any) -> Host:
    """Load a host with the plugin that makes these tools."""
    words = {"plugins": {"acme-many": {"names": list(names)}}, **more}
    return load(folder, "acme-greet", "acme-many", settings=words)


def test_a_host_plugin_makes_tools_and_wraps_all(site: Path, folder: Path) -> None:
    """It gets its own table of the settings, and its tools bear its name."""
    host = many(folder, "one", "two")

    assert [host.call(name).content for name in ("one", "two", "greet")] == [
        "one!",
        "two!",
        "hello!",
    ]
    assert host.steps[0].distribution == "acme-many"
    assert status(host, "many")[0] == "ready"


def test_a_host_plugin_that_fails_half_way_is_nothing(site: Path, folder: Path) -> None:
    """All of it or none: no tool, no wrapper, a record with the reason (P17)."""
    host = many(folder, "one", "boom")

    assert host.call("one").failure.code == "not_found"  # type: ignore[union-attr]
    assert host.call("greet").content == "hello"
    assert status(host, "many") == ("broken", "toolseam_tools: KeyError")


def test_a_host_plugin_whose_tool_has_a_found_name_is_nothing(site: Path, folder: Path) -> None:
    """What was found keeps its name; the reason names it."""
    host = many(folder, "one", "greet")

    assert host.call("greet").content == "hello"
    assert host.call("one").failure.code == "not_found"  # type: ignore[union-attr]
    assert "'greet'" in status(host, "many")[1]


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        ("raise KeyError", "KeyError"),
        ("x = 1", "no hook"),
        ("from toolseam import hookimpl\n@hookimpl\ndef execute(arguments): ...", "only wrap"),
        ("toolseam_api = '99'", "99"),
    ],
)
def test_a_bad_host_plugin_stops_nobody(site: Path, folder: Path, code: str, detail: str) -> None:
    """A record says why, and the host goes on without it."""
    (site / "acme_many.py").write_text(code)

    host = many(folder)

    assert host.call("greet").content == "hello"
    assert status(host, "many")[0] in ("broken", "incompatible")
    assert detail in status(host, "many")[1]


def test_strict_makes_any_of_it_a_start_up_failure(site: Path, folder: Path) -> None:
    """The error lists what is wrong, by entry point."""
    with pytest.raises(LoadError, match="many"):
        many(folder, "boom", strict=True)


def test_code_adds_to_what_is_installed(site: Path, folder: Path) -> None:
    """Tools and plugins by code stand beside the installed ones."""
    host = load(folder, "acme-greet", tools=[Counted(fine, effect="unknown")])

    assert host.call("greet").success
    assert host.call("probe", actor=ADA).failure.code == "approval_denied"  # type: ignore[union-attr]


def test_a_tool_by_code_with_a_found_name_is_refused(site: Path, folder: Path) -> None:
    """Two tools of one name are an error of the code."""
    with pytest.raises(LoadError, match="'greet'"):
        load(folder, "acme-greet", tools=[Counted(fine, name="greet")])


def test_trust_adds_to_the_operators_own(site: Path, folder: Path) -> None:
    """What his file trusts stays trusted."""
    file = Path(operator_folder(), "config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('trust = ["acme-greet"]')

    assert load(folder).call("greet").success
    assert load(folder, "acme-many").call("greet").success


def test_a_workspace_that_would_widen_is_an_error(site: Path, folder: Path) -> None:
    """It may not trust anybody."""
    (folder / "toolseam.toml").write_text('trust = ["acme-greet"]')

    with pytest.raises(SettingsError, match="trust"):
        load(folder)


def test_a_plugin_set_narrows(site: Path, folder: Path) -> None:
    """Two sets live side by side in one process."""
    words = {"sets": {"none": {"block": ["acme-greet"]}, "all": {}}}
    hosts = [load(folder, "acme-greet", settings=words, set=name) for name in ("none", "all")]

    assert [host.call("greet").success for host in hosts] == [False, True]


def test_the_current_folder_is_the_workspace(
    site: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody names another."""
    monkeypatch.chdir(folder)

    assert Host.load().settings.folder == folder
