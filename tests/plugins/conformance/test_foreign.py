"""The kit over a package that pip installed, written by nobody who knows this project."""

import re
import shutil
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import pytest

from support.environments import Environment, install, make_environment
from support.wheels import build_wheel

KIT = Path(__file__).parent / "weather_kit"
ASKED = ("returns-tool-result", "output-schema-kept", "never-raises", "content-clean")


def built(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """Build the package's wheel, changed as told by file, old and new text."""
    project = folder / "project"
    shutil.copytree(KIT, project)
    for file, old, new in changes:
        path = project / "weather_kit" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    return build_wheel(project, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with room for an environment."""
    (tmp_path / "environment").mkdir()
    return tmp_path


@pytest.fixture
def environment(folder: Path) -> Environment:
    """An environment without the package."""
    return make_environment(folder / "environment", [])


def test_a_foreign_package_passes(folder: Path, environment: Environment) -> None:
    """An object, an async function and tools made at run time pass every check that applies."""
    install(environment, built(folder))
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


def test_a_faulty_release_of_it_is_told(folder: Path, environment: Environment) -> None:
    """Each fault is found by its own check, with a command that shows it again."""
    wheel = built(
        folder,
        ("stations.py", 'return ToolResult.text(f"{name}', 'return (f"{name}'),
        ("forecasts.py", '"degrees": degrees} for', '"degrees": str(degrees)} for'),
    )
    # What pip makes of a wheel was seen above: it is its files, there to be imported.
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(environment.site)
    only = [word for slug in ASKED for word in ("--only", slug)]

    ran = environment.run("-m", "toolseam", "check", "weather-kit", *only, cwd=folder)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    failed = re.findall(r"^FAILED (\S+)  ", ran.stdout, re.MULTILINE)
    assert {"nearest_station:returns-tool-result", "forecast:output-schema-kept"} <= set(failed)
    assert 'toolseam run nearest_station --json-args \'{"latitude": 0' in ran.stdout
    assert not [each for each in failed if each.startswith("to_")]


def test_a_package_that_is_not_there_is_said(folder: Path, environment: Environment) -> None:
    """What is not installed in this environment cannot be checked, and is no pass."""
    ran = environment.run("-m", "toolseam", "check", "weather-kit", cwd=folder)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "weather-kit" in ran.stderr
