import os
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import sqlite_workspace
from support.indexes import indexed
from toolseam import ErrorCode, ToolError
from toolseam.guards import PathGuard
from toolseam_builtin import _index
from toolseam_builtin._index import Built, _sources, build_index, index_file, index_status
from toolseam_builtin._index._texts import PASSAGE_CHARACTERS, Plain, passages, plain_file
from toolseam_builtin.workspace import IndexSettings, Workspace

ROWS = "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO t VALUES (1, 'harbour')"


def stored(workspace: Workspace) -> dict[str, tuple[str, str]]:
    """Read title and text of every source out of an index."""
    with closing(sqlite3.connect(index_file(workspace))) as connection:
        rows = connection.execute("SELECT source_id, title, text FROM source ORDER BY source_id")
        return {row[0]: (row[1], row[2]) for row in rows}


def refused(workspace: Workspace) -> ToolError:
    """Build what cannot be built, and return why."""
    with pytest.raises(ToolError) as caught:
        build_index(workspace)
    return caught.value


def test_it_is_kept_for_its_owner_outside_of_the_workspace(tmp_path: Path) -> None:
    """Folder 0700 and file 0600 below the state folder, whatever the umask (S10)."""
    before = os.umask(0)
    try:
        workspace = indexed(tmp_path, {"a.txt": "harbour"})
    finally:
        os.umask(before)

    file = index_file(workspace)
    assert file.is_relative_to(os.environ["XDG_STATE_HOME"])
    assert not file.is_relative_to(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.parent.parent.stat().st_mode) == 0o700
    assert [each.name for each in file.parent.iterdir()] == ["index.sqlite"]


def test_a_folder_that_others_may_read_is_closed_again(tmp_path: Path) -> None:
    """Building puts the rights of its folder right."""
    workspace = indexed(tmp_path, {"a.txt": "harbour"})
    index_file(workspace).parent.chmod(0o755)

    build_index(workspace)

    assert stat.S_IMODE(index_file(workspace).parent.stat().st_mode) == 0o700


def test_it_never_lies_in_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder inside the workspace is refused, and nothing is made there."""
    (tmp_path / "docs").mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    failure = refused(Workspace(folder=tmp_path, index=IndexSettings(("docs",), ())))

    assert failure.code == ErrorCode.UNAVAILABLE
    assert "XDG_STATE_HOME" in str(failure)
    assert [each.name for each in tmp_path.iterdir()] == ["docs"]


def test_a_relative_state_folder_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As XDG has it, a relative path there does not count; the home does."""
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path))

    file = index_file(Workspace(folder=tmp_path / "x"))

    assert file.is_relative_to(tmp_path / ".local" / "state" / "toolseam")


def test_a_state_folder_that_is_no_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or a link where the folder belongs is not written through."""
    (tmp_path / "docs").mkdir()
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    workspace = Workspace(folder=tmp_path, index=IndexSettings(("docs",), ()))
    base = index_file(workspace).parent.parent
    base.parent.mkdir(parents=True)
    base.symlink_to(elsewhere)

    linked = refused(workspace)
    base.unlink()
    base.write_text("")
    file = refused(workspace)

    assert (linked.code, file.code) == (ErrorCode.UNAVAILABLE, ErrorCode.UNAVAILABLE)
    assert list(elsewhere.iterdir()) == []


def test_a_build_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    """The new file takes the old one's place when it is done, and not before."""
    workspace = indexed(tmp_path, {"a.txt": "harbour"})
    before = index_file(workspace).read_bytes()

    failure = refused(attrs.evolve(workspace, index=IndexSettings(("docs", "gone"), ())))

    assert failure.code == ErrorCode.UNAVAILABLE
    assert index_file(workspace).read_bytes() == before
    assert [each.name for each in index_file(workspace).parent.iterdir()] == ["index.sqlite"]


def test_what_a_killed_build_left_is_swept(tmp_path: Path) -> None:
    """Unfinished files go after a day; younger ones may be another build's."""
    workspace = indexed(tmp_path, {"a.txt": "harbour"})
    folder = index_file(workspace).parent
    old, young = folder / ".building-old", folder / ".building-young"
    old.touch()
    young.touch()
    os.utime(old, (time.time() - 90_000,) * 2)

    build_index(workspace)

    assert sorted(each.name for each in folder.iterdir()) == [".building-young", "index.sqlite"]


