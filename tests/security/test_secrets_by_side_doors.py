"""S8, over what exists: secrets that stand beside what a tool may read do not leave with it."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.databases import ask, everything, sqlite_workspace
from support.dist_info import write_dist
from support.links import flipping
from support.logs import logged
from toolseam import Actor, Host, ToolResult, Zone, encode_result
from toolseam._steps import step_json
from toolseam.testing import Canary, canary, harness
from toolseam_builtin.code import read_source
from toolseam_builtin.content import read_records
from toolseam_builtin.structure import get_record_tree, get_table_schema
from toolseam_builtin.workspace import Workspace

ADMIN, BOB = Actor("ada", {"admin"}), Actor("bob", {"support"})
EXAMPLES: dict[str, dict[str, Any]] = {
    "read_records": {"table": "page"},
    "list_tables": {},
    "get_table_schema": {"table": "page"},
    "get_record_tree": {"table": "page"},
    "read_source": {"path": "settings.py", "lines": 200},
    "search_code": {"pattern": "canary", "max_results": 100},
    "get_env": {},
    "list_packages": {},
}
FOR_ADMINS = {"read_source", "search_code", "get_env", "list_packages"}
REFUSALS = {"not_found", "permission_denied", "unavailable", "invalid_arguments"}

WITHIN = {
    ".env": "PASSWORD={}\nNOTE={}\n",
    ".git/config": "[remote]\nurl = https://app:{}@host/x\n",
    "settings.py": """\
SECRET_KEY = "{0}"
DATABASE_URL = "postgresql://app:{0}@db/shop?password={0}&sslpassword={0}"
ODBC = "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3D{0}"
CACHE = {{"host": "cache", "password": "{0}", "port": 6379}}
API_TOKEN: str = (
    "{0}"
)
PRIVATE_KEY = '''
{0}
'''
client = connect(user="app", password="{0}")
""",
    "config.yaml": "db:\n  host: db\n  password: {0}\n  api_key:\n    - {0}\ntoken: >\n  {0}\n",
    "config.toml": 'host = "db"\npassword = "{}"\n[auth]\nclient_secret = "{}"\n',
    "config.json": '{{"host": "db", "password": "{}", "auth": {{"access_token": "{}"}}}}',
    "app.ini": "[db]\nhost = db\npassword = {}\n",
    "logs/app.log": """\
ERROR request failed
Traceback (most recent call last):
  File "shop.py", line 4, in connect
OSError: cannot reach postgresql://app:{0}@db/shop
Set-Cookie: sessionid={0}; Path=/
Location: https://shop/?token={0}
Authorization: Bearer {0}
""",
    "crontab": "MAILTO=ops\nAPP_TOKEN={0}\n5 4 * * * shop sync --password {0} --all\n",
    **dict.fromkeys(
        ("id_rsa", "server.pem", ".netrc", "service-account-1.json", "prod.tfstate", "secrets.yml"),
        "{}\n",
    ),
}
TABLES = """
create table page (id integer primary key, parent_id integer references page(id), title text,
  data text, api_token text default '{0}', check (api_token <> 'x{0}'));
insert into page values (1, null, 'Home', '{{"host": "db", "api_key": "{0}"}}', '{0}'),
  (2, 1, 'News', '[{{"auth": "{{\\"client_secret\\": \\"{0}\\"}}"}}]', '{0}');
