"""Pools of worker processes that serve the tests' own bodies, and leave nothing running."""

import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.bodies import SERVED
from support.isolated import WAIT_S, running
from toolseam._body import Runner
from toolseam._settings_keys import Grants, ProcessLimits
from toolseam._settings_structure import Variables
from toolseam.isolation._pool import InSandbox, ProcessPool

MakePool = Callable[..., Any]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """What stands in the environment of each process of this test, and of no other."""
    name = uuid.uuid4().hex
    monkeypatch.setenv("TOOLSEAM_TEST_MARK", name)
    return name


@pytest.fixture
def make_pool(mark: str) -> Iterator[MakePool]:
    """Make pools; when the test is over they are closed, and no process of theirs may be left."""
    made: list[ProcessPool] = []

    def make(sandbox: Grants | None = None, body: str = SERVED, **limits: Any) -> Runner:
        marked = Variables(TOOLSEAM_TEST_MARK="TOOLSEAM_TEST_MARK")
        pool = ProcessPool(ProcessLimits(env=marked, **limits), body=body)
        made.append(pool)
        if sandbox is None:
            return pool
        tests = str(Path(__file__).resolve().parents[2])
        return InSandbox(pool, attrs.evolve(sandbox, read=(*sandbox.read, tests)))

    yield make

    for pool in made:
        pool.close()
    until = time.monotonic() + WAIT_S
    while running(mark) and time.monotonic() < until:
        time.sleep(0.01)
    assert running(mark) == []


@pytest.fixture
def pool(make_pool: MakePool) -> ProcessPool:
    """A pool with the limits of a fresh installation."""
    return make_pool()
