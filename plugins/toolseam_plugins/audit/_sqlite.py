"""The store in one SQLite file, for its owner alone (policy-and-runs, The audit store).

WAL: readers wait for nobody, and writers for each other only. A write begins as one, never as a
read: a transaction that reads first would fail at once when another writer came between.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam.guards import UnsafePlace, make_private, state_folder
from toolseam_plugins.audit._database import AuditError, Doubled, Unreachable
from toolseam_plugins.audit._private import beginning, make_empty
from toolseam_plugins.audit._schema import VERSION, migrations

if TYPE_CHECKING:
    from collections.abc import Generator

FILE = "audit.db"
APPLICATION = 0x74736175  # "tsau"
BUSY_S = 10.0
_TYPES = {"text": "TEXT", "number": "INTEGER", "real": "REAL", "bytes": "BLOB"}
_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_AT = slice(68, 72)
_WRITERS = "-writers"
_PRAGMAS = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "secure_delete = ON",
    "synchronous = NORMAL",
)
# Of a value that no column takes, the driver complains in the language of Python.
_REFUSED = (sqlite3.Error, ValueError, OverflowError)
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"


class SqliteDatabase:
    """One connection to the file; `writer` is the name that lives as long as it does."""

    def __init__(self, file: Path, writer: str = "") -> None:
        self.place = str(file)
        self.writer = writer
        self._file = file
        self._folder = file.with_name(f"{file.name}{_WRITERS}")
        self._lock: int | None = None
        self._resting = False
        self._connection = _opened(file)
        if writer:
            try:
                self._lock = _locked(self._folder, writer)
            except AuditError:
                self._connection.close()
                raise

    def is_sound(self) -> bool:
        """Open the file again after a rest, if nobody has put another one there."""
        if self._resting:
            try:
                self._connection = _opened(self._file)
            except AuditError:
                return False
            self._resting = False
        return True

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query."""
        try:
            return self._connection.execute(statement, values).fetchall()
        except _REFUSED as error:
            raise Unreachable(type(error).__name__) from None

    def change(self, statement: str, *values: object) -> int:
        """Change rows and return how many."""
        try:
            return self._connection.execute(statement, values).rowcount
        except sqlite3.IntegrityError:
            raise Doubled from None
        except _REFUSED as error:
            raise Unreachable(type(error).__name__) from None

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Do several things or none, on the disk when it is over."""
        with self.durable():
            self._do("BEGIN IMMEDIATE")
            try:
                yield
                self._do("COMMIT")
            except BaseException:
                with suppress(Unreachable):
                    self._do("ROLLBACK")
                raise

    @contextmanager
    def durable(self) -> Generator[None]:
        """Have the one statement inside on the disk when it is over, and not only with the system.

        All else survives the end of the process; this also that of the machine.
        """
        self._do("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            self._do("PRAGMA synchronous = NORMAL")

    def is_alive(self, writer: str) -> bool:
        """Tell whether somebody holds the writer's lock; the kernel drops it with the process."""
        file = self._folder / Path(writer).name
        try:
            number = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        else:
            file.unlink(missing_ok=True)
            return False
        finally:
            os.close(number)

    def compact(self) -> None:
        """Write what waits in the log into the file, where what is deleted is overwritten."""
        self._do("PRAGMA wal_checkpoint(TRUNCATE)")

    def rest(self) -> None:
        """Close the file, and keep the lock of the writer's name."""
        self._connection.close()
        self._resting = True

    def abandon(self) -> None:
        """Let the life of the parent's name be the parent's alone."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def close(self) -> None:
        """Close the file and end the life of the writer's name."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            (self._folder / self.writer).unlink(missing_ok=True)

    def _do(self, statement: str) -> None:
        self.rows(statement)


def default_file(workspace: Path | None) -> Path:
    """Return where the store of a workspace, or of a host without one, is kept."""
    folder = state_folder() / "host" if workspace is None else state_folder(workspace)
    return folder / FILE


def made_private(file: Path, workspace: Path | None) -> Path:
    """Return the file with its folder made private, or refused where it is not the state folder's.

    Raises `AuditError` if it would lie in the workspace, or others could put files beside it.
    """
    inside = workspace is not None and Path(os.path.realpath(file)).is_relative_to(
        os.path.realpath(workspace)
    )
    if inside or file.parent.is_relative_to(state_folder()):
        try:
            make_private(file.parent, outside=workspace)
        except UnsafePlace as fault:
            raise AuditError(f"The folder of the audit store {fault}.") from None
        return file
    try:
        found = file.parent.stat()
    except OSError:
        raise AuditError(f"{file.parent}: there is no such folder") from None
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise AuditError(f"{file.parent}: others may write there; it must be its owner's alone")
    return file


def make_file(file: Path) -> None:
    """Make an empty store, whole or not at all; one that is there stays as it is."""
    # Beside the place and linked there: nobody ever sees half of one, and no journal is left.
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.close(make_empty(temporary))
        with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            _migrate(connection, str(file))
        with suppress(FileExistsError):
            os.link(temporary, file)
    except (OSError, sqlite3.Error) as error:
        raise AuditError(f"{file}: cannot be made ({type(error).__name__})") from None
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{temporary}{end}").unlink(missing_ok=True)


def _opened(file: Path) -> sqlite3.Connection:
    _refuse_strange(file)
    try:
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise AuditError(f"{file}: cannot be opened ({type(error).__name__})") from None
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        _migrate(connection, str(file))
        _compare(connection, str(file))
    except sqlite3.Error as error:
        connection.close()
        raise AuditError(f"{file}: is no sound audit store ({type(error).__name__})") from None
    except AuditError:
        connection.close()
        raise
    return connection


def _refuse_strange(file: Path) -> None:
    """Look at a file before SQLite does; what is not ours, or not private, is never opened."""
    if Path(f"{file}-journal").exists():
        # Ours has a write-ahead log from its first moment; a journal is rolled back on opening.
        raise AuditError(f"{file}-journal: no journal of ours, and it would be carried out")
    head = beginning(file, _HEADER)
    if head[:16] != _MAGIC or int.from_bytes(head[_AT]) != APPLICATION:
        raise AuditError(f"{file}: is no audit store of toolseam")


def _migrate(connection: sqlite3.Connection, place: str) -> None:
    """Bring a store of an older version, or an empty one, to this version."""
    if _version(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    found = _version(connection)
    if found > VERSION:
        raise AuditError(f"{place}: a newer toolseam made it (version {found})")
    for step in migrations(_TYPES)[found:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def _compare(connection: sqlite3.Connection, place: str) -> None:
    """Hold what is there to what we make: what else there is could drop or change rows."""
    there = {row[1]: row for row in connection.execute(_SCHEMA)}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as sample:
        _migrate(sample, place)
        ours = {row[1]: row for row in sample.execute(_SCHEMA)}
    for name in sorted(there.keys() | ours.keys()):
        if there.get(name) != ours.get(name):
            kind = there.get(name, ours.get(name, ("object",)))[0]
            what = "is missing" if name not in there else "is not ours"
            raise AuditError(f"{place}: the {kind} {str(name)[:64]!a} {what}")


def _locked(folder: Path, writer: str) -> int:
    """Take the lock that tells others that this process lives."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        number = make_empty(folder / writer)
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise AuditError(f"{folder}: cannot be used ({type(error).__name__})") from None
    return number
