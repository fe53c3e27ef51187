import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import ask, sqlite_workspace
from toolseam import Actor, ErrorCode
from toolseam.testing import harness
from toolseam_builtin._amounts import size_text, span_text
from toolseam_builtin.system import _machine, get_system_status
from toolseam_builtin.system._clock import local_zone
from toolseam_builtin.system._machine import Readings
from toolseam_builtin.system.get_system_status import compose
from toolseam_builtin.workspace import Workspace


class Memory(NamedTuple):
    """What psutil gives, as far as it is read."""

    total: int
    available: int
    used: int


def test_it_tells_what_one_looks_up_first(tmp_path: Path) -> None:
    """Clock, zone, uptime, load, memory, disk, process and database each have a fact."""
    result = ask(get_system_status, sqlite_workspace(tmp_path, "CREATE TABLE t (a)"))

    items = dict(result.artifacts[0].items)
    assert {"time", "local time", "time zone", "up for", "load", "memory", "swap"} <= set(items)
    assert {"process", "open files of the process", "disk of the workspace"} <= set(items)
    assert items["database"].startswith("SQLite, reachable (")
    assert items["process"].startswith(f"number {os.getpid()}, ")


def test_text_items_and_data_say_the_same(tmp_path: Path) -> None:
    """Every fact is a line of the text, an item of the artifact and a row of the data."""
    result = ask(get_system_status, sqlite_workspace(tmp_path, "CREATE TABLE t (a)"))

    items = result.artifacts[0].items
    lines = result.content.split("\n")[1:]
    assert [f"{name}: {text}" for name, text in items] == lines[: len(items)]
    assert result.data is not None
    rows = dict(result.data["rows"])
    assert list(rows) == [name for name, _ in items]
    assert rows["database"]["reachable"] is True
    assert rows["memory"]["total"] > rows["memory"]["available"] > 0


def test_no_folder_and_no_host_is_named(tmp_path: Path) -> None:
    """Where things stand, and what the machine is called, are left out."""
    result = ask(get_system_status, sqlite_workspace(tmp_path, "CREATE TABLE t (a)"))

    assert str(tmp_path) not in result.content
    assert os.uname().nodename not in result.content.replace("reachable", "")


def test_without_psutil_the_rest_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the standard library can tell is told, and a warning names the extra."""
    monkeypatch.setitem(sys.modules, "psutil", None)

    result = ask(get_system_status, sqlite_workspace(tmp_path, "CREATE TABLE t (a)"))

    assert result.success
    items = dict(result.artifacts[0].items)
    assert {"load", "time zone", "disk of the workspace", "database"} <= set(items)
    assert "memory" not in items
    assert any("toolseam[system]" in warning for warning in result.metadata["warnings"])


def test_a_database_that_is_not_there_is_said(tmp_path: Path) -> None:
    """A database that cannot be read is a fact; one that the workspace names is a warning too."""
    without = ask(get_system_status, Workspace(folder=tmp_path))
    named = ask(get_system_status, Workspace(folder=tmp_path, database="gone.db"))

    assert dict(without.artifacts[0].items)["database"].startswith("not reachable: ")
    assert "cannot be reached" not in without.content
    assert any("cannot be reached" in warning for warning in named.metadata["warnings"])


def test_a_server_that_does_not_answer_costs_its_budget(tmp_path: Path) -> None:
    """A database server nobody answers for is a fact, without its address or a driver's words."""
    workspace = Workspace(
        folder=tmp_path, trusted=True, database="postgresql://ada:Tulip-77@127.0.0.1:1/shop"
    )
    start = time.monotonic()

    result = ask(get_system_status, workspace)

    assert time.monotonic() - start < 15
    fact = dict(result.artifacts[0].items)["database"]
    assert fact.startswith("not reachable: ")
    assert "Tulip-77" not in result.content


