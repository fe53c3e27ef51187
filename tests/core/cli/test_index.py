from pathlib import Path

import pytest

from support.commands import documented, on_terminal, toolseam
from toolseam.cli._index import _notes
from toolseam_builtin._index import Built

INDEX = documented("index")
SETTINGS = '[workspace.index]\nfolders = ["docs"]\ncolumns = ["album.title"]\n'


@pytest.fixture
def site(workspace: Path) -> Path:
    """The workspace, with a folder of texts and what its index is made of."""
    (workspace / "docs").mkdir()
    (workspace / "docs" / "guide.md").write_text("# Guide\n\nThe harbour is open.\n")
    (workspace / "docs" / "photo.png").write_bytes(b"\x89PNG")
    (workspace / "toolseam.toml").write_text(SETTINGS)
    return workspace


def test_what_was_built_can_be_asked(site: Path) -> None:
    """Before the build the tool names the command, after it the tool answers."""
    before = toolseam("run", "rag_query", "--arg", "question=harbour", cwd=site)
    built = toolseam("index", "build", cwd=site)
    after = toolseam("run", "rag_query", "--arg", "question=harbour", cwd=site)

    assert (before.code, built.code, after.code) == (1, 0, 0)
    assert "`toolseam index build`" in before.err
    assert "built in" in built.err
    assert "docs/guide.md" in after.out


def test_a_line_says_what_each_place_gave(site: Path) -> None:
    """In a pipe a line holds name, kind, sources, passages and what was passed over."""
    ran = toolseam("index", "build", cwd=site)

    assert ran.out.splitlines()[:2] == [
        "docs\tfolder\t1\t1\t1 not of a kind that is read",
        "album.title\tcolumn\t2\t2\t",
    ]
    assert "index.sqlite: " in ran.out.splitlines()[2]


def test_json_is_as_documented(site: Path) -> None:
    """`--json` of both gives the index with its places."""
    built = toolseam("index", "build", "--json", cwd=site)
    status = toolseam("index", "status", "--json", cwd=site)

    INDEX.validate(built.json)
    INDEX.validate(status.json)
    assert (status.json["sources"], status.json["stale"]) == (3, [])
    assert {**built.json, "age_s": 0} == {**status.json, "age_s": 0}


def test_status_tells_what_has_changed(site: Path) -> None:
    """Not built, up to date, out of date: the exit code and the words tell."""
    missing = toolseam("index", "status", cwd=site)
    toolseam("index", "build", cwd=site)
    fresh = toolseam("index", "status", cwd=site)
    (site / "docs" / "more.md").write_text("more")
    stale = toolseam("index", "status", cwd=site)

    assert (missing.code, fresh.code, stale.code) == (1, 0, 1)
    assert "There is no full-text index" in missing.err
    assert "out of date: docs: 1 new" in stale.out


def test_a_terminal_gets_a_table(site: Path) -> None:
    """On a terminal the places have headings."""
    ran = on_terminal("index", "build", cwd=site)

    assert "PASSAGES" in ran.out


def test_places_that_are_cut_or_incomplete_say_so(site: Path) -> None:
    """A text beyond two million bytes is cut in sight."""
    (site / "docs" / "large.txt").write_text("harbour and ships\n" * 120_000)

    ran = toolseam("index", "build", cwd=site)

    assert ran.out.splitlines()[0].endswith("\t1 not of a kind that is read, 1 cut")
    assert _notes(Built("column", "t.x", 9, 9, 0, {}, complete=False)) == "the first ones only"


def test_what_cannot_be_built_is_said(workspace: Path, config: Path) -> None:
    """Nothing configured, a denied table, and a tool that is off are failures with one line."""
    nothing = toolseam("index", "build", cwd=workspace)
    (workspace / "toolseam.toml").write_text('[workspace.index]\ncolumns = ["users.name"]\n')
    denied = toolseam("index", "build", cwd=workspace)
    config.write_text('block = ["toolseam"]\n')
    blocked = toolseam("index", "build", cwd=workspace)

    assert (nothing.code, denied.code, blocked.code) == (1, 1, 1)
    assert nothing.err == "toolseam: workspace.index names neither folders nor columns.\n"
    assert "No readable table 'users'." in denied.err
    assert "rag_query is not loaded" in blocked.err


def test_another_word_is_usage(site: Path) -> None:
    """Only `build` and `status` are actions."""
    assert toolseam("index", "drop", cwd=site).code == 2
    assert toolseam("index", cwd=site).code == 2
