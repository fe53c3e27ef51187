from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from builtin_tools.editing.conftest import Site
from support.databases import sqlite_workspace
from toolseam_builtin.editing import create_translation_draft
from toolseam_builtin.workspace import TableSettings

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import ToolResult

GERMAN: dict[str, Any] = {"table": "pages", "key": 1, "language": "de"}


def test_a_record_is_copied_as_a_draft(site: Site) -> None:
    """The copy has the language, the link and the draft's flag; what must be unique differs."""
    lines = site.preview(create_translation_draft, **GERMAN)
    result = site.write(create_translation_draft, **GERMAN)

    flag = "true" if site.workspace.trusted else "1"
    assert lines == [
        "Create as a draft a new record of pages:",
        f"draft: {flag}",
        'language: "de"',
        "translation_of: 1",
        'slug: "home-de"',
        "parent_id: null",
        "position: 1",
        'title: "Home"',
        "price: null",
        "opens: null",
        'notes: "first"',
        'copied from pages:1 "Home"',
        "pages_history will name ada.",
    ]
    assert result.success, result.content
    made = site.run(
        "select title, slug, language, translation_of, notes, access_token, tag"
        " from pages where id = 6"
    )
    assert made == [("Home", "home-de", "de", 1, "first", None, "Home!")]
    assert site.run("select count(*) from pages where id = 6 and draft = " + flag) == [(1,)]
    history = site.run("select field, old from pages_history where page_id = 6 order by field")
    assert [field for field, _ in history] == [
        "draft", "language", "notes", "position", "slug", "title", "translation_of"
    ]  # fmt: skip
    assert {old for _, old in history} == {None}


def test_an_existing_translation_is_a_conflict_unless_overwritten(site: Site) -> None:
    """Copying over it keeps its own key and slug, and says old and new."""
    site.write(create_translation_draft, **GERMAN)
    site.run("update pages set title = 'Start', notes = null where id = 6")
    before = site.everything()

    refused = site.write(create_translation_draft, **GERMAN)
    kept = site.everything()
    lines = site.preview(create_translation_draft, **GERMAN, overwrite=True)
    result = site.write(create_translation_draft, **GERMAN, overwrite=True)

    assert refused.failure is not None
    assert refused.failure.code.value == "conflict"
    assert "pages:6" in refused.content
    assert kept == before
    assert 'title: "Start" → "Home"' in lines
    assert 'The translation pages:6 "Start" is overwritten.' in lines
    assert result.success, result.content
    assert site.run("select title, slug, notes from pages where id = 6") == [
        ("Home", "home-de", "first")
    ]
    assert site.run("select field, old, new from pages_history where old is not null") == [
        ("title", "Start", "Home")
    ]
    again = site.write(create_translation_draft, **GERMAN, overwrite=True)
    assert "Nothing was left to change." in again.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"key": 99}, "not_found"),
        ({"language": "en"}, "invalid_arguments"),
        ({"language": ""}, "invalid_arguments"),
        ({"language": "x" * 36}, "invalid_arguments"),
        ({"overwrite": "yes"}, "invalid_arguments"),
    ],
)
def test_what_does_not_fit_is_refused(steady: Site, arguments: dict[str, Any], code: str) -> None:
    """An absent original, its own language, no language at all: nothing is made."""
    before = steady.everything()

    result = steady.write(create_translation_draft, **(GERMAN | arguments))

    assert result.failure is not None, result.content
    assert result.failure.code.value == code
    assert steady.everything() == before


def test_a_translation_is_not_translated(site: Site) -> None:
    """The refusal names the original."""
    site.write(create_translation_draft, **GERMAN)

    result = site.write(create_translation_draft, table="pages", key=6, language="fr")

    assert result.failure is not None
    assert result.failure.code.value == "invalid_arguments"
    assert "original is 1" in result.content


@pytest.mark.parametrize("role", ["draft", "language"])
def test_without_the_columns_nothing_is_made(steady: Site, role: str) -> None:
    """The missing key is named."""
    result = steady.settings("pages", **{role: None}).write(create_translation_draft, **GERMAN)

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "not_configured"
    assert f'{role} = "..."' in result.content


def test_without_a_link_the_preview_says_so(site: Site) -> None:
    """A copy that nothing links to its original is made, and the approver is told."""
    loose = site.settings("pages", translation_of=None)

    lines = loose.preview(create_translation_draft, **GERMAN)

    assert "Nothing links it to its original: translation_of names no column." in lines


def copied(folder: Path, script: str, **words: Any) -> tuple[ToolResult, list[tuple[Any, ...]]]:
    """Copy record 1 of a table `doc` into German, and return what the table holds then."""
    history = """; create table doc_history (id integer primary key, doc_id integer,
      field text, old text, new text, changed_by text)"""
    known = {"history": "doc_history", "draft": "draft", "language": "language"}
    tables = {"doc": TableSettings(**(known | words))}
    workspace = sqlite_workspace(folder, script + history, tables=tables)
    site = Site(workspace, list)
    result = site.write(create_translation_draft, table="doc", key="1", language="de")
    with closing(sqlite3.connect(folder / "app.db")) as connection:
        return result, connection.execute("select * from doc order by 1").fetchall()


