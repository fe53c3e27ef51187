"""What every test gets: settings and state folders of its own, and steady property tests."""

import itertools
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("local", deadline=None, max_examples=100)
# The same ones in each run, of which CI makes three: the second and third with fewer.
settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("again", deadline=None, max_examples=10, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# What hypothesis works out of the letters and of our modules is found by child processes too.
_WORKED_OUT = Path(__file__).parent.parent / ".hypothesis"
os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(_WORKED_OUT))


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Make one empty folder after the other; pytest would look through all before it makes one."""
    place, numbers = tmp_path_factory.mktemp("t"), itertools.count()

    def make(name: str) -> Path:
        folder = place / f"{name}{next(numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    return make


@pytest.fixture
def tmp_path(folders: Callable[[str], Path], request: pytest.FixtureRequest) -> Path:
    """Return a folder of the test's own, named as pytest would name it."""
    return folders(re.sub(r"\W", "_", request.node.name)[:26])


@pytest.fixture(autouse=True)
def own_user_folders(folders: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the settings and state of whoever runs the tests apart from the tests."""
    home = folders("user")
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


@pytest.fixture(autouse=True, scope="session")
def keyboard() -> Iterator[None]:
    """Let Ctrl-C interrupt, here and in child processes, also where a shell had it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
