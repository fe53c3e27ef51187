import asyncio
import time
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from support.mcp_stub import stub
from toolseam._settings_keys import OperatorSettings
from toolseam._settings_structure import structure
from toolseam_plugins.mcp._mount import Mount
from toolseam_plugins.mcp._mount_loop import Loop


async def nothing() -> None:
    """End at once."""


async def seven() -> int:
    """Give a number."""
    return 7


def test_work_may_begin_before_the_thread_does() -> None:
    """A loop takes work from the moment that it is made."""
    for _ in range(50):
        loop = Loop()
        found = loop.begin(seven()).result(10)
        loop.close(nothing())
        assert found == 7


def test_closing_stops_what_is_at_work() -> None:
    """Who waits is told by a cancellation, and so is who comes later."""
    loop = Loop()
    waiting = loop.begin(asyncio.sleep(60))

    loop.close(nothing())
    late = loop.begin(seven())
    loop.close(nothing())

    for future in (waiting, late):
        with pytest.raises(CancelledError):
            future.result(10)


def depot(tmp_path: Path, code: str, **more: Any) -> tuple[Mount, Path]:
    """Return a mount whose server begins with `code`, and where that writes its number."""
    begins = (
        'def initialize(number, params):\n    open(LOG + ".pid", "w").write(str(os.getpid()))\n'
    )
    server = stub(tmp_path / "depot", f"{begins}    {code}\n")
    mounts = {"mounts": {"depot": {**server.said, **more}}}
    said = structure(mounts, OperatorSettings, None).mounts["depot"]
    return Mount("depot", said), Path(f"{server.folder}/received.jsonl.pid")


def test_closing_ends_a_child_that_is_still_connected_to(tmp_path: Path) -> None:
    """A server that has not answered yet is ended, and waited for, like one that has."""
    (mount, told), loop = depot(tmp_path, "time.sleep(60)"), Loop()

    loop.begin(mount.open())
    until = time.monotonic() + 10
    while not (told.exists() and told.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    loop.close(mount.close())

    assert not Path(f"/proc/{told.read_text()}/cmdline").exists()


def test_a_child_is_ended_when_the_time_is_up_while_it_is_listened_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for the last words of a server that failed lets it not outlive its mount."""
    monkeypatch.setattr("toolseam_plugins.mcp._client_stdio._LAST_S", 30.0)
    (mount, told), loop = depot(tmp_path, 'fault(number, -1, "no")', timeout_s=2.0), Loop()

    loop.begin(mount.open()).result(10)
    loop.close(mount.close())

    assert mount.fault is not None
    assert not Path(f"/proc/{told.read_text()}/cmdline").exists()
