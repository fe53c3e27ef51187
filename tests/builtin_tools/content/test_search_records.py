import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.databases import ask, everything, sqlite_workspace
from support.postgres import Postgres, postgres
from toolseam import ToolResult
from toolseam_builtin._database import Excerpt, hit
from toolseam_builtin.content import _searching, search_records
from toolseam_builtin.workspace import TableSettings, Workspace

__all__ = ["postgres"]

SHOP = """
create table p (id integer primary key, code text, name text);
insert into p values (1, 'AB_10', '50% off lamp'), (2, 'ABX10', '5000 lamp'), (3, 'ab_11', 'x');
create table album (id integer primary key, title text, note text, price numeric, token text);
insert into album values (1, 'Ärger im Hafen', 'a \\ b', 5, 'lamp'), (2, 'Tides', 'LAMP', 7, 'x');
create table number (id integer primary key, n integer);
insert into number values (1, 5000);
"""


SECRETS = """
create table member (id integer primary key, name text, password text, settings json, url text);
insert into member values (1, 'ada', 'sesame77', '{"theme":"dark","api_key":"sesame77"}',
  'https://app:sesame77@host/x');
create table change (id integer primary key, field text, old text, new text);
insert into change values (1, 'password', 'sesame76', 'sesame77'), (2, 'title', 'Dawn', 'Dusk');
create table torn (id integer primary key, doc text);
insert into torn values (1, '{"password": "sesame77", broken');
"""


def on(postgres: Postgres, script: str, role: str) -> Workspace:
    """Run a script in a database of its own, and return the workspace of a role that may read."""
    grants = (f"create role {role} login", f"grant select on all tables in schema public to {role}")
    statements = [part for part in script.split(";") if part.strip()]
    database = postgres.database(*statements, *grants)
    return Workspace(database=postgres.url(database, role), trusted=True)


