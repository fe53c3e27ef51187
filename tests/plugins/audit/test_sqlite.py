"""The store as a file: private, outside the workspace, and nobody else's (S10)."""

import errno
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.audit import Kept, echo, file, host, waiting, writer
from support.tools import ADA
from toolseam import Host
from toolseam.guards import state_folder
from toolseam_plugins import audit
from toolseam_plugins.audit import AuditError
from toolseam_plugins.audit._opening import connect

KEPT = Kept(None)


def planted(script: str) -> None:
    """Make a store, and run a script in it as somebody else would."""
    host(KEPT).close()
    with closing(sqlite3.connect(file(), isolation_level=None)) as connection:
        connection.executescript(script)


def refused(**audited: Any) -> str:
    """Return why a host does not start."""
    with pytest.raises(AuditError) as error:
        host(KEPT, **audited)
    return str(error.value)


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_everything_is_private_whatever_the_umask(umask: int) -> None:
    """Files 0600, folders 0700, the log and its index too."""
    before = os.umask(umask)
    try:
        with host(KEPT, echo()) as made:
            made.call("echo", {"text": "x"}, actor=ADA)
            modes = {
                each.relative_to(state_folder()).as_posix(): stat.S_IMODE(each.stat().st_mode)
                for each in state_folder().rglob("*")
            }
    finally:
        os.umask(before)

    folders = {
        name: mode for name, mode in modes.items() if name in {"host", "host/audit.db-writers"}
    }
    files = {name: mode for name, mode in modes.items() if name not in folders}
    assert set(folders.values()) == {0o700}
    assert set(files.values()) == {0o600}
    assert {"host/audit.db", "host/audit.db-wal", "host/audit.db-shm"} <= set(files)
    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700


def test_loose_folders_are_tightened() -> None:
    """A folder of ours that others may read is closed before anything is written."""
    state_folder().mkdir(parents=True, mode=0o755)
    state_folder().chmod(0o755)

    host(KEPT).close()

    assert stat.S_IMODE(state_folder().stat().st_mode) == 0o700


def test_no_lock_of_a_writer_is_left_behind() -> None:
    """What tells that a process lives goes with its store."""
    with host(KEPT):
        assert len(list(file().with_name("audit.db-writers").iterdir())) == 1

    assert list(file().with_name("audit.db-writers").iterdir()) == []


def test_each_workspace_has_a_store_of_its_own(tmp_path: Path) -> None:
    """Two folders of one name share nothing, and nothing is made in them."""
    places = [tmp_path / "a" / "site", tmp_path / "b" / "site"]
    for place in places:
        place.mkdir(parents=True)
        Host.load(place, trust=["audit"]).close()
        assert list(place.iterdir()) == []

    assert len(list(state_folder().glob("site-*/audit.db"))) == 2


@pytest.mark.parametrize("how", ["state", "database", "link"])
def test_never_inside_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A state folder or a database there stops the start, through a link as well."""
    words: dict[str, Any] = {}
    if how == "database":
        words = {"audit": {"database": f"sqlite:///{tmp_path}/audit.db"}}
    elif how == "state":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    else:
        outside = tmp_path.with_name(f"{tmp_path.name}-outside")
        outside.symlink_to(tmp_path)
        monkeypatch.setenv("XDG_STATE_HOME", str(outside))

    with pytest.raises(AuditError, match="in the workspace"):
        Host.load(tmp_path, trust=["audit"], settings=words)

    assert list(tmp_path.iterdir()) == []


def test_a_database_of_the_operators_choice(tmp_path: Path) -> None:
    """A path outside of the state folder is used as it is, if its folder is there."""
    where = tmp_path / "kept.db"

    with host(KEPT, echo(), database=f"sqlite:///{where}") as made:
        made.call("echo", {"text": "x"}, actor=ADA)

    assert stat.S_IMODE(where.stat().st_mode) == 0o600
    assert "no such folder" in refused(database=f"sqlite:///{tmp_path}/nowhere/x.db")


@pytest.mark.parametrize("url", ["audit.db", "sqlite:///audit.db", "mysql://x/y", ""])
def test_a_database_that_is_none(url: str) -> None:
    """What is neither an absolute path nor a server is refused, and not quoted."""
    assert "expected sqlite:///" in refused(database=url)


INTRUDERS = {
    "trigger": (
        "CREATE TRIGGER gone BEFORE INSERT ON run_step BEGIN SELECT RAISE(IGNORE); END",
        "gone",
    ),
    "view": ("CREATE VIEW peek AS SELECT * FROM run_step", "peek"),
    "table as a view": (
        """
        ALTER TABLE run_step RENAME TO kept;
        CREATE VIEW run_step AS SELECT * FROM kept;
        CREATE TRIGGER t INSTEAD OF INSERT ON run_step BEGIN SELECT 1; END
        """,
        "kept",
    ),
    "another table": ("CREATE TABLE more (x)", "more"),
    "a column": ("ALTER TABLE run ADD COLUMN more", "run"),
    "no index": ("DROP INDEX run_running", "run_running"),
    "an index": ("CREATE INDEX mine ON run (upper(owner))", "mine"),
    "no table": ("DROP TABLE run_decision", "run_decision"),
    "a broken schema": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x' WHERE name = 'run_step'",
        "no sound audit store",
    ),
    "a newer version": ("PRAGMA user_version = 99", "newer toolseam"),
}


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_what_is_not_ours_stops_the_start(intruder: str) -> None:
    """A foreign trigger, view, table, column or index is named, and nothing is written."""
    script, named = INTRUDERS[intruder]
    planted(script)
    before = file().read_bytes()

    said = refused()

    assert named in said
    assert str(file()) in said
    assert file().read_bytes() == before


def other_database(place: Path) -> None:
    """Put another application's database there."""
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("CREATE TABLE run (id)")
    place.chmod(0o600)


