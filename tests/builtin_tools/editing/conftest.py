"""One small site on both engines: pages with history, files with history, people."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from support.databases import sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import Actor
from toolseam.testing import harness
from toolseam_builtin.workspace import TableSettings, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from toolseam import ToolResult

__all__ = ["postgres"]

ADA = Actor("ada", {"admin"})

SITE = """
create table pages (
  id {serial} primary key,
  parent_id integer references pages (id),
  position integer not null default 0,
  title varchar(60) not null,
  slug text not null unique,
  language text not null default 'en',
  translation_of integer references pages (id),
  draft {flag} not null default {off},
  price numeric(10,2),
  opens date,
  notes text,
  access_token text,
  tag text generated always as (title || '!') stored
);
insert into pages (parent_id, position, title, slug, notes, access_token) values
  (null, 1, 'Home', 'home', 'first', 'CANARY-0'), (1, 1, 'Visit', 'visit', null, 'CANARY-1'),
  (2, 1, 'Getting here', 'here', null, null), (2, 2, 'Tickets', 'tickets', null, null),
  (1, 2, 'Exhibitions', 'shows', null, null);
create table pages_history (
  id {serial} primary key, page_id integer not null references pages (id), field text not null,
  old text, new text, changed_by text not null, changed_at text not null
);
create table files (
  id {serial} primary key, path text not null, alt varchar(30), title text
);
insert into files (path, alt, title) values
  ('harbour.svg', null, 'Harbour'), ('a/twice.png', null, 'A'), ('/a/twice.png', null, 'B');
create table files_history (
  id {serial} primary key, file_id integer not null references files (id), field text not null,
  old text, new text, changed_by text not null, changed_at text not null
);
create table users (id {serial} primary key, name text);
insert into users (name) values ('Ada')
"""
TABLES = ("pages_history", "pages", "files_history", "files", "users")
# In one connection and without new files, what a truncation would make.
AGAIN = (
    *(f"delete from {name}" for name in TABLES),
    *(f"select setval(pg_get_serial_sequence('{name}', 'id'), 1, false)" for name in TABLES),
    *(part for part in SITE.split(";") if part.strip().startswith("insert")),
)
SETTINGS = {
    "pages": TableSettings(
        label="title",
        parent="parent_id",
        position="position",
        draft="draft",
        language="language",
        translation_of="translation_of",
        history="pages_history",
        editable=("title", "slug", "price", "opens", "notes", "tag"),
    ),
    "files": TableSettings(
        files=("path",), alternative_text="alt", history="files_history", editable=("alt",)
    ),
}


@attrs.frozen
class Site:
    """A workspace whose database tests may look into and change from outside."""

    workspace: Workspace
    run: Callable[..., list[tuple[Any, ...]]]

    def settings(self, table: str, **words: Any) -> Site:
        """Return the same site with other words about one table."""
        tables = dict(self.workspace.tables)
        tables[table] = attrs.evolve(tables.get(table, TableSettings()), **words)
        return attrs.evolve(self, workspace=attrs.evolve(self.workspace, tables=tables))

    def write(self, tool: object, **arguments: Any) -> ToolResult:
        """Call a tool as ada, with an approval of exactly this call."""
        with harness(tool, actor=ADA, settings=self.workspace, approve=True) as double:
            return double.call(arguments)

    def preview(self, tool: object, **arguments: Any) -> list[str]:
        """Return the lines that an approver of a call would see."""
        with harness(tool, actor=ADA, settings=self.workspace) as double:
            return list(double.host.preview(double.spec.name, arguments, actor=ADA).lines)

    def everything(self) -> list[list[tuple[Any, ...]]]:
        """Return all rows of all tables."""
        return [self.run(f"select * from {name} order by id") for name in TABLES]


def sqlite_site(folder: Path, script: str = "", **settings: Any) -> Site:
    """Make the site in a SQLite file, with a script behind it."""
    words = {"serial": "integer", "flag": "integer", "off": "0"}
    workspace = sqlite_workspace(
        folder, f"{SITE.format(**words)}; {script}", **{"tables": SETTINGS, **settings}
    )

    def run(statement: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(folder / "app.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    return Site(workspace, run)


def postgres_site(server: Postgres, *statements: str, **settings: Any) -> Site:
    """Make the site on a server, for one role that reads and one that writes."""
    words = {
        "serial": "integer generated by default as identity",
        "flag": "boolean",
        "off": "false",
    }
    made = [part for part in SITE.format(**words).split(";") if part.strip()]
    roles = (
        "do $$ begin create role reader login; create role editor login;"
        " exception when duplicate_object then null; end $$"
    )
    grants = [
        "grant select on all tables in schema public to reader, editor",
        "grant insert, update on all tables in schema public to editor",
    ]
    name = server.database(roles, *made, *statements, *grants)
    known: dict[str, Any] = {
        "database": server.url(name, "reader"),
        "write_database": server.url(name, "editor"),
        "tables": SETTINGS,
    }
    workspace = Workspace(trusted=True, **(known | settings))

    def run(statement: str) -> list[tuple[Any, ...]]:
        return server.execute(statement, database=name)

    return Site(workspace, run)


@pytest.fixture(params=["sqlite", "postgres"], scope="module")
def steady(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site on each engine, for tests in which nothing is to change."""
    if request.param == "sqlite":
        return sqlite_site(tmp_path_factory.mktemp("site"))
    return postgres_site(request.getfixturevalue("postgres"))


@pytest.fixture(scope="module")
def on_server(postgres: Postgres) -> Site:
    """The site on a server, as other tests of the module left it."""
    return postgres_site(postgres)


@pytest.fixture(params=["sqlite", "postgres"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """The site on each engine, as it is made."""
    if request.param == "sqlite":
        return sqlite_site(tmp_path)
    found: Site = request.getfixturevalue("on_server")
    server: Postgres = request.getfixturevalue("postgres")
    name = (found.workspace.database or "").rpartition("/")[2]
    server.execute(*AGAIN, database=name)
    return found