@pytest.fixture(scope="module")
def vault_server(postgres: Postgres) -> Workspace:
    """Secrets of every kind on a server."""
    return on(postgres, SECRETS, "prober")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """Secrets of every kind on either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, SECRETS)
    found: Workspace = request.getfixturevalue("vault_server")
    return found


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Workspace:
    """The same shop on a server, for a role that may only read."""
    return on(postgres, SHOP, "finder")


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """The shop on either engine."""
    if request.param == "SQLite":
        return sqlite_workspace(tmp_path, SHOP)
    found: Workspace = request.getfixturevalue("server")
    return found


def hits(result: ToolResult) -> list[str]:
    """Return table and key of each hit."""
    assert result.data is not None, result.content
    return [f"{row[0]}:{row[1]}" for row in result.data["rows"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("AB_10", ["p:1"]),
        ("50%", ["p:1"]),
        ("_", ["p:1", "p:3"]),
        ("%", ["p:1"]),
        ("\\", ["album:1"]),
        ("lamp", ["album:2", "p:1", "p:2"]),
        ("ÄRGER", ["album:1"]),
        ("' or '1'='1", []),
        ("nothing of it", []),
        ("a\0b", []),
    ],
)
def test_a_text_is_found_literally(shop: Workspace, query: str, expected: list[str]) -> None:
    """Wildcards, quotes and escapes are characters like others, and case does not count."""
    result = ask(search_records, shop, query=query)

    assert result.success, result.content
    assert hits(result) == expected


def test_text_table_and_data_say_the_same(shop: Workspace) -> None:
    """Each hit has its table, key, label and an excerpt, and what was not searched is said."""
    result = ask(search_records, shop, query="lamp", limit=2)

    assert result.content.splitlines() == [
        "'lamp' in 2 tables: 2 records.",
        "- album:2 Tides",
        "  note: LAMP",
        "- p:1 50% off lamp",
        "  name: 50% off lamp",
        "More records match. More with a larger limit (at most 50), a longer query or one `table`.",
        "Without a text column: number.",
    ]
    assert result.artifacts[0].rows == [
        ["album", "2", "Tides", "note", "LAMP"],
        ["p", "1", "50% off lamp", "name", "50% off lamp"],
    ]
    assert result.data["rows"] == result.artifacts[0].rows
    assert result.data["more"] is True


def test_one_table_is_searched_alone(shop: Workspace) -> None:
    """With `table`, only that one is looked into, and its other matching fields are named."""
    result = ask(search_records, shop, query="ab", table="P")

    assert hits(result) == ["p:1", "p:2", "p:3"]
    assert result.content.startswith("'ab' in p: 3 records.")


def test_tables_that_no_turn_came_to_are_named(tmp_path: Path) -> None:
    """Where the answer is full before the last table, what was not searched is said."""
    script = "".join(
        f"create table t{n} (id integer primary key, a text); insert into t{n} values (1, 'xy');"
        for n in range(5)
    )

    result = ask(search_records, sqlite_workspace(tmp_path, script), query="xy", limit=2)

    assert hits(result) == ["t0:1", "t1:1"]
    assert result.data["not_searched"] == ["t3", "t4"]
    assert "Not searched, since the answer is full: t3, t4." in result.content


def test_the_label_of_the_workspace_is_shown(tmp_path: Path) -> None:
    """The column that the workspace names as label names the hits."""
    workspace = sqlite_workspace(tmp_path, SHOP, tables={"p": TableSettings(label="code")})

    result = ask(search_records, workspace, query="5000")

    assert "- p:2 ABX10" in result.content


def test_an_excerpt_is_cut_round_the_match(tmp_path: Path) -> None:
    """Of a long text 120 characters are shown, with the match in the middle."""
    script = f"""
    create table page (id integer primary key, body text);
    insert into page values (1, '{"a " * 500}the needle{" b" * 500}');
    """

    result = ask(search_records, sqlite_workspace(tmp_path, script), query="Needle")

    excerpt = result.data["rows"][0][4]
    assert "the needle" in excerpt
    assert len(excerpt) < 160
    assert "[2,010 characters in all]" in excerpt


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "invalid_arguments"),
        ("   ", "invalid_arguments"),
        ("a", "invalid_arguments"),
        ("x" * 101, "invalid_arguments"),
    ],
)
def test_queries_out_of_bounds_are_refused(shop: Workspace, query: str, code: str) -> None:
    """Blank, too short and too long texts are refused, and none is cut."""
    result = ask(search_records, shop, query=query)

    assert result.failure is not None
    assert result.failure.code == code


def test_absent_and_denied_tables_sound_alike(tmp_path: Path) -> None:
    """The refusal does not tell whether a denied table exists."""
    workspace = sqlite_workspace(tmp_path, SHOP + "create table users (id integer, name text);")

    denied = ask(search_records, workspace, query="lamp", table="users")
    absent = ask(search_records, workspace, query="lamp", table="usirs")

    assert denied.failure is not None
    assert denied.failure.code == "not_found"
    assert denied.content.replace("users", "usirs") == absent.content


@pytest.mark.parametrize(
    "query", ["ses", "sex", "sesame77", "sesame", "masked", "ma", "[m", '": "']
)
def test_a_right_guess_and_a_wrong_one_answer_alike(vault: Workspace, query: str) -> None:
    """What is masked is not found, neither is its mask, nor what only its spelling adds."""
    result = ask(search_records, vault, query=query)

    assert hits(result) == []
    assert result.data["more"] is False
    assert "sesame" not in everything(result).replace(query, "")


@pytest.mark.parametrize(
    ("query", "expected"),
    [("dark", "member:1"), ("host/x", "member:1"), ("dusk", "change:2"), ("api_key", "member:1")],
)
def test_what_stands_beside_a_secret_is_found(vault: Workspace, query: str, expected: str) -> None:
    """A mask hides its value alone, and the excerpt shows the mask."""
    result = ask(search_records, vault, query=query)

    assert hits(result) == [expected]
    assert "sesame" not in everything(result)


@given(st.text('ab"{}:,\\ é', max_size=12), st.text("abé\\ ", min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_hit_depends_on_what_is_masked(beside: str, query: str) -> None:
    """Two cells that differ in a masked value alone are hits of the same texts."""

    def cell(secret: str) -> Excerpt:
        text = json.dumps({"note": beside, "password": secret}, separators=(",", ":"))
        return Excerpt(text, len(text))

    assert hit(cell("zz"), query) == hit(cell(f"z{query}z"), query)


def test_a_broken_table_spoils_nothing(tmp_path: Path) -> None:
    """Where one table cannot be read, the others are searched and a warning names it."""
    script = SHOP + "create table big (id integer primary key, a text);"
    workspace = sqlite_workspace(tmp_path, script)
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        connection.execute("insert into big values (1, printf('%.*c', 9000000, 'l'))")
        connection.commit()

    result = ask(search_records, workspace, query="lamp")

    assert hits(result) == ["album:2", "p:1", "p:2"]
    assert "big" in result.metadata["warnings"][0]


def test_views_are_searched_when_named(tmp_path: Path) -> None:
    """A view shows rows of tables once more, so it is searched on its own account only."""
    script = SHOP + "create view cheap as select id, name from p;"
    workspace = sqlite_workspace(tmp_path, script)

    every = ask(search_records, workspace, query="lamp")
    named = ask(search_records, workspace, query="lamp", table="cheap")

    assert "Searched only when named: cheap." in every.content
    assert len(hits(named)) == 2


def test_a_search_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that does not end is stopped at its budget, and says so."""
    script = """
    create view endless as with recursive r(x) as (select 'a' union all select x from r)
      select x from r;
    """
    monkeypatch.setattr(_searching, "_SECONDS", 0.2)
    started = time.process_time()

    result = ask(search_records, sqlite_workspace(tmp_path, script), query="bb", table="endless")

    assert time.process_time() - started < 1.5
    assert result.data["stopped"] == ["endless"]
    assert "stopped at the time limit" in result.content


def test_a_label_names_no_secret(tmp_path: Path) -> None:
    """A label that holds the value of a sensitive field is masked, as the field would be."""
    script = """
    create table conf (id integer primary key, name text, value text);
    insert into conf values (1, 'api_key', 'k-Aster-9'), (2, 'rapid', 'dark');
    """
    workspace = sqlite_workspace(tmp_path, script, tables={"conf": TableSettings(label="value")})

    result = ask(search_records, workspace, query="api")

    assert "- conf:1 [masked]" in result.content
    assert "- conf:2 dark" in result.content
    assert "Aster" not in everything(result)


def test_a_long_text_says_its_own_length(tmp_path: Path) -> None:
    """Label and excerpt of a text of which only a part is searched count all of it."""
    script = """
    create table page (id integer primary key, title text);
    insert into page values (1, 'needle' || replace(hex(zeroblob(150000)), '00', 'xy'));
    """

    result = ask(search_records, sqlite_workspace(tmp_path, script), query="needle")

    assert result.content.count("… [300,006 characters in all]") == 2
