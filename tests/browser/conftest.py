"""One Chromium and one host for all; most tests share one visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from support.browsing import Sight, Stage, launched, seen
from support.inspecting import inspected
from support.page_scene import museum, play, strangers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A host with runs of every kind, served; it is made before any event loop runs here."""
    place = tmp_path_factory.mktemp("stage")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        patch.setenv("XDG_CONFIG_HOME", str(place / "config"))
        with museum(place, *strangers()) as host, inspected(host) as served:
            yield Stage(served, play(host))


@pytest.fixture(scope="session")
def browser(stage: Stage) -> Iterator[Browser]:
    """The machine's Chromium."""
    with sync_playwright() as playwright:
        chromium = launched(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _entered(browser: Browser, stage: Stage) -> Iterator[Sight]:
    with seen(browser, stage) as found:
        yield found


@pytest.fixture
def sight(_entered: Sight) -> Iterator[Sight]:
    """A page that a person has come into; it must have behaved when the test is over."""
    _entered.go("tools")
    yield _entered
    _entered.behaved()