def test_without_settings_there_is_nothing_to_build(tmp_path: Path) -> None:
    """Neither folders nor columns is `unavailable`, naming the setting."""
    failure = refused(Workspace(folder=tmp_path))

    assert failure.code == ErrorCode.UNAVAILABLE
    assert "workspace.index" in str(failure)


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("users.name", ErrorCode.NOT_FOUND),
        ("nope.x", ErrorCode.NOT_FOUND),
        ("t.nope", ErrorCode.INVALID_ARGUMENTS),
        ("t.api_key", ErrorCode.PERMISSION_DENIED),
        ("history.old", ErrorCode.PERMISSION_DENIED),
        ("body", ErrorCode.INVALID_ARGUMENTS),
        ("v.body", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_columns_pass_the_gate(tmp_path: Path, column: str, code: ErrorCode) -> None:
    """Denied tables, sensitive columns, values of named fields and rows without key are refused."""
    script = (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT, api_key TEXT);"
        "CREATE VIEW v AS SELECT body FROM t;"
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE history (id INTEGER PRIMARY KEY, field TEXT, old TEXT, new TEXT)"
    )
    workspace = sqlite_workspace(tmp_path, script, index=IndexSettings((), (column,)))

    assert refused(workspace).code == code


@pytest.mark.parametrize("folder", [".git", "a/.hidden", "..", "/etc", "gone", "file.txt"])
def test_folders_pass_the_path_guard(tmp_path: Path, folder: str) -> None:
    """Hidden folders, folders outside and what is none are refused."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / ".hidden").mkdir(parents=True)
    (tmp_path / "file.txt").touch()

    failure = refused(Workspace(folder=tmp_path, index=IndexSettings((folder,), ())))

    assert failure.code in {ErrorCode.UNAVAILABLE, ErrorCode.PERMISSION_DENIED}


def test_a_trusted_workspace_may_name_a_folder_outside(tmp_path: Path) -> None:
    """With trust the setting's word counts, as elsewhere."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "a.txt").write_text("harbour")
    settings = IndexSettings(("../outside",), ())
    workspace = Workspace(folder=inside, index=settings, trusted=True)

    build_index(workspace)

    assert list(stored(workspace)) == ["../outside/a.txt"]


def test_only_texts_are_read_and_the_rest_is_counted(tmp_path: Path) -> None:
    """Other kinds, hidden files, links, key material, bytes and bad names are passed over."""
    texts = {"a.txt": "harbour", ".b.txt": "x", "c.py": "x", "my-credentials.txt": "x"}
    workspace = indexed(tmp_path, texts)
    docs = tmp_path / "docs"
    (docs / "link.txt").symlink_to(docs / "a.txt")
    os.link(docs / "a.txt", docs / "twin.txt")
    (docs / "bytes.txt").write_bytes(b"a\0b")
    (docs / "two\nlines.txt").write_text("x")
    (docs / "d.txt").write_text("fine")

    (built,) = build_index(workspace)

    assert list(stored(workspace)) == ["docs/d.txt"]
    assert built.passed_over == {
        "not of a kind that is read": 1,
        "no text, or a name that is not shown": 2,
        "not to be read": 2,
    }


def test_a_text_that_two_folders_hold_is_taken_once(tmp_path: Path) -> None:
    """One id stands for one source, and the second is counted."""
    workspace = indexed(tmp_path, {"sub/a.txt": "harbour"})

    built = build_index(attrs.evolve(workspace, index=IndexSettings(("docs", "docs/sub"), ())))

    assert [each.sources for each in built] == [1, 0]
    assert built[1].passed_over == {"named twice": 1}


def test_records_without_text_are_counted(tmp_path: Path) -> None:
    """Nulls, blanks and numbers are no texts; keys that are not shown name no source."""
    script = (
        "CREATE TABLE t (id TEXT PRIMARY KEY, body);"
        "INSERT INTO t VALUES ('a', 'harbour'), ('b', NULL), ('c', ' '), ('d', 5), ('e', x'00'),"
        "('x://u:Aster9@h', 'text'), ('two' || char(10) || 'lines', 'text')"
    )

    workspace = indexed(tmp_path, script=script, columns=("t.body",))

    assert list(stored(workspace)) == ["t.body:a"]
    assert index_status(workspace).places[0].passed_over == {
        "without text": 4,
        "a key that is not shown": 2,
    }


