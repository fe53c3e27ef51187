"""A real PostgreSQL server on loopback for tests, gone with the process that asked for it."""

from __future__ import annotations

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
    # The parents must be open to the server's user, which pytest's own folders are not.
    folder = Path(tempfile.mkdtemp(prefix="toolseam-pg-"))
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = pwd.getpwnam(user)
        os.chown(folder, account.pw_uid, account.pw_gid)
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    binaries, port = _binaries(), _free_port()
    options = ("--auth=trust", "--username=postgres", "--no-sync", "--no-instructions")
    subprocess.run(
        [binaries / "initdb", "-D", folder / "data", *options, "-E", "UTF8", "--locale=C"],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd="/",
        **identity,
    )
    settings = (*_SETTINGS, f"port={port}", f"unix_socket_directories={folder}")
    flags = [part for setting in settings for part in ("-c", setting)]
    command: list[str | Path] = [binaries / "postgres", "-D", folder / "data", *flags]
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
