import re
from pathlib import Path

import toolseam_builtin
from builtin_tools.conftest import CONSTANTS

BUDGET = re.compile(r"^(_?(?:[A-Z]+_)?SECONDS) = ([\d.]+)$", re.MULTILINE)
# Of building an index, of waiting for what is outside, or for somebody else's lock.
APART = {
    "_database._open._SECONDS",
    "_database._postgres._CONNECT_SECONDS",
    "_database._writing._sqlite._LOOK_SECONDS",
    "_database._writing._sqlite._WAIT_SECONDS",
    "_index._sources._SESSION_SECONDS",
    "_web._look.SECONDS",
    "system.probe_url.SECONDS",
}
# Where these are read, under the same name or as a default.
ELSEWHERE = {
    "_database._model.READ_SECONDS",
    "_database._model.COUNT_SECONDS",
    "_storages._stock.SECONDS",
    "accounts._accounts.SECONDS",
    "structure._forest.SECONDS",
}


def test_each_budget_of_a_tool_is_below_two_seconds_and_raised_here() -> None:
    """None lets a tool take longer than an answer may, and none ends an answer in these tests."""
    root = Path(toolseam_builtin.__file__).parent
    found = {
        ".".join((*file.relative_to(root).with_suffix("").parts, name)): float(seconds)
        for file in root.rglob("*.py")
        for name, seconds in BUDGET.findall(file.read_text())
    }
    ours = {name: each for name, each in found.items() if name not in APART}

    assert not {name: each for name, each in ours.items() if each >= 2}
    assert set(ours) <= {*CONSTANTS, *ELSEWHERE}
