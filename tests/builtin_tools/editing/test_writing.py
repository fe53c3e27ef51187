"""What holds for every tool that edits: approval, one transaction, nothing but what was said."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builtin_tools.editing.conftest import ADA, Site, postgres_site, sqlite_site
from support.databases import everything, hot_journal, sqlite_workspace
from toolseam import Actor, Host, hookimpl
from toolseam.testing import harness
from toolseam_builtin.editing import (
    create_record_draft,
    create_translation_draft,
    move_record,
    set_file_alternative_text,
    update_record_metadata,
)
from toolseam_builtin.workspace import TableSettings, Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from support.postgres import Postgres
    from toolseam import ToolResult

TOOLS: list[tuple[object, dict[str, Any]]] = [
    (update_record_metadata, {"table": "pages", "key": 2, "values": {"title": "x"}}),
    (set_file_alternative_text, {"file": "harbour.svg", "text": "x"}),
    (move_record, {"table": "pages", "key": 5, "parent": 2}),
    (create_record_draft, {"table": "pages", "values": {"title": "x", "slug": "x"}}),
    (create_translation_draft, {"table": "pages", "key": 2, "language": "de"}),
]
RENAME = {"table": "pages", "key": 2, "values": {"title": "Stay"}}
every_tool = pytest.mark.parametrize(
    ("tool", "arguments"), TOOLS, ids=lambda value: str(value)[-60:]
)


def refused(result: ToolResult, code: str, reason: str | None = None) -> str:
    """Assert a refusal, and return its text."""
    assert result.failure is not None, result.content
    assert result.failure.code.value == code, result.content
    if reason is not None:
        assert result.failure.metadata["reason"] == reason
    return result.content


@every_tool
def test_a_tool_that_edits_is_off_and_needs_an_approval(
    tool: object, arguments: dict[str, Any], tmp_path: Path
) -> None:
    """Nothing is written before a person approves, and the tool is a write to begin with."""
    site = sqlite_site(tmp_path)
    before = site.everything()

    with harness(tool, actor=ADA, settings=site.workspace) as double:
        assert not double.spec.enabled_by_default
        assert double.spec.requires_approval
        result = double.call(arguments)

    refused(result, "approval_denied")
    assert site.everything() == before


@every_tool
def test_each_of_them_is_kept_with_a_history(
    site: Site, tool: object, arguments: dict[str, Any]
) -> None:
    """One approved call changes records, and history names who did it."""
    result = site.write(tool, **arguments)

    assert result.success, result.content
    table = "files" if "file" in arguments else "pages"
    told = site.run(f"select distinct changed_by from {table}_history")
    assert told == [("ada",)]


def approved_then(site: Site, between: str, tool: object = update_record_metadata) -> ToolResult:
    """Approve a call, change the database, and make the call."""
    arguments = RENAME
    with Host(tools=[tool], plugin_settings=[site.workspace]) as host:
        preview = host.preview("update_record_metadata", arguments, actor=ADA)
        approval = host.approve(preview, actor=ADA)
        site.run(between)
        return host.call("update_record_metadata", arguments, actor=ADA, approval=approval)


def test_a_record_that_changed_since_the_approval_is_a_conflict(site: Site) -> None:
    """What was approved is old and new; another old value is another call."""
    result = approved_then(site, "update pages set title = 'Other' where id = 2")

    refused(result, "conflict", "changed")
    assert site.run("select title from pages where id = 2") == [("Other",)]
    assert site.run("select * from pages_history") == []


def test_a_change_far_inside_a_long_text_counts_too(site: Site) -> None:
    """A preview that cuts a value is bound to the whole of it."""
    long = "x" * 5_000
    site.run(f"update pages set notes = '{long}' where id = 2")
    arguments: dict[str, Any] = {"table": "pages", "key": 2, "values": {"notes": "short"}}
    with Host(tools=[update_record_metadata], plugin_settings=[site.workspace]) as host:
        approval = host.approve(
            host.preview("update_record_metadata", arguments, actor=ADA), actor=ADA
        )
        site.run(f"update pages set notes = '{long[:-1]}y' where id = 2")

        result = host.call("update_record_metadata", arguments, actor=ADA, approval=approval)

    refused(result, "conflict", "changed")


class Meddler:
    """A wrapper that changes the record when the seam has made its last preview."""

    def __init__(self, site: Site) -> None:
        self._site = site

    @hookimpl(wrapper=True)
    def execute(self, arguments: Any, context: Any) -> Any:
        """Change the record, then let the tool run."""
        self._site.run("update pages set title = 'Meddled' where id = 2")
        return (yield)


def test_a_change_in_the_last_moment_is_a_conflict(site: Site) -> None:
    """The plan is made again inside the transaction, and must be what was approved."""
    meddler = Meddler(site)
    with harness(
        update_record_metadata,
        actor=ADA,
        settings=site.workspace,
        approve=True,
        plugins=[meddler],
    ) as double:
        result = double.call(RENAME)

    refused(result, "conflict", "changed")
    assert site.run("select title from pages where id = 2") == [("Meddled",)]


def test_an_approval_is_used_up(site: Site) -> None:
    """The second call with one approval changes nothing."""
    with Host(tools=[update_record_metadata], plugin_settings=[site.workspace]) as host:
        approval = host.approve(
            host.preview("update_record_metadata", RENAME, actor=ADA), actor=ADA
        )
        first = host.call("update_record_metadata", RENAME, actor=ADA, approval=approval)
        second = host.call("update_record_metadata", RENAME, actor=ADA, approval=approval)

    assert first.success
    refused(second, "conflict")
    assert len(site.run("select * from pages_history")) == 1


def test_history_names_the_actor_of_the_call(site: Site) -> None:
    """Who approves is not who acts."""
    grace = Actor("grace", {"admin"})
    with harness(
        update_record_metadata, actor=grace, settings=site.workspace, approve=True
    ) as double:
        double.call(RENAME)

    assert site.run("select changed_by from pages_history") == [("grace",)]


def test_secrets_stay_masked_in_preview_and_answer(site: Site) -> None:
    """A secret that stood in a field is not shown by changing it."""
    secret = "postgresql://site:CANARY77@db.example/site"
    site.run(f"update pages set notes = 'see {secret}' where id = 2")
    arguments: dict[str, Any] = {"table": "pages", "key": 2, "values": {"notes": "gone"}}

    lines = site.preview(update_record_metadata, **arguments)
    result = site.write(update_record_metadata, **arguments)

    assert result.success, result.content
    assert "CANARY" not in "\n".join(lines) + everything(result)


def options(folder: Path, **words: Any) -> Site:
    """Return a site with settings: 1 and 3 name secrets, and 3 is a translation of 2."""
    script = """
    create table options (id integer primary key, name text, value text, note text,
      language text, draft integer, up integer references options);
    insert into options (id, name, value, language, up) values
      (1, 'smtp_password', 'CANARY' || printf('%.300c', 'x'), 'en', null),
      (2, 'color', 'red', 'en', null), (3, 'api_key', 'CANARY', 'de', 2);
    create table options_history (id integer primary key, option_id integer references options,
      field text, old text, new text, changed_by text)
    """
    known: dict[str, Any] = {"editable": ("name", "value", "note"), "history": "options_history"}
    tables = {"options": TableSettings(**known, **words)}
    return Site(sqlite_workspace(folder, script, tables=tables), list)


@pytest.mark.parametrize("values", [{"value": "x"}, {"name": "motto"}])
def test_a_row_that_names_a_secret_keeps_name_and_value(
    values: dict[str, str], tmp_path: Path
) -> None:
    """Such a value is as closed as a column of that name, and no other name uncovers it."""
    site = options(tmp_path)

    closed = site.write(update_record_metadata, table="options", key=1, values=values)
    open_one = site.write(update_record_metadata, table="options", key=2, values=values)

    refused(closed, "permission_denied")
    assert "CANARY" not in everything(closed)
    assert open_one.success


def test_a_long_secret_is_no_label_of_its_row(tmp_path: Path) -> None:
    """What is masked in an answer is masked in a preview, whatever its length."""
    site = options(tmp_path, label="value")
    arguments: dict[str, Any] = {"table": "options", "key": 1, "values": {"note": "x"}}

    lines = site.preview(update_record_metadata, **arguments)
    result = site.write(update_record_metadata, **arguments)

    assert result.success, result.content
    assert "CANARY" not in "\n".join(lines) + everything(result)


def test_a_row_that_names_a_secret_is_not_copied(tmp_path: Path) -> None:
    """Neither from it nor over it: the copy could have another name beside the same value."""
    site = options(tmp_path, draft="draft", language="language", translation_of="up")
    asked: dict[str, Any] = {"table": "options", "language": "de", "overwrite": True}

    from_it = site.write(create_translation_draft, key=1, **asked)
    over_it = site.write(create_translation_draft, key=2, **asked)

    for result in (from_it, over_it):
        refused(result, "permission_denied")
        assert "CANARY" not in everything(result)


# -- SQLite ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tool", "arguments"), [TOOLS[0], TOOLS[2], TOOLS[3], TOOLS[4]])
@pytest.mark.parametrize("table", ["pages", "PAGES_HISTORY"])
def test_a_table_with_a_trigger_is_a_conflict_that_names_it(
    tool: object, arguments: dict[str, Any], table: str, tmp_path: Path
) -> None:
    """A trigger would change what no preview says; accounts stay as they are (S2)."""
    events = ("insert", "update")
    script = ";".join(
        f"create trigger sly_{event} after {event} on {table}"
        " begin update users set name = 'Mallory'; end"
        for event in events
    )
    site = sqlite_site(tmp_path, script)
    before = site.everything()

    said = refused(site.write(tool, **arguments), "conflict", "trigger")

    assert "sly_insert, sly_update" in said
    assert site.everything() == before


def test_a_foreign_key_that_would_change_other_rows_is_a_conflict(tmp_path: Path) -> None:
    """`ON UPDATE CASCADE` reaches rows that the preview does not name."""
    script = """
    create table links (id integer primary key,
      slug text references pages (slug) on update cascade);
    insert into links values (1, 'visit')
    """
    site = sqlite_site(tmp_path, script)
    before = site.everything()

    refused(
        site.write(update_record_metadata, table="pages", key=2, values={"slug": "moved"}),
        "conflict",
    )

    assert site.everything() == before
    assert site.run("select slug from links") == [("visit",)]


def test_a_cascade_into_the_same_column_is_a_conflict(tmp_path: Path) -> None:
    """Rows of the same table that would follow are counted, and nothing is kept."""
    script = """
    create table steps (id integer primary key, name text unique,
      before text references steps (name) on update cascade);
    insert into steps values (1, 'a', 'b'), (2, 'b', 'a');
    create table steps_history (id integer primary key, step_id integer references steps,
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(editable=("name", "before"), history="steps_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"steps": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        values = {"name": "c", "before": None}
        result = double.call({"table": "steps", "key": 1, "values": values})

    refused(result, "conflict")
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        assert connection.execute("select name, before from steps order by id").fetchall() == [
            ("a", "b"), ("b", "a")
        ]  # fmt: skip


def test_a_conflict_clause_of_the_table_replaces_no_row(tmp_path: Path) -> None:
    """`UNIQUE ON CONFLICT REPLACE` would delete the other record without a word."""
    script = """
    create table card (id integer primary key, number text unique on conflict replace);
    insert into card values (1, '4000-TULIP-7741'), (2, '4000-ROSE-0000');
    create table card_history (id integer primary key, card_id integer references card,
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(editable=("number",), history="card_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"card": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        values = {"number": "4000-TULIP-7741"}
        result = double.call({"table": "card", "key": 2, "values": values})

    said = refused(result, "conflict", "duplicate")
    assert "card.number" in said
    outward = everything(result)
    assert not any(word in outward for word in ("TULIP", "[SQL:", "[parameters:", "sqlalche.me"))
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        assert connection.execute("select count(*) from card").fetchone() == (2,)


def test_a_journal_that_somebody_left_is_not_rolled_back(tmp_path: Path) -> None:
    """To open the file for writing would delete a file of the attacker's choice."""
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    folder = tmp_path / "place"
    folder.mkdir()
    site = sqlite_site(folder)
    before = (folder / "app.db").read_bytes()
    journal = folder / "app.db-journal"
    journal.write_bytes(hot_journal(victim))

    with harness(
        update_record_metadata, actor=ADA, settings=site.workspace, approve=True
    ) as double:
        result = double.call(RENAME)

    refused(result, "conflict", "foreign_journal")
    assert victim.read_text() == "precious"
    assert (folder / "app.db").read_bytes() == before
    assert journal.exists()


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        ("symlink", "journal"),
        ("symlink", "wal"),
        ("symlink", "shm"),
        ("hardlink", "journal"),
        ("hardlink", "wal"),
        ("hardlink", "shm"),
    ],
)
def test_a_link_in_place_of_a_journal_is_not_followed(
    kind: str, ending: str, tmp_path: Path
) -> None:
    """What SQLite would write beside the database goes into no other file."""
    victim = tmp_path / "victim.txt"
    victim.write_text("")
    folder = tmp_path / "place"
    folder.mkdir()
    site = sqlite_site(folder)
    if ending != "journal":
        site.run("pragma journal_mode = wal")
    link = folder / f"app.db-{ending}"
    link.symlink_to(victim) if kind == "symlink" else link.hardlink_to(victim)

    with harness(
        update_record_metadata, actor=ADA, settings=site.workspace, approve=True
    ) as double:
        result = double.call(RENAME)

    refused(result, "conflict")
    assert victim.read_text() == ""