def text_file(place: Path, text: str = "") -> None:
    """Put a private file of text there."""
    place.write_text(text)
    place.chmod(0o600)


STRANGERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "another database": (other_database, "no audit store"),
    "a text": (lambda place: text_file(place, "hello " * 100), "no audit store"),
    "an empty file": (text_file, "no audit store"),
    "a folder": (lambda place: place.mkdir(), "own file"),
    "a link": (lambda place: place.symlink_to("/etc/hostname"), "cannot be read"),
    "a dangling link": (lambda place: place.symlink_to("/nowhere"), "cannot be read"),
    "a pipe": (os.mkfifo, "own file"),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_what_is_no_store_is_never_opened(stranger: str) -> None:
    """It is looked at before SQLite is, and stays as it is."""
    file().parent.mkdir(parents=True)
    make, why = STRANGERS[stranger]
    make(file())

    assert why in refused()


def test_a_store_that_others_may_read_is_refused() -> None:
    """Its mode is looked at each time."""
    host(KEPT).close()
    file().chmod(0o644)

    assert "for its owner alone" in refused()


def test_a_journal_beside_it_is_not_carried_out(tmp_path: Path) -> None:
    """A rollback journal names files for SQLite to delete; ours never has one (H25)."""
    from support.databases import hot_journal

    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    host(KEPT).close()
    Path(f"{file()}-journal").write_bytes(hot_journal(victim))

    assert "journal" in refused()
    assert victim.read_text() == "precious"


def test_a_torn_file_stops_the_start_with_a_sentence() -> None:
    """Its head is ours and the rest is rubbish."""
    host(KEPT).close()
    head = file().read_bytes()[:100]
    file().write_bytes(head + os.urandom(20_000))

    assert str(file()) in refused()


def test_a_folder_where_others_may_write_is_refused(tmp_path: Path) -> None:
    """Whoever may put files beside the store could put a log or a journal there."""
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)

    assert "others may write there" in refused(database=f"sqlite:///{place}/x.db")
    assert list(place.iterdir()) == []


def test_eight_hosts_that_start_at_once_make_one_store() -> None:
    """The file appears whole, once, and nothing is left beside it."""
    ready = threading.Barrier(8)
    faults: list[BaseException] = []

    def start() -> None:
        ready.wait()
        try:
            with host(KEPT, echo()) as made:
                made.call("echo", {"text": "x"}, actor=ADA)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert KEPT.rows("SELECT count(*) FROM run_step") == [(8,)]
    assert {each.name for each in file().parent.iterdir()} == {"audit.db", "audit.db-writers"}


def test_writing_waits_for_whoever_has_the_lock() -> None:
    """Another process holds it for 300 ms, ten times: no call fails and none is lost (P34)."""
    over = threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(file(), isolation_level=None, timeout=20)) as connection:
            for _ in range(10):
                connection.execute("BEGIN IMMEDIATE")
                time.sleep(0.3)
                connection.execute("COMMIT")
        over.set()

    begun = time.monotonic()
    with host(KEPT, echo()) as made:
        made.call("echo", {"text": "x"}, actor=ADA)
        holder = threading.Thread(target=hold)
        holder.start()

        def work() -> None:
            for _ in range(25):
                assert made.call("echo", {"text": "x"}, actor=ADA).success

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in (*threads, holder):
            thread.join()

    assert time.monotonic() - begun < 20
    assert KEPT.rows("SELECT count(*), min(seq), max(seq) FROM run_step") == [(401, 1, 401)]
    assert KEPT.rows("SELECT lost FROM run") == [(0,)]


