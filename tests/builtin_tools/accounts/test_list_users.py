from __future__ import annotations

import os
import pwd
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support.accounts import CANARY, NAMED, PEOPLE
from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import Actor
from toolseam.testing import harness
from toolseam_builtin.accounts import _tables, list_groups, list_users, list_users_raw
from toolseam_builtin.accounts._harmless import GROUPS, USERS, harmless
from toolseam_builtin.content import read_records
from toolseam_builtin.workspace import AccountSettings, Workspace

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

__all__ = ["postgres"]


def test_users_are_listed_by_harmless_columns(tmp_path: Path) -> None:
    """Known columns come in a known order, whatever their spelling; the others are named."""
    result = ask(list_users, sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED))

    assert result.content.splitlines() == [
        "SQLite table people: 2 users, shown 1 to 2.",
        "- people:1",
        "  username: ada",
        "  email: ada@museum.example",
        "  disabled: 0",
        "  is_admin: 1",
        "  lastLogin: 2026-01-02",
        "- people:2",
        "  username: bob",
        "  email: bob@museum.example",
        "  disabled: 1",
        "  is_admin: 0",
        "  lastLogin: null",
        "Left out, since their names are not known to be harmless: phone, about.",
        "Never shown: password_hash, mfa_secret, password_copy.",
    ]
    (table,) = result.artifacts
    assert table.columns == ["id", "username", "email", "disabled", "is_admin", "lastLogin"]
    assert all(cell in result.content for row in table.rows for cell in row)
    assert result.data is not None
    assert result.data["rows"][1] == [2, "bob", "bob@museum.example", 1, 0, None]


def test_pages_and_filter_say_what_is_left(tmp_path: Path) -> None:
    """A page says where the next one begins, and a filter counts what matches."""
    script = PEOPLE + (
        "with recursive n(x) as (select 10 union all select x + 1 from n limit 5000)"
        " insert into people (id, username) select x, 'user' || x from n;"
    )
    workspace = sqlite_workspace(tmp_path, script, accounts=NAMED)

    page = ask(list_users, workspace, limit=1, offset=1)
    found = ask(list_users, workspace, filter="USER499", limit=2)

    assert page.content.splitlines()[:2] == [
        "SQLite table people: 5,002 users, shown 2 to 2.",
        "- people:2",
    ]
    assert "More with offset=2." in page.content
    assert found.content.startswith("SQLite table people: 11 users with 'USER499', shown 1 to 2.")
    assert found.data is not None
    assert found.data["next_offset"] == 2


