import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.dist_info import tools, write_dist
from support.tools import Counted, fine, plugin
from toolseam import hookimpl
from toolseam.testing import TargetError, targets

TOOL = """\
from toolseam import ToolResult, tool

@tool(effect="read_only")
def first() -> ToolResult:
    "Answer first."
    return ToolResult.text("first")

@tool(effect="read_only")
def second() -> ToolResult:
    "Answer second."
    return ToolResult.text("second")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a folder with a distribution of two tools on the path."""
    monkeypatch.syspath_prepend(tmp_path)
    points = tools(first="acme_pair:first", second="acme_pair:second", third="acme_gone:third")
    write_dist(tmp_path, "acme_pair", "2.0", points)
    for name in ("acme_pair", "acme_loose"):
        (tmp_path / f"{name}.py").write_text(TOOL)
    yield tmp_path
    for name in ("acme_pair", "acme_loose"):
        sys.modules.pop(name, None)


def test_a_distribution_means_its_tools(site: Path) -> None:
    """The name of a distribution means each of its entry points, however it is spelt."""
    found = targets("Acme.Pair")

    assert [(one.name, one.plugin is not None) for one in found] == [
        ("first", True),
        ("second", True),
        ("third", False),
    ]
    assert {(one.distribution, one.version) for one in found} == {("acme-pair", "2.0")}
    assert found[2].fault is not None


def test_an_entry_point_means_one_tool(site: Path) -> None:
    """The name of an entry point means that one."""
    (found,) = targets("second")

    assert (found.value, found.builtin) == ("acme_pair:second", False)


def test_the_builtins_have_a_name() -> None:
    """`builtins` means what comes with toolseam."""
    found = targets("builtins")

    assert "read_records" in [one.name for one in found]
    assert all(one.builtin for one in found)


def test_a_module_means_the_tools_in_it(site: Path) -> None:
    """A module without hooks of its own means every plugin object that it holds."""
    assert [one.value for one in targets("acme_loose")] == [
        "acme_loose:first",
        "acme_loose:second",
    ]


def test_a_module_that_is_a_tool_means_itself() -> None:
    """A module with hooks is the plugin."""
    (found,) = targets("toolseam_builtin.system.get_env")

    assert found.plugin is sys.modules["toolseam_builtin.system.get_env"]


def test_an_object_means_itself() -> None:
    """A plugin object is the target that it is."""
    given = Counted(fine)

    assert [one.plugin for one in targets(given)] == [given]


def test_an_attribute_of_a_module_is_named_by_a_colon(site: Path) -> None:
    """`module:object` means that object, whatever it is."""
    assert [one.value for one in targets("acme_pair:first")] == ["acme_pair:first"]


def test_a_host_plugin_means_the_tools_that_it_makes() -> None:
    """A plugin with `toolseam_tools` means each tool that it gives."""
    made = [plugin(fine), plugin(fine)]
    mount = SimpleNamespace(toolseam_tools=hookimpl(lambda: made))

    assert [one.plugin for one in targets(mount)] == made


@pytest.mark.parametrize("named", ["no-such-thing", "sys:nothing", "json", "a b", ""])
def test_a_target_without_a_tool_is_refused(named: str) -> None:
    """What is no distribution, entry point or module with a tool is refused by name."""
    with pytest.raises(TargetError):
        targets(named)