@pytest.mark.parametrize(
    ("zone", "name", "named"),
    [
        ("Europe/Lisbon", "Europe/Lisbon", True),
        (":Asia/Tokyo", "Asia/Tokyo", True),
        ("CET-1CEST", None, False),
        ("../../etc/passwd", None, False),
        ("", None, False),
    ],
)
def test_the_zone_is_named(
    zone: str, name: str | None, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`TZ` names the zone; where no zone is called so, today's offset is what is known."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        found = local_zone()
    finally:
        monkeypatch.undo()
        time.tzset()

    assert found.named is named
    assert name is None or found.name == name


def test_the_zone_of_the_machine_is_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `TZ` the machine's own link names the zone, or nothing does."""
    monkeypatch.delenv("TZ", raising=False)

    found = local_zone()

    assert found.named == ("/zoneinfo/" in os.path.realpath("/etc/localtime"))


def test_what_is_nearly_used_up_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Full disks, memory, containers and file tables, and too many tasks, are said in words."""
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("990000\n")
    monkeypatch.setattr(_machine, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "getloadavg", lambda: (900.0, 1.0, 1.0))
    monkeypatch.setattr(
        "shutil.disk_usage", lambda _: SimpleNamespace(total=1_000, used=999, free=1)
    )
    full = SimpleNamespace(f_files=1_000, f_favail=1, f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    memory = Memory(total=1_000, available=10, used=990)
    psutil = SimpleNamespace(virtual_memory=lambda: memory, swap_memory=lambda: memory)
    readings = Readings()

    facts = [*readings.load(), *readings.disk("disk", tmp_path), *readings.memory(psutil)]

    texts = {fact.name: fact.text for fact in facts}
    assert texts["disk"] == "1 byte of 1.0 kB free, room for 1 more files, read-only"
    assert texts["memory of the container"] == "990.0 kB of 1.0 MB used"
    assert len(readings.warnings) == 5
    assert compose(facts, readings.warnings).text.startswith("System status: 5 warnings below.")
    assert compose(facts, []).text.startswith("System status: nothing alarming.")


def test_a_container_without_a_limit_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`max` is no limit, and a machine without control groups says nothing of one."""
    (tmp_path / "memory.max").write_text("max\n")
    monkeypatch.setattr(_machine, "_CGROUP", tmp_path)
    memory = Memory(total=1_000, available=500, used=500)
    swap = Memory(total=0, available=0, used=0)
    psutil = SimpleNamespace(virtual_memory=lambda: memory, swap_memory=lambda: swap)

    names = [fact.name for fact in Readings().memory(psutil)]

    assert names == ["memory", "swap"]


def test_a_container_with_room_is_no_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far from its limit a container's memory is a fact and no more."""
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("10000\n")
    monkeypatch.setattr(_machine, "_CGROUP", tmp_path)
    memory = Memory(total=1_000, available=500, used=500)
    psutil = SimpleNamespace(virtual_memory=lambda: memory, swap_memory=lambda: memory)
    readings = Readings()

    facts = {fact.name: fact.text for fact in readings.memory(psutil)}

    assert facts["memory of the container"] == "10.0 kB of 1.0 MB used"
    assert readings.warnings == []


def test_a_process_near_its_limit_of_files_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine tenths of the files that a process may open are an alarm; no limit is none."""
    import psutil

    readings = Readings()
    monkeypatch.setattr("resource.getrlimit", lambda _: (1, 1))
    list(readings.process(psutil))
    monkeypatch.setattr("resource.getrlimit", lambda _: (0, 0))
    unlimited = {fact.name: fact.text for fact in readings.process(psutil)}

    assert readings.warnings == ["the process may hardly open another file."]
    assert "at most" not in unlimited["open files of the process"]


def test_systems_that_count_less_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without processor affinity, and on a file system without inodes, the rest is told."""
    monkeypatch.delattr(os, "sched_getaffinity")
    usage = SimpleNamespace(total=100, used=0, free=100)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    counts = SimpleNamespace(f_files=0, f_favail=0, f_flag=0)
    monkeypatch.setattr(os, "statvfs", lambda _: counts)
    readings = Readings()

    facts = {fact.name: fact.text for fact in [*readings.load(), *readings.disk("disk", tmp_path)]}

    assert int(facts["processors"]) >= 1
    assert "files" not in facts["disk"]


def test_a_disk_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    """A folder that is gone is a fact without numbers."""
    (fact,) = Readings().disk("disk", tmp_path / "gone")

    assert fact.text == "cannot be read"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_999, "1.0 MB"),
        (10**20, "100,000.0 PB"),
    ],
)
def test_sizes_are_said_in_decimal_units(amount: int, text: str) -> None:
    """Bytes below a thousand are counted, above it they are rounded to the nearest unit."""
    assert size_text(amount) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3_599, "59 min 59 s"),
        (90_000, "1 d 1 h"),
        (-5, "0 s"),
    ],
)
def test_spans_are_said_in_two_units(seconds: float, text: str) -> None:
    """A span has its two largest units, and none that is zero."""
    assert span_text(seconds) == text


@given(st.floats(0, 1e12))
def test_any_amount_has_words(amount: float) -> None:
    """Whatever the amount, there is a short text for it."""
    assert 0 < len(size_text(amount)) < 20
    assert 0 < len(span_text(amount)) < 20


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_system_status, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