def test_a_filter_that_takes_too_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found until then is shown, and counted as the least that there is."""
    script = PEOPLE + (
        "with recursive n(x) as (select 10 union all select x + 1 from n limit 150000)"
        " insert into people (id, username) select x, 'user' || x from n;"
    )
    workspace = sqlite_workspace(tmp_path, script, accounts=NAMED)

    monkeypatch.setattr(_tables, "SECONDS", 0.2)
    for _ in range(9):
        started = time.process_time()
        result = ask(list_users, workspace, filter="user", limit=1)
        spent = time.process_time() - started
        if result.artifacts[0].rows:  # or the machine stood still before the first one was read
            break

    assert spent < 2.0
    assert "people: at least " in result.content
    assert "The filter was stopped at the time limit" in result.content
    assert len(result.artifacts[0].rows) == 1
    assert result.data is not None
    assert not result.data["complete"]


@pytest.mark.parametrize("guess", [CANARY[:3], "555", "api_key"])
def test_the_filter_sees_only_what_is_shown(tmp_path: Path, guess: str) -> None:
    """What a column that is not shown holds cannot be found out by filtering."""
    workspace = sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED)

    result = ask(list_users, workspace, filter=guess)

    assert result.data is not None
    assert result.data["total"] == 0


@pytest.mark.parametrize("tool", [list_users, list_users_raw, list_groups])
def test_a_blank_filter_is_refused(tmp_path: Path, tool: ModuleType) -> None:
    """Blanks are no filter."""
    result = ask(tool, sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED), filter="  ")

    assert result.failure is not None
    assert result.failure.code == "invalid_arguments"


@pytest.mark.parametrize("name", ["absent", "everybody", "sqlite_master", "people_notes"])
def test_only_the_named_table_is_opened(tmp_path: Path, name: str) -> None:
    """A setting that names no table, a view or a denied table is unavailable, naming the key."""
    workspace = sqlite_workspace(
        tmp_path, PEOPLE, accounts=AccountSettings(users=name), tables_deny=("*notes",)
    )

    result = ask(list_users, workspace)

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert "workspace.accounts.users" in result.content
    assert CANARY not in everything(result)


@pytest.mark.parametrize("name", ["sessions", "oauth_user", "audit_log", "api_tokens"])
def test_a_table_of_secrets_needs_the_operators_word(tmp_path: Path, name: str) -> None:
    """A table whose name speaks of secrets is no table of people, unless the operator names it."""
    script = f"create table {name} (id integer primary key, name text, body text);"
    script += f"insert into {name} values (1, 'ada', 'x');"
    named = AccountSettings(users=name)
    workspace = sqlite_workspace(tmp_path, script, accounts=named)

    refused = ask(list_users, workspace)
    given = ask(list_users, Workspace(folder=tmp_path, accounts=named, tables_allow=(name,)))

    assert refused.failure is not None
    assert refused.failure.code == "unavailable"
    assert "names no table that may be read" in refused.content
    assert given.data is not None
    assert given.data["rows"] == [[1, "ada"]]


def test_the_other_tools_stay_shut(tmp_path: Path) -> None:
    """That the accounts tools read the table opens it to no other tool."""
    result = ask(read_records, sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED), table="people")

    assert result.failure is not None
    assert result.failure.code == "not_found"


@pytest.mark.parametrize("tool", [list_users, list_users_raw, list_groups])
def test_accounts_are_for_admins(tmp_path: Path, tool: ModuleType) -> None:
    """Somebody without the role is refused before anything is read."""
    workspace = sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED)

    result = harness(tool, settings=workspace, actor=Actor("guest")).call()

    assert result.failure is not None
    assert result.failure.code == "permission_denied"


def test_the_raw_list_is_off_until_the_operator_says_so() -> None:
    """The other two are on by default."""
    assert not list_users_raw.tool_spec().enabled_by_default
    assert list_users.tool_spec().enabled_by_default
    assert list_groups.tool_spec().enabled_by_default


def test_without_a_table_the_system_is_asked(tmp_path: Path) -> None:
    """Users of the operating system come by number, with the first part of their gecos."""
    own = pwd.getpwuid(os.geteuid())

    listed = ask(list_users, Workspace(folder=tmp_path), filter=own.pw_name, limit=100)
    raw = ask(list_users_raw, Workspace(folder=tmp_path), filter=own.pw_name, limit=100)

    assert listed.content.startswith("Operating system: ")
    assert f"- user:{own.pw_uid}\n  name: {own.pw_name}\n" in listed.content
    assert f"home: {own.pw_dir}" in raw.content
    assert "home" not in listed.artifacts[0].columns
    assert "workspace.accounts.users names no table" in listed.content


@pytest.mark.parametrize(
    ("tool", "module"), [(list_users, "pwd"), (list_users_raw, "pwd"), (list_groups, "grp")]
)
def test_a_platform_without_accounts_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: ModuleType, module: str
) -> None:
    """Where the operating system keeps no such list, the platform and the setting are named."""
    monkeypatch.setitem(sys.modules, module, None)

    result = ask(tool, Workspace(folder=tmp_path))

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert result.metadata["reason"] == "platform"
    assert sys.platform in result.content
    assert "[workspace.accounts]" in result.content


def test_spellings_of_known_columns_are_recognised() -> None:
    """Case, underscores and a leading `user` do not matter; other names are never taken."""
    columns = ["user_pass", "USER_EMAIL", "displayName", "id", "hash", "crdate", "Status", "phone"]

    assert harmless(columns, USERS) == ["displayName", "USER_EMAIL", "Status", "crdate"]
    assert harmless(["title", "email", "name"], GROUPS) == ["name", "title"]


def test_postgres_accounts_are_read_in_any_schema(postgres: Postgres) -> None:
    """The table may be in a schema of its own; no view and no other table comes with it."""
    name = postgres.database(
        "drop role if exists clerk",
        "create role clerk login",
        "create schema auth",
        'create table auth."User" (id int primary key, email text, password text, is_staff bool)',
        f"insert into auth.\"User\" values (1, 'ada@museum.example', '{CANARY}', true)",
        """create view everybody as select email, password as note from auth."User" """,
        "grant usage on schema auth, public to clerk",
        "grant select on all tables in schema auth, public to clerk",
    )

    def listed(table: str) -> str:
        workspace = Workspace(
            database=postgres.url(name, "clerk"),
            trusted=True,
            accounts=AccountSettings(users=table),
        )
        result = ask(list_users, workspace)
        assert CANARY not in everything(result)
        return result.content

    assert listed("auth.User").splitlines() == [
        "PostgreSQL table auth.User: 1 user, shown 1 to 1.",
        "- auth.User:1",
        "  email: ada@museum.example",
        "  is_staff: true",
        "Never shown: password.",
    ]
    assert "names no table" in listed("User")
    assert "names no table" in listed("everybody")
