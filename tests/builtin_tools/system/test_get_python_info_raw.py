import sys
import sysconfig

import pytest

from toolseam import Actor, DataClass, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin.system import get_python_info_raw
from toolseam_builtin.system._pairs import Fact
from toolseam_builtin.system.get_python_info_raw import compose


def call(**arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return harness(get_python_info_raw).call(arguments)


def test_paths_and_flags_are_whole() -> None:
    """The executable, every flag and every entry of the import path stand as they are."""
    items = dict(call(filter="sys.").artifacts[0].items)

    assert items["sys.executable"] == sys.executable
    assert items["sys.path[0]"] == sys.path[0]
    assert items["sys.flags.optimize"] == str(sys.flags.optimize)


def test_all_of_sysconfig_can_be_reached() -> None:
    """A narrower filter and an offset together reach every variable."""
    total = call().data["total"]  # type: ignore[index]
    seen: set[str] = set()
    offset = 0
    while offset < total:
        result = call(offset=offset)
        shown = [name for name, _ in result.artifacts[0].items]
        seen.update(shown)
        offset += len(shown)
        assert (f"More with offset={offset} or" in result.content) == (offset < total)

    assert {f"sysconfig {name}" for name in sysconfig.get_config_vars()} <= seen
    assert len(seen) == total


def test_nothing_found_is_a_success() -> None:
    """A filter that no name holds says how many were looked at."""
    result = call(filter="zebra-crossing")

    assert result.success
    assert result.content.startswith("0 facts of ")


@pytest.mark.parametrize("arguments", [{"filter": " "}, {"filter": ""}, {"offset": 5_001}])
def test_bad_arguments_are_refused(arguments: dict[str, object]) -> None:
    """A blank filter and an offset out of range are `invalid_arguments`."""
    failure = call(**arguments).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


def test_a_filter_counts_what_it_leaves_out() -> None:
    """The heading says how many match of how many, and where the page begins."""
    facts = [Fact("one", "1"), Fact("two", "2"), Fact("twelve", "12")]

    answer = compose(facts, "TW", 1)

    assert answer.text == "2 facts of 3 with 'TW' in their name, shown 2 to 2.\ntwelve: 12"


def test_it_is_off_and_of_the_most_delicate_class() -> None:
    """Nobody is offered it before the operator enables it, and then admins alone."""
    spec = harness(get_python_info_raw).spec

    assert not spec.enabled_by_default
    assert spec.data_class is DataClass.SECRET_ADJACENT


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_python_info_raw, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
