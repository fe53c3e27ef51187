"""One environment with every test distribution, shared by the tests of a session."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.environments import PROJECTS, Environment, make_environment


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A virtual environment with all test distributions installed."""
    projects = sorted(project.name for project in PROJECTS.iterdir())
    return make_environment(tmp_path_factory.mktemp("environment"), projects)


@pytest.fixture
def environment(installed: Environment) -> Environment:
    """The environment, with no mark of an earlier import."""
    installed.marked()
    return installed


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def operator(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes the operator's file and gives the folder of his settings."""

    def write(text: str) -> Path:
        file = tmp_path / "operator" / "toolseam" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return tmp_path / "operator"

    return write
