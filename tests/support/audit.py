"""Hosts with an audit, on SQLite and on PostgreSQL, and short ways to look into it."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import psycopg

from support.tools import ADA, plugin
from toolseam import Host, ToolResult
from toolseam.guards import state_folder
from toolseam.testing import ScriptedProvider
from toolseam_plugins import audit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.postgres import Postgres
    from toolseam.runs import Run

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_NUMBERS = itertools.count()
_EMPTY = (
    """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()""",
    "DROP SCHEMA IF EXISTS toolseam_audit CASCADE",
)


def file() -> Path:
    """Return where the store of a host without a workspace is."""
    return state_folder() / "host" / "audit.db"


@attrs.frozen
class Kept:
    """One store: what names it in the settings, and its rows as anybody with access reads them."""

    url: str | None
    server: Postgres | None = None

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return the operator's settings for it."""
        words = {} if self.url is None else {"database": self.url}
        return {"enable": ["write"], "audit": words | more}

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in it, whoever may, and return its rows."""
        if self.server is None:
            with closing(sqlite3.connect(file(), isolation_level=None)) as connection:
                return connection.execute(statement).fetchall()
        with psycopg.connect(str(self.url), autocommit=True) as connection:
            connection.execute(b"SET search_path = toolseam_audit")
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def bytes(self) -> bytes:
        """Return every byte of its files, or everything that the server would dump."""
        if self.server is None:
            found = sorted(each for each in file().parent.glob("audit.db*") if each.is_file())
            return b"".join(each.read_bytes() for each in found)
        names = [row[0] for row in self.rows("SELECT tablename FROM pg_tables")]
        ours = [each for each in names if each.startswith("run")]
        return repr([self.rows(f"SELECT t::text FROM {name} t") for name in ours]).encode()


def kept_stores(request: Any) -> Iterator[Kept]:
    """Give the store that a parameter of a fixture names: `sqlite` or `postgres`."""
    if request.param == "sqlite":
        yield Kept(None)
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = _database(server)
    # To empty it takes a third of the time that a new one does.
    server.execute(*_EMPTY, database=name)
    yield Kept(server.url(name), server)


@cache
def _database(server: Postgres) -> str:
    return server.database()


def say(arguments: Any) -> ToolResult:
    """Say a text again."""
    return ToolResult.text(f"said {arguments['text']}")


def echo(name: str = "echo", **more: Any) -> Any:
    """Return a tool that reads."""
    return plugin(say, name=name, **{"parameters": TEXT, **more})


def writer(done: list[str], name: str = "write") -> Any:
    """Return a tool that writes into a list, with a preview."""

    def execute(arguments: Any) -> ToolResult:
        done.append(arguments["text"])
        return ToolResult.text(f"wrote {arguments['text']}")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(f"would write {arguments['text']}")

    return plugin(execute, name=name, preview=preview, effect="idempotent_write", parameters=TEXT)


def host(kept: Kept, *tools: Any, **audited: Any) -> Host:
    """Return a host that keeps what happens."""
    return Host(tools=tools, plugins=[audit], settings=kept.settings(**audited))


def waiting(made: Host) -> Run:
    """Return a run whose write waits for people."""
    provider = ScriptedProvider([("write", {"text": "y"})])
    return made.session(actor=ADA).run(provider, "Write it.")