def test_a_long_table_takes_several_stretches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and characters bound what is read at once; every row comes once all the same."""
    monkeypatch.setattr(_sources, "_SESSION_ROWS", 7)
    monkeypatch.setattr(_sources, "_SESSION_CHARACTERS", 40)
    rows = ", ".join(f"({number}, 'harbour {number}')" for number in range(50))
    script = f"CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO t VALUES {rows}"

    workspace = indexed(tmp_path, script=script, columns=("t.body",))

    assert {text for _, text in stored(workspace).values()} == {f"harbour {n}" for n in range(50)}


def test_a_place_gives_so_many_sources_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the most, the rest is left out in sight."""
    monkeypatch.setattr("toolseam_builtin._index._build.MOST", 3)
    texts = {f"{number}.txt": "harbour" for number in range(5)}

    workspace = indexed(tmp_path, texts)

    assert index_status(workspace).places == (Built("folder", "docs", 3, 3, 0, {}, complete=False),)


@pytest.mark.parametrize(
    ("name", "raw", "title", "text", "headings"),
    [
        ("a.md", "# One\n\ntext\n## Two ##\n", "One", "One\n\ntext\nTwo\n", ["One", "Two"]),
        ("a.md", "---\ntitle: 'Front'\n---\ntext", "Front", None, []),
        ("a.md", "---\ntags: x\n---\ntext", "a.md", None, []),
        ("a.md", "---\ntags: x\ntitle: Second\n---\ntext", "Second", None, []),
        ("a.md", "---\nno end", "a.md", None, []),
        ("a.md", "[link](http://h) ![alt](x.png) `code` **b**", "a.md", "link alt code b", []),
        ("a.md", "One\n===\n\nx\n", "One", "One\n\nx\n", ["One"]),
        ("a.md", "```\n# no heading\n```\n", "a.md", "# no heading\n", []),
        ("a.rst", "One\n---\n\nx\n", "One", "One\n\nx\n", ["One"]),
        ("d/a.txt", "x\r\ny\rz", "a.txt", "x\ny\nz", []),
        ("a.html", "<title>T &amp; U</title><h1 id=a>One</h1>x<p>y", "T & U", None, ["One"]),
        ("a.html", "<script>no</script><p>y<!-- no --></p>", "a.html", "\ny", []),
        ("a.txt", "", "a.txt", "", []),
    ],
)
def test_markup_is_taken_off(
    name: str, raw: str, title: str, text: str | None, headings: list[str]
) -> None:
    """Each kind of text gives its words, its title and its headings, each at its place."""
    plain = plain_file(name, raw)

    assert plain.title == title
    assert text is None or plain.text.strip() == text.strip()
    assert [words for _, words in plain.headings] == headings
    assert all(plain.text.startswith(words, place) for place, words in plain.headings)


@given(
    st.lists(st.sampled_from([*"ab #.\n-=`<>/", "<h1>", "&#10;", "```", "key: "]), max_size=200),
    st.sampled_from(["a.md", "a.html", "a"]),
)
def test_any_text_is_cut_into_passages(pieces: list[str], name: str) -> None:
    """Passages follow on each other, none is too long, and no word is lost."""
    plain = plain_file(name, "".join(pieces) * 10)

    parts = passages(plain)

    assert all(part.end - part.start <= PASSAGE_CHARACTERS for part in parts)
    joined = "".join(plain.text[part.start : part.end] for part in parts)
    assert "".join(joined.split()) == "".join(plain.text.split())


def test_a_passage_ends_where_a_reader_would_stop() -> None:
    """Line ends come before sentences, sentences before blanks."""
    text = "a" * 700 + ".\n" + "b" * 700 + ". " + "c" * 2000

    parts = passages(Plain("", text))

    ends = [text[part.start : part.end][-2:] for part in parts]
    assert ends[:2] == [".\n", ". "]
    assert len(parts) == 4


