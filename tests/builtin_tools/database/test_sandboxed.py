"""SQLite files in the sandbox, whose folder may be read and not written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.databases import sqlite_workspace
from toolseam import Actor, Host, ToolResult
from toolseam.isolation._sandbox import level
from toolseam_builtin._database._sqlite import AtRest

TABLE = "create table t (id integer primary key, a text); insert into t values (1, 'x')"


def at_rest(folder: Path, mode: str) -> Path:
    """Make a database in a journal mode that nobody has open."""
    sqlite_workspace(folder, TABLE)
    with closing(sqlite3.connect(folder / "app.db")) as writer:
        writer.execute(f"pragma journal_mode = {mode}")
        writer.execute("insert into t values (2, 'y')")
        writer.commit()
    return folder / "app.db"


def read(folder: Path) -> ToolResult:
    """Read its records in a sandbox to which what the tool needs is granted, and no more."""
    settings = {
        "runs_in": {"read_records": "sandbox"},
        "sandbox": {"read_records": {"read": [str(folder.resolve())]}},
    }
    with Host.load(folder, settings=settings, mounts=False) as host:
        return host.call("read_records", {"table": "t"}, actor=Actor.system)


def rows(result: ToolResult) -> int | None:
    """Say how many records were read; on a machine without a sandbox, that the call says so."""
    if not level().reached:
        assert result.metadata["reason"] == "sandbox"
        return None
    assert result.failure is None, result.content
    total: int = result.data["total"]  # type: ignore[index]
    return total


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_file_at_rest_is_read(tmp_path: Path, mode: str) -> None:
    """Also one in WAL mode, beside which a reader would have to write, is read, and left alone."""
    file = at_rest(tmp_path, mode)

    assert rows(read(tmp_path)) in (None, 2)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_file_in_use_is_read_beside_its_writer(tmp_path: Path) -> None:
    """What its writer has committed is seen, and what he has not is not."""
    with closing(sqlite3.connect(at_rest(tmp_path, "wal"))) as writer:
        writer.execute("insert into t values (3, 'z')")
        writer.commit()
        writer.execute("insert into t values (4, 'z')")

        assert rows(read(tmp_path)) in (None, 3)


def test_a_file_at_rest_is_known_to_have_changed(tmp_path: Path) -> None:
    """Only one whose whole content is its own is at rest, and whoever writes it ends that."""
    file = at_rest(tmp_path, "wal")
    found = AtRest.of(file)

    assert found is not None
    assert not found.changed()
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("insert into t values (3, 'z')")
        writer.commit()
        assert AtRest.of(file) is None
    assert found.changed()
    file.unlink()
    assert found.changed()
    assert AtRest.of(at_rest(tmp_path, "delete")) is None