@pytest.mark.parametrize("mode", ["delete", "truncate", "persist", "wal"])
def test_every_way_to_keep_a_journal_is_written(mode: str, tmp_path: Path) -> None:
    """A journal that its owner has finished with is no obstacle."""
    site = sqlite_site(tmp_path)
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        connection.execute(f"pragma journal_mode = {mode}")
        connection.execute("insert into users (name) values ('Grace')")
        connection.commit()

        result = site.write(update_record_metadata, **RENAME)

    assert result.success, result.content


def test_a_database_that_another_program_writes_is_busy(tmp_path: Path) -> None:
    """A lock that is held for longer than a moment is a refusal, and nothing was written."""
    site = sqlite_site(tmp_path)
    site.run("pragma journal_mode = wal")
    with closing(sqlite3.connect(tmp_path / "app.db", isolation_level=None)) as other:
        other.execute("begin immediate")

        result = site.write(update_record_metadata, **RENAME)

    refused(result, "unavailable", "busy")


def test_a_short_write_of_another_program_is_waited_for(tmp_path: Path) -> None:
    """A journal or a lock of a moment delays the call."""
    site = sqlite_site(tmp_path)
    other = sqlite3.connect(tmp_path / "app.db", isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    other.execute("update users set name = 'Grace'")
    timer = threading.Timer(0.2, other.commit)
    timer.start()

    result = site.write(update_record_metadata, **RENAME)

    timer.join()
    other.close()
    assert result.success, result.content


def test_generated_columns_are_never_written(tmp_path: Path) -> None:
    """A reserved table name is written, its generated columns are refused (P22)."""
    script = """
    create table "order" (id integer primary key, "group" text, net numeric,
      gross numeric generated always as (net*1.2) virtual,
      tag text generated always as ('T'||id) stored);
    insert into "order" (id, "group", net) values (1, 'a', 10);
    create table order_history (id integer primary key, order_id integer references "order",
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(editable=("group", "net", "gross", "tag"), history="order_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"order": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        results = [
            double.call({"table": "order", "key": 1, "values": values})
            for values in ({"gross": 1}, {"tag": "x"}, {"group": "b", "net": 20})
        ]

    refused(results[0], "invalid_arguments")
    refused(results[1], "invalid_arguments")
    assert results[2].success, results[2].content
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        assert connection.execute('select "group", gross from "order"').fetchall() == [("b", 24)]


def test_a_table_without_rowids_is_written_by_its_key(tmp_path: Path) -> None:
    """The key may be a text that the caller gives, and a draft's flag a word."""
    script = """
    create table room (code text primary key, holder text, state text not null default 'free')
      without rowid;
    insert into room values ('A1', 'Ada', 'taken');
    create table room_history (id integer primary key, room text references room (code),
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(editable=("holder", "code"), history="room_history", draft="state")
    workspace = sqlite_workspace(tmp_path, script, tables={"room": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        changed = double.call({"table": "room", "key": "A1", "values": {"holder": "Bix"}})
        kept = double.call({"table": "room", "key": "A1", "values": {"code": "A2"}})
    with harness(create_record_draft, actor=ADA, settings=workspace, approve=True) as double:
        made = double.call({"table": "room", "values": {"code": "B2"}})
        nameless = double.call({"table": "room", "values": {"holder": "Cy"}})

    assert changed.success, changed.content
    refused(kept, "invalid_arguments")
    assert made.success, made.content
    assert made.data is not None
    assert made.data["key"] == "B2"
    assert "code" in refused(nameless, "invalid_arguments")
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        rooms = connection.execute("select * from room order by code").fetchall()
    assert rooms == [("A1", "Bix", "taken"), ("B2", None, "draft")]


def test_a_view_is_not_written(tmp_path: Path) -> None:
    """Only tables are, whatever triggers a view may have instead."""
    site = sqlite_site(tmp_path, "create view shown as select id, title from pages")
    words = site.settings("shown", editable=("title",), history="pages_history")

    refused(
        words.write(update_record_metadata, table="shown", key=2, values={"title": "x"}),
        "invalid_arguments",
    )


VERSIONS = """
create table doc (id integer primary key, title text, body text, draft integer default 1);
insert into doc values (1, 'a', 'long', 0);
create table doc_versions (id integer primary key, doc_id integer not null references doc,
  title text, body text, draft integer, edited_by text, edited_at text);
"""


def test_a_history_of_versions_gets_the_whole_record(tmp_path: Path) -> None:
    """Where a row is a version, it is what the record is now."""
    words = TableSettings(editable=("title",), history="doc_versions", draft="draft")
    workspace = sqlite_workspace(tmp_path, VERSIONS, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        changed = double.call({"table": "doc", "key": 1, "values": {"title": "b"}})
    with harness(create_record_draft, actor=ADA, settings=workspace, approve=True) as double:
        made = double.call({"table": "doc", "values": {"title": "new"}})

    assert changed.success, changed.content
    assert made.success, made.content
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        rows = connection.execute(
            "select doc_id, title, body, draft, edited_by from doc_versions order by id"
        ).fetchall()
    assert rows == [(1, "b", "long", 0, "ada"), (2, "new", None, 1, "ada")]


def test_versions_of_a_record_are_numbered(tmp_path: Path) -> None:
    """Where the key is the record and a number, the next number is taken."""
    script = """
    create table doc (id integer primary key, title text);
    insert into doc values (1, 'a'), (2, 'z');
    create table doc_history (doc_id integer references doc, version integer, title text,
      edited_by text, primary key (doc_id, version));
    insert into doc_history values (1, 4, 'a', 'bix')
    """
    words = TableSettings(editable=("title",), history="doc_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        for key in (1, 2):
            result = double.call({"table": "doc", "key": key, "values": {"title": "b"}})
            assert result.success, result.content

    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        rows = connection.execute("select * from doc_history order by 1, 2").fetchall()
    assert rows == [(1, 4, "a", "bix"), (1, 5, "b", "ada"), (2, 1, "b", "ada")]


def test_a_history_that_several_tables_share_names_the_table(tmp_path: Path) -> None:
    """The rows say which table they are about."""
    script = """
    create table doc (id integer primary key, title text);
    insert into doc values (1, 'a');
    create table changes (id integer primary key, table_name text not null,
      record_id integer not null, field text, old_value text, who text, at text)
    """
    words = TableSettings(editable=("title",), history="changes")
    workspace = sqlite_workspace(tmp_path, script, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        result = double.call({"table": "doc", "key": 1, "values": {"title": "b"}})

    assert result.success, result.content
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        rows = connection.execute("select * from changes").fetchall()
    assert [row[:-1] for row in rows] == [(1, "doc", 1, "title", "a", "ada")]


def test_a_history_without_a_name_is_none(tmp_path: Path) -> None:
    """A history that cannot be told who did it is no history for a writer."""
    script = """
    create table doc (id integer primary key, title text);
    insert into doc values (1, 'a');
    create table doc_history (id integer primary key, doc_id integer references doc, field text,
      old text, new text, changed_at text)
    """
    words = TableSettings(editable=("title",), history="doc_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        result = double.call({"table": "doc", "key": 1, "values": {"title": "b"}})

    refused(result, "unavailable", "no_history")


def test_a_record_the_database_keeps_otherwise_is_taken_back(tmp_path: Path) -> None:
    """A number that its column cannot hold exactly is not kept a little off."""
    script = """
    create table doc (id integer primary key, size real);
    insert into doc values (1, 1.5);
    create table doc_history (id integer primary key, doc_id integer references doc, field text,
      old text, new text, changed_by text)
    """
    words = TableSettings(editable=("size",), history="doc_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        values = {"size": 2**53 + 1}
        result = double.call({"table": "doc", "key": 1, "values": values})

    said = refused(result, "conflict")
    assert "taken back" in said
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        assert connection.execute("select size from doc").fetchone() == (1.5,)
        assert connection.execute("select * from doc_history").fetchall() == []


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("text check (length(x) < 3)", "long"),
        ("integer references users (id)", 99),
        ("text not null", None),
    ],
)
def test_a_condition_of_the_table_refuses_a_value(
    declared: str, value: object, tmp_path: Path
) -> None:
    """Checks, references and empty cells are the caller's mistake, said in our words."""
    script = f"""
    create table users (id integer primary key);
    create table doc (id integer primary key, x {declared} default 1);
    insert into users values (1);
    insert into doc values (1, 1);
    create table doc_history (id integer primary key, doc_id integer references doc, field text,
      old text, new text, changed_by text)
    """
    words = TableSettings(editable=("x",), history="doc_history")
    workspace = sqlite_workspace(tmp_path, script, tables={"doc": words})
    with harness(update_record_metadata, actor=ADA, settings=workspace, approve=True) as double:
        result = double.call({"table": "doc", "key": 1, "values": {"x": value}})

    said = refused(result, "invalid_arguments")
    assert "constraint" not in said.casefold()


@settings(max_examples=15)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
def test_any_text_is_kept_as_it_is(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Quotes, marks, escapes and line breaks are content, and history has them too."""
    site = sqlite_site(tmp_path_factory.mktemp("any"))

    result = site.write(
        update_record_metadata, table="pages", key=2, values={"title": text, "notes": text}
    )

    assert result.success, result.content
    assert site.run("select title, notes from pages where id = 2") == [(text, text)]
    assert site.run("select new from pages_history where field = 'notes'") == [(text,)]
    assert len(result.content.splitlines()) == 4


# -- PostgreSQL --------------------------------------------------------------------------------

SLY = """create function sly() returns trigger language plpgsql as
  $$ begin update users set name = 'Mallory'; return new; end $$"""


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ((SLY, "create trigger sly after update on pages execute function sly()"), "trigger"),
        ((SLY, "create trigger sly after insert on pages_history execute function sly()"),
         "trigger"),
        (("create rule sly as on update to pages do also update users set name = 'Mallory'",),
         "rule"),
        (("create table links (id int primary key, title text)",
          "alter table pages add unique (title)",
          "alter table links add foreign key (title) references pages (title) on update cascade"),
         None),
    ],
)  # fmt: skip
def test_what_would_write_more_is_a_conflict(
    postgres: Postgres, statements: tuple[str, ...], reason: str | None
) -> None:
    """Triggers, rules and cascades of the server reach rows that the preview does not name."""
    site = postgres_site(postgres, *statements)
    before = site.everything()

    said = refused(site.write(update_record_metadata, **RENAME), "conflict", reason)

    assert reason is None or "sly" in said
    assert site.everything() == before


def test_a_role_for_reading_is_not_written_with(postgres: Postgres) -> None:
    """Without an address for writing the operator is told which key names one."""
    site = postgres_site(postgres, write_database=None)

    said = refused(site.write(update_record_metadata, **RENAME), "unavailable", "no_write_database")

    assert "write_database" in said


def test_a_superuser_does_not_write(postgres: Postgres) -> None:
    """A role that may do anything is refused, unless the operator insists."""
    site = postgres_site(postgres)
    name = (site.workspace.database or "").rpartition("/")[2]
    words: dict[str, Any] = {
        "database": site.workspace.database,
        "write_database": postgres.url(name),
        "tables": site.workspace.tables,
        "trusted": True,
    }
    only = Workspace(
        **(words | {"database": postgres.url(name), "write_database": None}),
        allow_privileged_role=True,
    )
    strict = Site(Workspace(**words), site.run)
    insisting = Site(Workspace(**words, allow_privileged_role=True), site.run)

    refused(strict.write(update_record_metadata, **RENAME), "unavailable", "privileged_role")
    assert insisting.write(update_record_metadata, **RENAME).success
    again = RENAME | {"key": 3}
    assert Site(only, site.run).write(update_record_metadata, **again).success


def test_a_role_that_may_not_write_the_table_is_told_so(postgres: Postgres) -> None:
    """The server's own refusal goes out in our words."""
    site = postgres_site(postgres, "create table other (id int)")
    name = (site.workspace.database or "").rpartition("/")[2]
    postgres.execute("revoke update on pages from editor", database=name)

    said = refused(site.write(update_record_metadata, **RENAME), "unavailable")

    assert "permission denied" not in said


def test_a_lock_of_another_program_is_busy(postgres: Postgres) -> None:
    """Who waits for a row gives up after a moment, and nothing was written."""
    import psycopg

    site = postgres_site(postgres)
    name = (site.workspace.database or "").rpartition("/")[2]
    with psycopg.connect(postgres.url(name)) as other:
        other.execute("update pages set notes = 'mine' where id = 2")

        result = site.write(update_record_metadata, **RENAME)

        other.rollback()

    refused(result, "unavailable", "busy")


def test_a_number_that_would_be_rounded_is_taken_back(postgres: Postgres) -> None:
    """The server keeps 1.24 where 1.239 was said: that is not what was approved."""
    site = postgres_site(postgres)

    said = refused(
        site.write(update_record_metadata, table="pages", key=2, values={"price": 1.239}),
        "conflict",
    )

    assert "taken back" in said
    assert site.run("select price from pages where id = 2") == [(None,)]


def test_awkward_names_are_written(postgres: Postgres) -> None:
    """Mixed case, spaces, quotes and percent signs are names."""
    site = postgres_site(
        postgres,
        'create schema "Back Office"',
        'create table "Back Office"."100%s" (id int primary key, "a%s""b" text, "select" text)',
        """insert into "Back Office"."100%s" values (1, '50%', 'x')""",
        """create table "Back Office"."100%s_history" (id int generated always as identity,
        record_id int not null, field text, old text, new text, changed_by text)""",
        'grant usage on schema "Back Office" to reader, editor',
        'grant select, insert, update on all tables in schema "Back Office" to editor',
        'grant select on all tables in schema "Back Office" to reader',
    )
    words = site.settings(
        "100%s", editable=('a%s"b', "select"), history="Back Office.100%s_history"
    )

    result = words.write(
        update_record_metadata,
        table="Back Office.100%s",
        key=1,
        values={'a%s"b': "60%", "select": "y%s"},
    )

    assert result.success, result.content
    assert site.run('select * from "Back Office"."100%s"') == [(1, "60%", "y%s")]
