import sqlite3
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.databases import ask, everything
from support.indexes import indexed
from toolseam import ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin.rag import rag_fetch_source, rag_query
from toolseam_builtin.rag.rag_fetch_source import pages_of
from toolseam_builtin.workspace import IndexSettings, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A short text, a long one, a record with markup, and a record of a name."""
    return indexed(
        tmp_path,
        {
            "short.md": "# Hours\n\nFrom **ten** to six.\n\n> quoted\n",
            "long.txt": "".join(f"line {number} of the long text\n" for number in range(1_000)),
        },
        script="CREATE TABLE pages (id INTEGER PRIMARY KEY, title TEXT, body TEXT);"
        "INSERT INTO pages VALUES (7, 'Tickets', '<h2>Adults</h2><p>Twelve euros.</p>')",
        columns=("pages.body",),
    )


def fetch(workspace: Workspace, source_id: str, **arguments: object) -> ToolResult:
    """Fetch a source through the seam."""
    return ask(rag_fetch_source, workspace, source_id=source_id, **arguments)


def test_each_line_is_quoted(workspace: Workspace) -> None:
    """The text stands behind `> `, without markup, and in an artifact and the data as it is."""
    result = fetch(workspace, "docs/short.md")

    heading, *lines = result.content.split("\n")
    assert heading == "docs/short.md · Hours, page 1 of 1 (34 characters in all)."
    assert lines[:5] == ["> Hours", "> ", "> From ten to six.", "> ", "> > quoted"]
    assert result.artifacts[0].lines == ["Hours", "", "From ten to six.", "", "> quoted"]
    assert result.data is not None
    assert result.data["text"] == "Hours\n\nFrom ten to six.\n\n> quoted\n"


def test_an_id_is_taken_as_evidence_gives_it(workspace: Workspace) -> None:
    """What `rag_query` names can be fetched, files and records alike."""
    found = ask(rag_query, workspace, question="adults text hours").artifacts[0].rows

    assert {row[0] for row in found} == {"docs/short.md", "docs/long.txt", "pages.body:7"}
    assert all(fetch(workspace, row[0]).success for row in found)
    assert "> Twelve euros." in fetch(workspace, "pages.body:7").content


def test_a_long_text_has_pages(workspace: Workspace) -> None:
    """Pages end at a line's end, follow on each other, and say how to get the next."""
    first = fetch(workspace, "docs/long.txt")
    pages = int(first.data["pages"])  # type: ignore[index]
    texts = [fetch(workspace, "docs/long.txt", page=n + 1) for n in range(pages)]

    assert "More with page=2." in first.content
    assert "More with" not in texts[-1].content
    assert all(len(result.data["text"]) <= 8_000 for result in texts)  # type: ignore[index]
    whole = "".join(result.data["text"] for result in texts)  # type: ignore[index]
    assert whole == (workspace.place / "docs" / "long.txt").read_text()
    number = int(texts[1].artifacts[0].data.value["first_line"])
    assert texts[1].artifacts[0].lines[0] == f"line {number - 1} of the long text"


def test_a_page_that_is_not_there_is_refused(workspace: Workspace) -> None:
    """A number beyond the last page is `invalid_arguments`, and says how many there are."""
    beyond = fetch(workspace, "docs/short.md", page=2).failure
    zero = fetch(workspace, "docs/short.md", page=0).failure

    assert beyond is not None
    assert beyond.code == ErrorCode.INVALID_ARGUMENTS
    assert "1 page." in beyond.message
    assert zero is not None
    assert zero.code == ErrorCode.INVALID_ARGUMENTS


def test_absent_denied_and_gone_have_one_answer(workspace: Workspace) -> None:
    """Nothing tells a source that may not be read from one that never was."""
    no_column = attrs.evolve(workspace, index=IndexSettings(("docs",), ()))
    denied = attrs.evolve(workspace, tables_deny=("pages",))
    failures = [
        fetch(workspace, "nope").failure,
        fetch(workspace, "docs/SHORT.md").failure,
        fetch(workspace, "pages.body:8").failure,
        fetch(workspace, "../app.db").failure,
        fetch(no_column, "pages.body:7").failure,
        fetch(denied, "pages.body:7").failure,
    ]
    (workspace.place / "docs" / "short.md").unlink()
    failures.append(fetch(workspace, "docs/short.md").failure)
    with closing(sqlite3.connect(workspace.place / "app.db")) as connection, connection:
        connection.execute("DELETE FROM pages")
    failures.append(fetch(workspace, "pages.body:7").failure)

    assert {(each.code, each.message) for each in failures if each is not None} == {
        (ErrorCode.NOT_FOUND, "No source of the index has this id.")
    }
    assert None not in failures


def test_what_was_indexed_is_shown_and_a_change_is_said(workspace: Workspace) -> None:
    """The text is the indexed one; a warning tells that the file is another one by now."""
    (workspace.place / "docs" / "short.md").write_text("# New\n")

    result = fetch(workspace, "docs/short.md")

    assert "> From ten to six." in result.content
    assert "has changed since" in result.metadata["warnings"][0]


def test_a_text_that_was_too_long_says_so(tmp_path: Path) -> None:
    """Of a file beyond two million bytes the beginning is there, and a warning."""
    workspace = indexed(tmp_path, {"large.txt": "harbour and ships\n" * 120_000})

    result = fetch(workspace, "docs/large.txt")

    assert "only the beginning" in result.metadata["warnings"][0]
    assert result.data is not None
    assert result.data["pages"] > 240


def test_secrets_are_masked(tmp_path: Path) -> None:
    """A text is stored as it may be shown (S8)."""
    workspace = indexed(tmp_path, {"a.md": "# Setup\n\npassword: Aster9\n\nend\n"})

    result = fetch(workspace, "docs/a.md")

    assert "> password: [masked]" in result.content
    assert "Aster9" not in everything(result)


@given(st.text(alphabet="ab \n", max_size=300).map(lambda text: text * 90))
def test_pages_lose_nothing(text: str) -> None:
    """Put together again, the pages are the text, and none is too long."""
    pages = pages_of(text)

    assert "".join(pages) == text
    assert all(len(page) <= 8_000 for page in pages)


@pytest.mark.parametrize("source_id", ["", "x" * 501])
def test_blank_and_long_ids_are_refused(workspace: Workspace, source_id: str) -> None:
    """An id out of range is `invalid_arguments`."""
    failure = fetch(workspace, source_id).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


def test_without_an_index_the_command_is_named(tmp_path: Path) -> None:
    """Where none was built the tool is `unavailable`, and says what to do."""
    failure = fetch(Workspace(folder=tmp_path), "docs/short.md").failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert "`toolseam index build`" in failure.message


def test_nobody_may_ask(workspace: Workspace) -> None:
    """Without an actor the tool is refused."""
    with harness(rag_fetch_source, actor=None, settings=workspace) as double:
        failure = double.call({"source_id": "docs/short.md"}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