create index page_token on page (api_token) where api_token <> 'x{0}';
create table change (id integer primary key, field text, old text, new text);
insert into change values (1, 'password', null, '{0}'), (2, 'title', 'Home', 'News');
create table invite (token text primary key, parent text references invite(token), name text);
insert into invite values ('{0}', null, 'first'), ('{0}-2', '{0}', 'second');
create table copy (id integer primary key, secret text, label text as ('x' || secret));
insert into copy (id, secret) values (1, '{0}');
create view shown as select id, api_token as title from page;
create table auth_user (id integer primary key, name text);
insert into auth_user values (1, '{0}');
create table sessions (id integer primary key, name text);
insert into sessions values (1, '{0}');
create table oauth_token (id integer primary key, name text);
insert into oauth_token values (1, '{0}');
"""
DENIED = ("auth_user", "sessions", "oauth_token")
NAMES = ("page", "change", "invite", "copy", "shown", *DENIED, "nope")
COLUMNS = (
    *("id", "parent_id", "title", "data", "api_token", "field", "old", "new", "token", "parent"),
    *("name", "secret", "label"),
)
ENVIRONMENT = {
    "SHOP_PASSWORD": "{}",
    "SHOP_URL": "redis://:{}@cache:6379/0",
    "SHOP_JSON": '{{"region": "eu", "api_key": "{}"}}',
    "SHOP_FLAGS": "--token {} --port 5",
}


@attrs.frozen
class Ground:
    """A workspace with one secret at every door, and a host in it."""

    folder: Path
    host: Host
    secret: Canary

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        actor: Actor | None = ADMIN,
        zone: Zone = Zone.LOCAL,
    ) -> ToolResult:
        """Call a tool on the wire, and hold all that left against the secret."""
        with logged() as records:
            text, step = self.host.session(actor=actor, zone=zone).call_wire(name, arguments)
        result = step.result
        assert result is not None
        told = (text, everything(result), repr(step), json.dumps(step_json(step)), *records)
        assert not self.leaks(*told, encode_result(result)), (name, arguments, text)
        return result

    def leaks(self, *outputs: str | bytes) -> bool:
        """Tell whether the secret, or eight of its digits, are in any of the outputs."""
        digits = self.secret.text.rpartition("-")[2]
        parts = {digits[start : start + 8] for start in range(len(digits) - 7)}
        texts = [o if isinstance(o, str) else o.decode() for o in outputs]
        return self.secret.is_in(*outputs) or any(part in text for text in texts for part in parts)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The workspace for all tests of this module; none of them changes it."""
    base, secret = tmp_path_factory.mktemp("ground"), canary()
    folder, outside = base / "shop", base / "outside"
    for name, text in WITHIN.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(*[secret.text] * 4))
    with gzip.open(folder / "logs" / "app.log.1.gz", "wt") as old:
        old.write(secret.text)
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{secret.text}\n")
    os.link(outside / "secret.txt", folder / "linked.txt")
    (folder / "out").symlink_to(outside)
    (folder / "out.txt").symlink_to(outside / "secret.txt")
    with closing(sqlite3.connect(folder / "app.db")) as connection:
        connection.executescript(TABLES.format(secret.text))
    info = write_dist(base / "lib", "acme_shop")
    with (info / "METADATA").open("a") as about:
        about.write(f"Summary: Shops at https://app:{secret.text}@host/x\n")
    (folder / "toolseam.toml").write_text(
        '[workspace]\ndatabase = "app.db"\nsource_root = "."\n'
        f'storages = {{ media = "s3://key:{secret.text}@bucket" }}\n'
    )
    operator = base / "operator.toml"
    operator.write_text('[tables]\nallow = ["*"]\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(base / "lib")
        for name, text in ENVIRONMENT.items():
            patch.setenv(name, text.format(secret.text))
        with Host.load(folder, operator_file=operator) as host:
            yield Ground(folder, host, secret)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_plain_question_is_answered_without_the_secret(ground: Ground, name: str) -> None:
    """Each tool has an answer for an administrator, and the secret is in no part of it."""
    assert ground.call(name, EXAMPLES[name]).success


@pytest.mark.parametrize("path", [*WITHIN, "toolseam.toml", "logs/app.log.1.gz", "linked.txt"])
def test_each_file_is_refused_or_masked(ground: Ground, path: str) -> None:
    """Read whole, and line by line in a search, no file of the workspace gives the secret."""
    read = ground.call("read_source", {"path": path, "lines": 200})
    found = ground.call("search_code", {"pattern": ".", "regex": True, "path": path})

    for result in (read, found):
        assert result.failure is None or result.failure.code in REFUSALS


@pytest.mark.parametrize("actor", [ADMIN, BOB, None])
@pytest.mark.parametrize("zone", Zone)
def test_actor_and_zone_decide_who_is_answered(
    ground: Ground, actor: Actor | None, zone: Zone
) -> None:
    """Without a user nothing, without the role no tool for admins, in no zone the secret."""
    for name, arguments in EXAMPLES.items():
        result = ground.call(name, arguments, actor=actor, zone=zone)

        tool = ground.host.tool(name)
        assert tool is not None
        refused = actor is None or (actor is BOB and name in FOR_ADMINS)
        refused = refused or tool.data_class.rank > zone.ceiling.rank
        assert (result.failure is not None) == refused, name
        if result.failure is not None:
            assert result.failure.code == "permission_denied"


WORDS = st.sampled_from(["canary", "-", "=", "password", "://", "@", "{", '"', "key", "a", ""])
PATHS = st.sampled_from(
    [*WITHIN, "app.db", "out", "out/secret.txt", "out.txt", "linked.txt", "logs", ".git", "."]
)
FOUND = st.builds(
    lambda start, path: f"{start}{path}", st.sampled_from(["", "./", "logs/../", "../shop/"]), PATHS
)
TABLE = st.sampled_from([*NAMES, "sqlite_master", "main.page", "page_token", "PAGE"])
NUMBERS = st.integers(0, 60)
QUESTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "read_records": st.fixed_dictionaries(
        {"table": TABLE},
        optional={
            "where": st.dictionaries(st.sampled_from(COLUMNS), WORDS | st.none(), max_size=3),
            "fields": st.lists(st.sampled_from(COLUMNS), max_size=4),
            "limit": NUMBERS,
            "offset": NUMBERS,
        },
    ),
    "list_tables": st.fixed_dictionaries({}, optional={"filter": WORDS, "schema": WORDS}),
    "get_table_schema": st.fixed_dictionaries({"table": TABLE}),
    "get_record_tree": st.fixed_dictionaries(
        {"table": TABLE}, optional={"root": WORDS | st.just("1"), "depth": st.integers(0, 6)}
    ),
    "read_source": st.fixed_dictionaries(
        {"path": FOUND}, optional={"from_line": NUMBERS, "lines": NUMBERS}
    ),
    "search_code": st.fixed_dictionaries(
        {"pattern": st.lists(WORDS | st.just("."), min_size=1, max_size=3).map("".join)},
        optional={"regex": st.booleans(), "path": FOUND, "max_results": NUMBERS},
    ),
    "get_env": st.fixed_dictionaries({}, optional={"name": st.sampled_from([*ENVIRONMENT, "X"])}),
    "list_packages": st.fixed_dictionaries({}, optional={"filter": WORDS | st.just("shop")}),
}


