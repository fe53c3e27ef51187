"""The kit over a package that pip installed, written by nobody who knows this project."""

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.environments import Environment, install, make_environment
from support.wheels import build_wheel

KIT = Path(__file__).parent / "weather_kit"


def release(folder: Path, *changes: tuple[str, str, str]) -> Environment:
    """Build the package, changed as told by file, old and new text, and let pip install it."""
    project = folder / "project"
    shutil.copytree(KIT, project)
    for file, old, new in changes:
        path = project / "weather_kit" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    environment = make_environment(folder / "environment", [])
    install(environment, build_wheel(project, folder))
    return environment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with room for an environment."""
    (tmp_path / "environment").mkdir()
    return tmp_path


def test_a_foreign_package_passes(folder: Path) -> None:
    """An object, an async function and tools made at run time pass every check that applies."""
    environment = release(folder)
    example = 'forecast={"place": "Bergen", "days": 2}'

    ran = environment.run(
        *("-m", "toolseam", "check", "weather-kit", "--example", example, "--junit", "report.xml"),
        cwd=folder,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    closing = ran.stdout.splitlines()[-1]
    assert re.fullmatch(r"4 tools, \d+ checks: \d+ passed, \d+ not applicable", closing)
    suites = ET.parse(folder / "report.xml").findall("testsuite")  # noqa: S314 - our own
    assert [suite.get("name") for suite in suites] == [
        *("forecast", "nearest_station", "to_fahrenheit", "to_kelvin")
    ]


def test_a_faulty_release_of_it_is_told(folder: Path) -> None:
    """Each fault is found by its own check, with a command that shows it again."""
    environment = release(
        folder,
        ("stations.py", 'return ToolResult.text(f"{name}', 'return (f"{name}'),
        ("forecasts.py", '"degrees": degrees} for', '"degrees": str(degrees)} for'),
    )

    ran = environment.run("-m", "toolseam", "check", "weather-kit", cwd=folder)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    failed = re.findall(r"^FAILED (\S+)  ", ran.stdout, re.MULTILINE)
    assert {"nearest_station:returns-tool-result", "forecast:output-schema-kept"} <= set(failed)
    assert 'toolseam run nearest_station --json-args \'{"latitude": 0' in ran.stdout
    assert not [each for each in failed if each.startswith("to_")]


def test_a_package_that_is_not_there_is_said(folder: Path) -> None:
    """What is not installed in this environment cannot be checked, and is no pass."""
    environment = make_environment(folder / "environment", [])

    ran = environment.run("-m", "toolseam", "check", "weather-kit", cwd=folder)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "weather-kit" in ran.stderr