FORKS = """
import os, sys, threading
from support.audit import Kept, echo, host
from support.tools import ADA

def calls(count):
    for number in range(count):
        assert made.call('echo', {'text': str(number)}, actor=ADA).success

with host(Kept(None), echo()) as made:
    calls(1)
    busy = threading.Thread(target=calls, args=(200,))
    busy.start()
    children = []
    for _ in range(8):
        child = os.fork()
        if not child:
            break
        children.append(child)
        calls(1)
    else:
        busy.join()
    if not child:
        calls(10)
for each in children if child else ():
    assert os.waitpid(each, 0)[1] == 0
"""


def test_after_a_fork_parent_and_child_go_on_writing(tmp_path: Path) -> None:
    """A process forks while threads of it write: nobody hangs, and all of both is there."""
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    tests = str(Path(__file__).parent.parent.parent)

    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", script],
        env=os.environ | {"PYTHONPATH": tests},
        capture_output=True,
        check=False,
        timeout=240,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert KEPT.rows("SELECT count(*), max(seq) FROM run_step") == [(289, 289)]
    assert KEPT.rows("PRAGMA integrity_check") == [("ok",)]


INTERRUPTED = """
import os
from support.audit import Kept, echo, host
from support.tools import ADA
from toolseam_plugins.audit import _sqlite

def interrupted(self):
    _sqlite.SqliteDatabase.rest = before
    raise KeyboardInterrupt

with host(Kept(None), echo()) as made:
    before, _sqlite.SqliteDatabase.rest = _sqlite.SqliteDatabase.rest, interrupted
    for _ in range(2):
        child = os.fork()
        if not child:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert made.call('echo', {'text': 'x'}, actor=ADA).success
"""


def test_who_interrupts_a_fork_leaves_no_lock_behind(tmp_path: Path) -> None:
    """The process goes on writing, and forks again."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)

    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)},
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert KEPT.rows("SELECT count(*) FROM run_step") == [(2,)]


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_the_child_of_a_fork_owes_nothing_that_its_parent_will_store() -> None:
    """A step that could not be stored is counted by one of the two."""
    with host(KEPT, echo()) as made:
        store: Any = made._state.store
        store._lost["r"] = 1
        child = os.fork()
        if not child:
            os._exit(len(store._lost))
        ended = os.waitpid(child, 0)[1]
        owed = dict(store._lost)

    assert (ended, owed) == (0, {"r": 1})


def test_a_closed_host_stores_nothing_more() -> None:
    """A call after the end works, and opens no file again."""
    made = host(KEPT, echo())
    made.close()

    assert made.call("echo", {"text": "x"}, actor=ADA).success
    assert KEPT.rows("SELECT count(*) FROM run_step") == [(0,)]


def test_nothing_is_left_of_a_state_that_is_over() -> None:
    """Not a byte of what was sealed is left in the file after a purge (`secure_delete`)."""
    with host(KEPT, writer([])) as made:
        run = waiting(made)
        ((state,),) = KEPT.rows("SELECT state FROM run")
        assert state[:200] in KEPT.bytes()
        KEPT.rows(f"UPDATE run SET began = 0, ended = 0 WHERE id = '{run.id}'")
        KEPT.rows("UPDATE run_step SET at = 0")
    with audit.look(made.settings) as looked:
        assert looked.purge(1) == 1

    assert state[:200] not in KEPT.bytes()


def test_without_cryptography_nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named before anything is made."""
    monkeypatch.setitem(sys.modules, "cryptography", None)

    assert "toolseam[audit]" in refused()
    assert not file().exists()


def test_a_store_that_is_locked_for_good_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start waits for the lock, and then says that it cannot be written."""
    from toolseam_plugins.audit import _sqlite

    monkeypatch.setattr(_sqlite, "BUSY_S", 0.05)
    with host(KEPT) as made:
        made._state.store.begin("x", {"actor": "ada"})
    KEPT.rows("UPDATE run SET writer = 'gone'")
    with closing(sqlite3.connect(file(), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert "cannot be written" in refused()


def test_a_place_where_no_file_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the locks is a file; the store is there, and the start stops all the same."""
    host(KEPT).close()
    locks = file().with_name("audit.db-writers")
    locks.rmdir()
    locks.write_text("")

    assert "cannot be used" in refused()


def test_a_disk_that_takes_no_file_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of what was begun, and the driver's words stay inside."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space, says the driver")

    monkeypatch.setattr(os, "link", full)

    said = refused()

    assert "cannot be made (OSError)" in said
    assert "driver" not in said
    assert list(file().parent.iterdir()) == []


def test_reading_makes_nothing() -> None:
    """Who only looks finds nothing, and leaves nothing."""
    from toolseam._settings import coded_settings

    with pytest.raises(AuditError, match="Nothing is stored"):
        connect(coded_settings())
    assert not state_folder().exists()
