"""How processes are found where the kernel keeps no list of children."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from toolseam.isolation import _supervisor, _worker


@pytest.fixture
def child() -> Iterator[int]:
    """A process of this one that waits to be told to end."""
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process.pid


def test_a_supervisor_finds_its_children(child: int) -> None:
    """Both ways of looking find a child."""
    assert child in _supervisor._children()
    assert (child, os.getpid()) in _supervisor._parents()


def test_a_worker_finds_what_was_left(child: int) -> None:
    """Both ways of looking tell a process that has left a child from one that has none."""
    assert _worker._children()
    assert _worker._are_children(os.getpid(), os.getpid())
    assert not _worker._are_children(child, child)


def test_a_user_has_threads() -> None:
    """The threads of a user are counted, and nobody has none of this process."""
    assert _supervisor._threads(os.getuid()) >= 1
    assert _supervisor._threads(2**31) == 0
