"""Asks worker processes of their host's side, and looks for what they left."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from toolseam._body import Lost, NotStarted, Runner

WAIT_S = 60.0


def nothing(question: bytes) -> bytes:
    """Answer whatever is asked."""
    return b""


def submitted(
    pool: Runner,
    request: bytes,
    *,
    owner: str = "acme",
    ask: Callable[[bytes], bytes] = nothing,
) -> Future[bytes]:
    """Hand a body to the pool."""
    return pool.submit(request, owner=owner, ask=ask)


def answer(pool: Runner, request: bytes, *, owner: str = "acme") -> bytes:
    """Run a body and return its answer."""
    return submitted(pool, request, owner=owner).result(WAIT_S)


def lost(future: Future[bytes]) -> tuple[str, str]:
    """Say why a body was lost."""
    with pytest.raises(Lost) as caught:
        future.result(WAIT_S)
    return caught.value.reason, caught.value.detail


def not_started(future: Future[bytes]) -> tuple[str, str]:
    """Say why a body never began."""
    with pytest.raises(NotStarted) as caught:
        future.result(WAIT_S)
    return caught.value.reason, caught.value.detail


class Begun:
    """Tells when a body has begun: its first question is its first sign of life."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ask(self, question: bytes) -> bytes:
        """Take the sign."""
        self._event.set()
        return b""

    def wait(self) -> None:
        """Wait for it."""
        assert self._event.wait(WAIT_S)


def begun(pool: Runner, request: bytes, *, owner: str = "acme") -> Future[bytes]:
    """Hand over a body that asks something first, and wait until it does."""
    sign = Begun()
    future = submitted(pool, request, owner=owner, ask=sign.ask)
    sign.wait()
    return future


def running(mark: str) -> list[int]:
    """List the processes that have a mark in their environment."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environ = (folder / "environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in environ:
                found.append(int(folder.name))
    return found
