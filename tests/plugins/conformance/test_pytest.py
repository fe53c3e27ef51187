import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.dist_info import tools, write_dist
from toolseam.testing import TargetError, parametrize_with_checks

TESTS = """\
from toolseam.testing import parametrize_with_checks

@parametrize_with_checks("acme-greet", examples={examples}, expected_failures={expected})
def test_contract(check):
    check()
"""
PRINTING = """\
from toolseam import ToolResult, tool

toolseam_api = "1"

@tool(effect="read_only", data_class="public_content")
def greet() -> ToolResult:
    "Greet whoever is there."
    print("hello")
    return ToolResult.text("hello")
"""


def run(folder: Path, expected: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Let pytest run the four lines of an author over a tool that prints."""
    write_dist(folder, "acme_greet", points=tools(greet="acme_greet:greet"))
    (folder / "acme_greet.py").write_text(PRINTING)
    text = TESTS.format(examples={"greet": [{}]}, expected=expected)
    (folder / "test_contract.py").write_text(text)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rA",
            "-p",
            "no:cacheprovider",
            "-W",
            "error",
            *words,
        ],
        cwd=folder,
        # What else is installed for pytest is no part of it, and takes as long as all checks.
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_each_check_is_a_test(tmp_path: Path) -> None:
    """Checks are tests with ids of tool and slug; one that fails says what, and how to mend it."""
    done = run(tmp_path, {})

    assert "PASSED test_contract.py::test_contract[greet:returns-tool-result]" in done.stdout
    assert "FAILED test_contract.py::test_contract[greet:prints-nothing]" in done.stdout
    assert "to mend it:" in done.stdout
    assert "toolseam run greet --json-args '{}'" in done.stdout
    assert "1 failed" in done.stdout


def test_an_expected_failure_is_an_xfail_and_one_that_passes_fails_the_run(tmp_path: Path) -> None:
    """A check that fails as expected does not count; one that was expected to and does not does."""
    expected = {"prints-nothing": "kept for old hosts", "returns-tool-result": "never"}

    done = run(tmp_path, expected, "-k", " or ".join(f"greet:{slug}" for slug in expected))

    assert done.returncode == 1
    assert re.search(r"^1 failed, \d+ deselected, 1 xfailed in", done.stdout, re.MULTILINE)
    assert "XFAIL test_contract.py::test_contract[greet:prints-nothing] - kept for" in done.stdout
    assert "expected to fail (never)" in done.stdout


@pytest.mark.parametrize(
    "expected", [{"print-nothing": "x"}, {"other:prints-nothing": "x"}, {"prints-nothing": ""}]
)
def test_a_wrong_entry_is_refused_at_collection(expected: dict[str, str]) -> None:
    """An entry that names no check or no tool, or gives no reason, is refused at once."""
    with pytest.raises(TargetError):
        parametrize_with_checks("get_env", expected_failures=expected)
