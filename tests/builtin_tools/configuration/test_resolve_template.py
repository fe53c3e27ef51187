import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import Actor, ErrorCode, ToolError, ToolResult
from toolseam.testing import harness
from toolseam_builtin._config._templates import Candidate, template_name
from toolseam_builtin.configuration import resolve_template
from toolseam_builtin.configuration.resolve_template import compose
from toolseam_builtin.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A theme before the application's own templates, with links and hidden files."""
    root = tmp_path / "site"
    for name, text in {
        "theme/parts/hours.html": "<aside>theme</aside>",
        "templates/parts/hours.html": "<p>CANARY</p>",
        "templates/page.html": "{% include",
        "templates/mail/welcome.txt": "Hello",
        "templates/.draft.html": "x",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "outside.html").write_text("CANARY")
    (root / "theme" / "out.html").symlink_to("../../outside.html")
    (root / "theme" / "gone.html").symlink_to("../../nothing.html")
    (root / "templates" / "out.html").write_text("own")
    return root


def ask(folder: Path, name: str, *, templates: object = None, **more: object) -> ToolResult:
    """Call the tool through the seam."""
    named = ("theme", "templates") if templates is None else templates
    workspace = Workspace(folder=folder, templates=named)
    return harness(resolve_template, settings=workspace).call({"name": name, **more})


def test_the_first_folder_wins(folder: Path) -> None:
    """Candidates come in loader order, and the first that exists backs the name."""
    result = ask(folder, "parts/hours.html")

    assert result.content.split("\n") == [
        "parts/hours.html is backed by theme/parts/hours.html.",
        "1. [exists] theme/parts/hours.html (20 bytes) <- wins",
        "2. [exists] templates/parts/hours.html (13 bytes)",
    ]
    assert "CANARY" not in f"{result.content}{result.data}{result.artifacts[0].rows}"


def test_table_and_data_say_the_same(folder: Path) -> None:
    """The table's cells are those of the text, the data holds them typed."""
    result = ask(folder, "page.html")

    assert result.artifacts[0].rows == [
        ["1", "theme/page.html", "missing", ""],
        ["2", "templates/page.html", "exists", "10"],
    ]
    assert result.data == {
        "name": "page.html",
        "winner": "templates/page.html",
        "similar": [],
        "total": 2,
        "columns": ["order", "candidate", "state", "bytes"],
        "rows": [
            [1, "theme/page.html", "missing", None],
            [2, "templates/page.html", "exists", 10],
        ],
    }


def test_no_file_is_an_answer_with_similar_names(folder: Path) -> None:
    """Where nothing backs the name, the answer lists the places and what is like it, best first."""
    result = ask(folder, "pages.html")

    assert result.success
    assert result.content.startswith("No file backs pages.html; these were the candidates.")
    assert "\nSimilar names: page.html, " in result.content


@pytest.mark.parametrize(
    ("name", "kind", "winner"),
    [
        ("mail/welcome", "txt", "templates/mail/welcome.txt"),
        ("mail/welcome.txt", "txt", "templates/mail/welcome.txt"),
        ("mail/welcome", None, None),
        ("/mail//./welcome.txt", None, "templates/mail/welcome.txt"),
        ("mail", None, None),
        (".draft.html", None, None),
    ],
)
def test_names_are_taken_as_the_loader_takes_them(
    folder: Path, name: str, kind: str | None, winner: str | None
) -> None:
    """A kind is the ending that lacks; empty segments do not count; folders never win."""
    data = ask(folder, name, kind=kind).data

    assert data is not None
    assert data["winner"] == winner


def test_links_that_lead_out_are_judged(folder: Path) -> None:
    """A link out of its folder may not be read, whether or not something is there (H47)."""
    out, gone = ask(folder, "out.html"), ask(folder, "gone.html")

    assert "1. [may not be read] theme/out.html" in out.content
    assert "1. [may not be read] theme/gone.html" in gone.content
    assert "templates/out.html (3 bytes) <- wins" in out.content
    assert "Warning: A candidate that may not be read here" in out.content
    assert out.metadata is not None


@pytest.mark.parametrize(
    "name",
    ["..", "../x", "a/../b", "a/..", "", " ", "/", ".", "a\0b", "x://y", "a::b", "x" * 501],
)
def test_bad_names_are_refused(folder: Path, name: str) -> None:
    """Names that climb, blank ones and addresses are `invalid_arguments`."""
    failure = ask(folder, name).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


@pytest.mark.parametrize("kind", ["", ".html", "../x", "a/b", "x" * 21])
def test_bad_kinds_are_refused(folder: Path, kind: str) -> None:
    """A kind is a plain ending."""
    failure = ask(folder, "page", kind=kind).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


def test_a_folder_that_leads_out_is_one_refused_candidate(folder: Path) -> None:
    """In an untrusted workspace a folder outside does not hide the others."""
    result = ask(folder, "page.html", templates=("../elsewhere", "nowhere", "templates"))

    assert "1. [may not be read] ../elsewhere/page.html" in result.content
    assert "2. [missing] nowhere/page.html" in result.content
    assert "3. [exists] templates/page.html" in result.content


def test_the_usual_folder_is_found(folder: Path) -> None:
    """Without a setting the folder `templates` is looked at."""
    assert "is backed by templates/page.html" in ask(folder, "page.html", templates=()).content


def test_without_folders_it_is_unavailable(tmp_path: Path) -> None:
    """Where neither the setting nor the usual folder is there, the refusal names the setting."""
    failure = ask(tmp_path, "page.html", templates=()).failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata == {"reason": "not_configured"}
    assert "workspace.templates" in failure.message


def test_a_large_folder_is_searched_within_a_budget(tmp_path: Path) -> None:
    """Similar names are looked for in bounded time."""
    below = tmp_path / "templates"
    for part in range(60):
        (below / f"p{part}").mkdir(parents=True)
        for number in range(100):
            (below / f"p{part}" / f"page{number}.html").touch()
    started = time.process_time()

    assert ask(tmp_path, "p1/pages1.html").success
    assert time.process_time() - started < 2


def test_many_candidates_are_counted() -> None:
    """What does not fit is counted, not dropped in silence."""
    found = [Candidate("x" * 900 + str(number), "missing") for number in range(80)]

    answer = compose("x", found, [])

    shown = len(answer.artifacts[0].rows)
    assert 10 < shown < 80
    assert f"{shown} of 80 candidates shown." in answer.text


@given(st.text("ab./\\é\n", max_size=20))
def test_a_name_never_climbs(name: str) -> None:
    """Whatever the name, it is refused or stays below the folder, in one spelling."""
    try:
        taken = template_name(name, None)
    except ToolError:
        taken = "refused"
    assert not {"..", ".", ""} & set(taken.split("/"))
    assert template_name(taken, None) == taken


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_ask(folder: Path, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    settings = Workspace(folder=folder)
    failure = harness(resolve_template, settings=settings, actor=actor).call({"name": "x"}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
