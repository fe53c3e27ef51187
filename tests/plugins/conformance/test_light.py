"""The kit costs nothing where it is not used, and disturbs nothing where it is."""

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

# What else is installed for pytest is no part of it; and of two ways to trace, the cheaper one.
QUICKER = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | (
    {"COVERAGE_CORE": "sysmon"} if sys.version_info >= (3, 12) else {}
)
HEAVY = ("hypothesis", "toolseam_plugins", "pytest", "_pytest")


def python(*words: str, cwd: Path) -> str:
    """Run an interpreter and give what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=os.environ | QUICKER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_no_pytest_plugin() -> None:
    """No run of pytest imports anything of toolseam unasked."""
    groups = {point.group for point in distribution("toolseam").entry_points}

    assert "pytest11" not in groups


def test_the_testing_room_imports_nothing_heavy(tmp_path: Path) -> None:
    """A test that takes `harness` alone pays for neither hypothesis nor the kit."""
    code = (
        "import sys; from toolseam.testing import check_tool, harness, parametrize_with_checks; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )

    assert python("-c", code, cwd=tmp_path) == "[]\n"


def test_the_list_of_checks_needs_no_hypothesis(tmp_path: Path) -> None:
    """What the checks ask can be read without what makes arguments."""
    code = (
        "import sys; from toolseam_plugins.conformance import ALL_CHECKS, lint; "
        f"print(len(ALL_CHECKS) >= 40, [name for name in {HEAVY} if name in sys.modules])"
    )

    assert python("-c", code, cwd=tmp_path) == "True ['toolseam_plugins']\n"


def test_coverage_of_the_authors_own_project_is_whole(tmp_path: Path) -> None:
    """The tool is imported while coverage is measured, so its lines at module level count."""
    python("-m", "toolseam", "new", "acme-greet", cwd=tmp_path)
    project = tmp_path / "acme-greet"
    only = ("-p", "no:cacheprovider", "-q", "-k", "test_it_keeps_the_contract and returns-tool")

    python("-m", "coverage", "run", "--source=acme_greet", "-m", "pytest", *only, cwd=project)
    report = python("-m", "coverage", "report", "--format=total", cwd=project)

    assert report == "100\n"