@settings(max_examples=200)
@given(st.sampled_from(sorted(QUESTIONS)).flatmap(lambda n: st.tuples(st.just(n), QUESTIONS[n])))
def test_no_question_brings_the_secret_out(
    ground: Ground, question: tuple[str, dict[str, Any]]
) -> None:
    """Whatever is asked of whichever tool, the secret stays, and nothing fails but in its codes."""
    result = ground.call(*question)

    assert result.failure is None or result.failure.code in REFUSALS


LEADS = ("", "password: ", 'password": "', 'SECRET_KEY = "', "app:", "--password ", "sessionid=")
ASKS: dict[str, Callable[[str], dict[str, Any]]] = {
    "search_code": lambda text: {"pattern": text},
    "list_packages": lambda text: {"filter": text},
    "list_tables": lambda text: {"filter": text},
    "get_env": lambda text: {"name": text},
    "get_record_tree": lambda text: {"table": "invite", "root": text},
}


@settings(max_examples=80)
@given(
    st.sampled_from(sorted(ASKS)),
    st.sampled_from(LEADS),
    st.integers(9, 31),
    st.booleans(),
)
def test_a_true_beginning_is_answered_like_a_false_one(
    ground: Ground, name: str, lead: str, length: int, regex: bool
) -> None:
    """No search tells how the secret goes on: count, text and data are the same (H46)."""
    true = ground.secret.text[:length]
    false = true[:-1] + ("0" if true[-1] != "0" else "1")
    more = {"regex": regex} if name == "search_code" else {}
    session = ground.host.session(actor=ADMIN, zone=Zone.LOCAL)

    answers = [
        everything(session.call(name, ASKS[name](lead + guess) | more)).replace(guess, "?")
        for guess in (true, false)
    ]

    assert answers[0] == answers[1]