@pytest.mark.parametrize(
    ("columns", "values", "made"),
    [
        ("name text unique", "'a'", ("a-de",)),
        ("number integer unique", "5", (None,)),
        ("name text, number integer, unique (name, number)", "'a', 5", ("a-de", 5)),
        ("name text unique, other text unique", "'a', 'b'", ("a-de", "b-de")),
        ("name text unique, other text, unique (name, other)", "'a', 'b'", ("a-de", "b")),
        ("name text unique", "null", (None,)),
        ("place integer not null unique", "5", (6,)),
        ("name text, unique (name, language)", "'a'", ("a",)),
        ("data blob", "x'00ff'", (b"\x00\xff",)),
        ("body text", "'" + "x" * 50_000 + "'", ("x" * 50_000,)),
    ],
)
def test_a_copy_differs_where_it_must(
    columns: str, values: str, made: tuple[Any, ...], tmp_path: Path
) -> None:
    """Texts get the language behind them, numbers are left out, places are the next ones."""
    names, _, unique = columns.partition(", unique")
    constraint = f", unique{unique}" if unique else ""
    script = f"""
    create table doc (id integer primary key, language text, draft integer, up integer
      references doc (id), {names}{constraint});
    insert into doc values (1, 'en', 0, null, {values})
    """
    place = "place" if "place" in columns else None

    result, rows = copied(tmp_path, script, translation_of="up", position=place)

    assert result.success, result.content
    assert rows[1] == (2, "de", 1, 1, *made)


def test_a_copy_that_would_be_there_twice_is_a_conflict(tmp_path: Path) -> None:
    """A number that must be filled and unique cannot be made up."""
    script = """
    create table doc (id integer primary key, language text, draft integer,
      number integer not null unique);
    insert into doc values (1, 'en', 0, 5)
    """

    result, rows = copied(tmp_path, script)

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "duplicate"
    assert len(rows) == 1


def test_the_language_may_be_part_of_the_key(tmp_path: Path) -> None:
    """Then the other parts tell what is a translation of what."""
    script = """
    create table doc (id text, language text, draft text, title text, ref text unique,
      primary key (id, language)) without rowid;
    insert into doc values ('a', 'en', 'published', 'A', 'r1'),
      ('b', 'en', 'published', 'B', 'r2'), ('b', 'de', 'published', 'B2', 'r3');
    create table doc_history (id integer primary key, doc text references doc (ref),
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(history="doc_history", draft="draft", language="language")
    site = Site(sqlite_workspace(tmp_path, script, tables={"doc": words}), list)
    german = {"table": "doc", "language": "de"}

    made = site.write(create_translation_draft, **german, key="a,en")
    refused = site.write(create_translation_draft, **german, key="b,en")
    over = site.write(create_translation_draft, **german, key="b,en", overwrite=True)

    assert made.success, made.content
    assert refused.failure is not None
    assert refused.failure.metadata["reason"] == "exists"
    assert over.success, over.content
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection:
        rows = connection.execute("select * from doc where language = 'de'").fetchall()
    assert rows == [("a", "de", "draft", "A", "r1-de"), ("b", "de", "draft", "B", "r3")]


def test_a_link_without_a_single_column_to_refer_to_is_none(tmp_path: Path) -> None:
    """A key of several columns is not told by one."""
    script = """
    create table doc (id integer, part integer, ref integer unique, language text, draft integer,
      up integer, primary key (id, part));
    create table doc_history (id integer primary key, doc_id integer references doc (ref),
      field text, old text, new text, changed_by text)
    """
    words = TableSettings(
        history="doc_history", draft="draft", language="language", translation_of="up"
    )
    site = Site(sqlite_workspace(tmp_path, script, tables={"doc": words}), list)

    result = site.write(create_translation_draft, table="doc", key="1,1", language="de")

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "not_configured"


def test_the_language_may_be_a_number(tmp_path: Path) -> None:
    """A table that counts its languages takes digits, and no words."""
    script = """
    create table doc (id integer primary key, language integer, draft integer, title text);
    insert into doc values (1, 0, 0, 'a')
    """
    known = {"history": "doc_history", "draft": "draft", "language": "language"}
    history = """; create table doc_history (id integer primary key, doc_id integer,
      field text, old text, new text, changed_by text)"""
    tables = {"doc": TableSettings(**known)}
    site = Site(sqlite_workspace(tmp_path, script + history, tables=tables), list)

    word = site.write(create_translation_draft, table="doc", key=1, language="de")
    number = site.write(create_translation_draft, table="doc", key=1, language="2")

    assert word.failure is not None
    assert word.failure.code.value == "invalid_arguments"
    assert number.success, number.content


def test_many_fields_are_counted_and_bound(tmp_path: Path) -> None:
    """Beyond the first ones the preview names the columns, with digits of what they hold."""
    names = [f"c{number}" for number in range(20)]
    script = f"""
    create table doc (id integer primary key, language text, draft integer, up integer
      references doc (id), {", ".join(f"{name} text" for name in names)});
    insert into doc (id, language, draft, c19) values (1, 'en', 0, 'last')
    """

    result, rows = copied(tmp_path, script, translation_of="up")

    assert result.success, result.content
    assert rows[1][-1] == "last"
    assert "fields more: c9, c10" in result.content
    assert len(result.content.splitlines()) <= 20


def test_several_translations_are_a_conflict(site: Site) -> None:
    """None of them is chosen."""
    site.write(create_translation_draft, **GERMAN)
    site.run("insert into pages (title, slug, language, translation_of) values ('x', 'x', 'de', 1)")

    result = site.write(create_translation_draft, **GERMAN, overwrite=True)

    assert result.failure is not None
    assert result.failure.code.value == "conflict"
