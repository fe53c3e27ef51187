"""A real PostgreSQL server on loopback for tests, gone with the process that asked for it."""

from __future__ import annotations

import atexit
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=120",
    "shared_buffers=32MB",
)
_START_SECONDS = 120
# The keeper is the server's parent: it stops the server once nobody holds its standard input,
# also when the tests were killed.
_KEEPER = """
import json, shutil, signal, subprocess, sys
identity, folder, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd="/", **json.loads(identity))
sys.stdin.read()
server.send_signal(signal.SIGINT)
try:
    server.wait(20)
except subprocess.TimeoutExpired:
    server.kill()
    server.wait()
shutil.rmtree(folder, ignore_errors=True)
"""


class Postgres:
    """A running server: roles connect without a password."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._databases = 0

    def url(self, database: str = "postgres", role: str = "postgres") -> str:
        """Return the address of a database for a role."""
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}"

    def database(self, *statements: str) -> str:
        """Make a database of its own, run statements in it as superuser, and return its name."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        self.execute(*statements, database=name)
        return name

    def execute(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements as superuser and return the rows of the last one."""
        rows: list[tuple[Any, ...]] = []
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
                rows = cursor.fetchall() if cursor.description else []
        return rows


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run a server of its own on a free port; it ends with the session, however that ends."""
    with server() as running:
        yield running


@contextmanager
def server() -> Generator[Postgres]:
    """Run a server of its own on a free port, as long as this process lives."""
    folder, identity = _folder(), _identity()
    # Making one anew takes ten times as long as copying it with its owner.
    subprocess.run(["cp", "-a", _fresh(), folder / "data"], check=True)
    port = _free_port()
    settings = (*_SETTINGS, f"port={port}", f"unix_socket_directories={folder}")
    flags = [part for setting in settings for part in ("-c", setting)]
    command: list[str | Path] = [_binaries() / "postgres", "-D", folder / "data", *flags]
    with (folder / "log").open("wb") as log:
        keeper = subprocess.Popen(
            [sys.executable, "-c", _KEEPER, json.dumps(identity), folder, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            # A signal for the tests' whole group must not reach it.
            start_new_session=True,
        )
    try:
        running = Postgres(port)
        _wait_for(running, folder / "log")
        yield running
    finally:
        if keeper.stdin is not None:
            keeper.stdin.close()
        keeper.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    """Make a folder of the server's user; what pytest makes lets nobody else in."""
    folder = Path(tempfile.mkdtemp(prefix="toolseam-pg-"))
    if identity := _identity():
        os.chown(folder, identity["user"], identity["group"])
    return folder


def _identity() -> dict[str, Any]:
    """Return whom a process has to be that the server's programs run for; they do not for root."""
    if os.geteuid():
        return {}
    account = pwd.getpwnam("postgres")
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


@cache
def _fresh() -> Path:
    """Make what a server starts from, once for this process, and remove it with that."""
    folder = _folder()
    atexit.register(_remove, folder, os.getpid())
    options = ("--auth=trust", "--username=postgres", "--no-sync", "--no-instructions")
    subprocess.run(
        [_binaries() / "initdb", "-D", folder / "data", *options, "-E", "UTF8", "--locale=C"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
        **_identity(),
    )
    return folder / "data"


def _remove(folder: Path, owner: int) -> None:
    """Remove a folder, but not in a child that a test forked."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    """Return where the server programs are."""
    found = shutil.which("postgres")
    if found is not None:
        return Path(found).resolve().parent
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4])
    )
    if not installed:
        pytest.fail("PostgreSQL's server binaries are needed, for example: apt install postgresql")
    return installed[-1].parent


def _free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(server: Postgres, log: Path) -> None:
    """Return as soon as the server answers."""
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            if time.monotonic() > until:
                pytest.fail(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.05)
        else:
            return