def test_a_fresh_index_is_not_stale(tmp_path: Path) -> None:
    """Right after the build nothing has changed."""
    workspace = indexed(tmp_path, {"a.txt": "harbour"}, script=ROWS, columns=("t.body",))

    status = index_status(workspace)

    assert status.stale == ()
    assert [(place.name, place.sources) for place in status.places] == [("docs", 1), ("t.body", 1)]
    assert 0 <= _index.age(status) < 60
    assert status.size == status.file.stat().st_size


def test_what_has_changed_since_is_told(tmp_path: Path) -> None:
    """New, gone and changed files, more records, and other settings make it stale."""
    texts = {"a.txt": "harbour", "b.txt": "x", "c.txt": "x"}
    workspace = indexed(tmp_path, texts, script=ROWS, columns=("t.body",))
    docs = tmp_path / "docs"
    (docs / "a.txt").unlink()
    (docs / "b.txt").write_text("other")
    (docs / "d.txt").write_text("new")
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection, connection:
        connection.execute("INSERT INTO t VALUES (2, 'x')")

    changed = index_status(workspace).stale
    others = index_status(attrs.evolve(workspace, index=IndexSettings(("docs",), ()))).stale

    assert changed == (
        "docs: 1 new, 1 gone, 1 changed",
        "t.body: 2 records, 1 when it was built",
    )
    assert "names other folders or columns" in others[0]


@pytest.mark.parametrize("loss", ["docs", "app.db"])
def test_a_place_that_cannot_be_looked_up_is_told(tmp_path: Path, loss: str) -> None:
    """A folder or database that is gone makes the index stale, and stops no status."""
    workspace = indexed(tmp_path, {"a.txt": "harbour"}, script=ROWS, columns=("t.body",))
    (tmp_path / loss).rename(tmp_path / ".away")

    (reason,) = index_status(workspace).stale

    assert "cannot be looked up" in reason


def test_an_engine_without_full_text_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SQLite without FTS5, and one that cannot write, are `unavailable` and leave nothing."""
    (tmp_path / "docs").mkdir()
    workspace = Workspace(folder=tmp_path, index=IndexSettings(("docs",), ()))
    messages: list[str] = []
    for text in ("no such module: fts5", "disk I/O error"):

        def connect(*_: Any, message: str = text, **__: Any) -> Any:
            raise sqlite3.OperationalError(message)

        with monkeypatch.context() as patched:
            patched.setattr("toolseam_builtin._index._build.sqlite3.connect", connect)
            messages.append(str(refused(workspace)))

    assert messages == ["This SQLite has no FTS5.", "The index cannot be written."]
    assert list(index_file(workspace).parent.iterdir()) == []


def test_a_table_that_takes_too_long_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not one row comes in time, the build ends and the old index stays."""
    workspace = indexed(tmp_path, script=ROWS, columns=("t.body",))
    before = index_file(workspace).read_bytes()
    with closing(sqlite3.connect(tmp_path / "app.db")) as connection, connection:
        connection.execute("CREATE VIEW slow AS SELECT 1 AS id")
        connection.execute("DROP VIEW slow")
        connection.executemany("INSERT INTO t (body) VALUES (?)", [("x" * 200,)] * 50_000)
    monkeypatch.setattr(_sources, "_SESSION_SECONDS", -1.0)

    failure = refused(workspace)

    assert failure.code == ErrorCode.TIMEOUT
    assert index_file(workspace).read_bytes() == before


def test_json_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document whose end was not read cannot be masked by its keys; plain text is cut."""
    monkeypatch.setattr(_sources, "_CELL_CHARACTERS", 100)
    long = '{"a": "' + "x" * 200 + '"}'
    script = (
        "CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT);"
        f"INSERT INTO t VALUES (1, '{long}'), (2, '{'word ' * 50}')"
    )

    workspace = indexed(tmp_path, script=script, columns=("t.body",))

    (place,) = index_status(workspace).places
    assert (place.sources, place.cut) == (1, 1)
    assert place.passed_over == {"JSON that is too long to be masked": 1}


def test_a_file_that_is_gone_has_no_mark(tmp_path: Path) -> None:
    """What cannot be looked at counts as changed."""
    assert _sources.file_mark(PathGuard(tmp_path), "gone") == ""