FORMS = (
    "{}",
    '{{"host": "db", "api_key": "{}"}}',
    '[{{"auth": "{{\\"client_secret\\": \\"{}\\"}}"}}]',
    "see https://app:{}@host/x",
)


@pytest.mark.parametrize("table", ["page", "change", "invite", "copy", "shown", "note"])
def test_no_equality_tells_that_a_guess_is_right(tmp_path: Path, table: str) -> None:
    """Filtering any column by the very value is answered like filtering by another."""
    secret, other = canary(), canary()
    script = TABLES + "create table note (id integer primary key, title text);"
    script += "insert into note values (1, 'see https://app:{0}@host/x');"
    workspace = sqlite_workspace(tmp_path, script.format(secret.text))

    with harness(read_records, settings=workspace) as double:
        for column, form in product(COLUMNS, FORMS):
            answers = []
            for guess in (secret.text, other.text):
                result = double.call({"table": table, "where": {column: form.format(guess)}})
                answers.append(everything(result).replace(guess, "?"))
            assert answers[0] == answers[1], (column, form)


@pytest.mark.parametrize("tool", [read_records, get_table_schema, get_record_tree])
def test_tables_of_people_sound_as_if_they_were_not_there(tmp_path: Path, tool: object) -> None:
    """Their refusal is that of any absent table, and the same where they really are absent."""
    with_them, without = tmp_path / "with", tmp_path / "without"
    for folder in (with_them, without):
        folder.mkdir()
    here = sqlite_workspace(with_them, TABLES.format("x"))
    there = sqlite_workspace(without, "create table page (id integer primary key)")

    for name in DENIED:
        for asked in (name, name.upper(), f"main.{name}", f"{name}s"):
            denied, absent = (ask(tool, each, table=asked) for each in (here, there))
            never = ask(tool, here, table="nope")
            assert denied.failure is not None
            assert denied.failure.code == "not_found"
            assert everything(denied) == everything(absent)
            assert everything(denied) == everything(never).replace("nope", asked)


def test_a_secret_in_plain_text_goes_to_no_zone(tmp_path: Path) -> None:
    """A cell that holds an address with its password shows none of it, on this machine neither."""
    secret = canary()
    script = f"create table note (id integer primary key, title text);\
        insert into note values (1, 'see https://app:{secret.text}@host/x')"
    sqlite_workspace(tmp_path, script)
    operator = tmp_path / "operator.toml"
    operator.write_text('[tables]\nallow = ["note"]\n')

    with Host.load(tmp_path, operator_file=operator) as host:
        for zone in Zone:
            session = host.session(actor=ADMIN, zone=zone)
            text, step = session.call_wire("read_records", {"table": "note"})
            assert step.status == "ok"
            assert "[masked]@host/x" in text
            assert not secret.is_in(text)


def test_a_link_that_flips_while_it_is_read_gives_nothing(tmp_path: Path) -> None:
    """Reads and searches through a link that points inside and outside in turn stay inside."""
    secret, folder = canary(), tmp_path / "shop"
    for name, text in ((tmp_path / "outside", secret.text), (folder / "inside", "fine")):
        name.mkdir(parents=True)
        (name / "x.txt").write_text(f"{text}\n")

    with (
        flipping(folder / "flip", "inside", "../outside"),
        harness(read_source, settings=Workspace(folder=folder)) as double,
    ):
        seen = {double.call({"path": "flip/x.txt"}).content for _ in range(300)}

    assert not secret.is_in(*seen)
    assert any("fine" in text for text in seen)
