import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ErrorCode, ToolError, ToolResult
from toolseam.guards import FileRead, PathGuard
from toolseam.testing import harness
from toolseam_builtin.code import search_code
from toolseam_builtin.code._search import Budget, finder, search
from toolseam_builtin.code._source import source_of
from toolseam_builtin.workspace import Workspace


def find(workspace: Workspace, pattern: str, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return harness(search_code, settings=workspace).call({"pattern": pattern, **arguments})


def rows(result: ToolResult) -> list[list[object]]:
    """Give the typed rows of an answer."""
    assert result.data is not None
    found: list[list[object]] = result.data.value["rows"]
    return found


def never() -> bool:
    """Nobody cancels."""
    return False


def test_matching_lines_are_listed_in_order(workspace: Workspace) -> None:
    """Each hit names file, line and text, sorted by file and line, and all are counted."""
    result = find(workspace, "price")

    assert result.content.split("\n") == [
        "3 matching lines in 2 of 3 files searched, for the text 'price'; 3 shown.",
        "app/models.py:7: def price(self):",
        "notes.md:1: price list",
        "notes.md:2: price: 5",
        "Files passed over, not text or not to be read: 1.",
    ]


def test_table_and_data_say_the_same(workspace: Workspace) -> None:
    """The table's cells are those of the text, the data holds them typed."""
    result = find(workspace, "price")

    table = result.artifacts[0]
    assert table.columns == ["file", "line", "text"]
    assert table.rows == [[str(cell) for cell in row] for row in rows(result)]
    assert all(f"{file}:{line}: {text}" in result.content for file, line, text in table.rows)
    assert result.data is not None
    assert (result.data["total"], result.data["files"]) == (3, 3)


@pytest.mark.parametrize(
    ("path", "hits"),
    [("app", 1), ("notes.md", 2), ("self/app", 1), (".", 3), ("node_modules", 1)],
)
def test_a_path_narrows_the_search(workspace: Workspace, path: str, hits: int) -> None:
    """A folder or one file can be searched; a folder that is passed over can be named."""
    assert len(rows(find(workspace, "price", path=path))) == hits


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("nope", ErrorCode.NOT_FOUND),
        ("out", ErrorCode.PERMISSION_DENIED),
        ("out/nope", ErrorCode.PERMISSION_DENIED),
        ("../outside", ErrorCode.PERMISSION_DENIED),
        (".git", ErrorCode.PERMISSION_DENIED),
        ("x://y", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_paths_are_guarded(workspace: Workspace, path: str, code: ErrorCode) -> None:
    """A search never begins outside, in a hidden folder or in nothing."""
    result = find(workspace, "price", path=path)

    assert result.failure is not None
    assert result.failure.code == code


def test_nothing_found_is_a_success(workspace: Workspace) -> None:
    """No hit is an answer that says what was searched."""
    result = find(workspace, "zebra")

    assert result.content.startswith("0 matching lines in 0 of 3 files searched")
    assert result.success


def test_a_cut_answer_says_how_many_there_are(workspace: Workspace, sources: Path) -> None:
    """The first hits are shown, all are counted, and the way to the rest is named."""
    (sources / "many.txt").write_text("needle\n" * 250)

    few = find(workspace, "needle", max_results=2)
    most = find(workspace, "needle", max_results=100)

    assert few.content.startswith("250 matching lines in 1 of 4 files")
    assert "2 shown." in few.content
    assert "max_results" in few.content
    assert len(rows(most)) == 100
    assert "More with a narrower path or a longer pattern." in most.content


@pytest.mark.parametrize("known", ["Aster", 'SECRET_KEY = "A', "Tulip-77", "app:Tulip"])
@pytest.mark.parametrize("regex", [False, True])
def test_hits_tell_no_secret(workspace: Workspace, known: str, regex: bool) -> None:
    """A true beginning of a secret is answered like a false one, in count and in text (H46)."""
    false = (
        known.replace("A", "B")
        .replace("Tulip", "Dahlia")
        .replace('SECRET_KEY = "B', known[:-1] + "B")
    )
    right, wrong = (find(workspace, guess, regex=regex) for guess in (known, false))

    assert right.content.replace(repr(known), "") == wrong.content.replace(repr(false), "")
    assert rows(right) == []


def test_an_expression_cannot_feel_its_way(workspace: Workspace) -> None:
    """What is shown for a secret is all that an expression can match."""
    result = find(workspace, r"SECRET_KEY = ..", regex=True)

    assert [row[2] for row in rows(result)] == ["SECRET_KEY = [masked]"]
    assert rows(find(workspace, r'SECRET_KEY = "', regex=True)) == []


@pytest.mark.parametrize("pattern", ["mask", "[", "ed]", "s"])
def test_a_mask_is_no_match(workspace: Workspace, sources: Path, pattern: str) -> None:
    """A part of a mask is not found in one, the whole of it is, and other text is beside it."""
    (sources / "x.py").write_text("PASSWORD = 'Aster-9'\nmask = [need] + PASSWORD = 'x'\n")

    assert [row[1] for row in rows(find(workspace, pattern, path="x.py"))] == [2]
    assert [row[1] for row in rows(find(workspace, "[masked]", path="x.py"))] == [1, 2]
    assert [row[1] for row in rows(find(workspace, "D = [", path="x.py"))] == [1, 2]


SOURCE = (
    "import os\n\nclass Order:\n    total = 5  # [masked] é\n"
    'SECRET_KEY = "Aster-9"\nDSN = "postgresql://app:Tulip-77@db/shop"\n'
    "def pay(token='Rose', n=1):\r\n    return n | 2 ^ 3\n"
)


@given(
    st.lists(
        st.sampled_from(
            [
                *"abtSED.*+?[]()|^$\\ =_\"'-9",
                "mask",
                "[^a]",
                "Order",
                r"\w",
                r"\.",
                "{2}",
                "x?",
                "A",
            ]
        ),
        min_size=1,
        max_size=6,
    ).map("".join),
    st.booleans(),
)
def test_looking_at_the_bytes_first_changes_nothing(pattern: str, regex: bool) -> None:
    """Files that are passed over unmasked hold no line that would match, for any pattern."""
    try:
        find = finder(pattern, regex=regex)
    except ToolError:
        return
    source = source_of(FileRead("x.py", SOURCE.encode(), len(SOURCE.encode())))
    assert source is not None

    matches = any(find.place(line) >= 0 for line in source.lines)

    file = FileRead("x.py", SOURCE.encode(), len(SOURCE))
    assert find.may_match(file) or not matches


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("def _.*mask", b"def _"),
        (r"class \w+\(Base\):", b"(Base):"),
        ("ab+cdxe*f", b"cdx"),
        ("(abc)xyz", b"xyz"),
        ("abc|d", b""),
        ("(?i)abc", b""),
        (r"\pLabc", b""),
        ("[[:alpha:]]abc", b""),
        ("[abc]defg{2}", b"def"),
        ("masked", b""),
    ],
)
def test_what_an_expression_needs(pattern: str, needed: bytes) -> None:
    """Of an expression the longest text that every match holds is looked for first."""
    assert finder(pattern, regex=True).needed == needed


def test_wide_encodings_are_searched(workspace: Workspace, sources: Path) -> None:
    """A UTF-16 file with its mark is text, whose bytes are not those of the pattern."""
    (sources / "w.txt").write_bytes("\ufeffneedle\n".encode("utf-16-le"))

    assert len(rows(find(workspace, "needle"))) == 1


def test_expressions_work_line_by_line(workspace: Workspace) -> None:
    """With `regex` the pattern is an expression; without, its signs are letters."""
    assert len(rows(find(workspace, r"^class \w+:$", regex=True))) == 1
    assert rows(find(workspace, r"^class \w+:$")) == []


@pytest.mark.parametrize("pattern", ["(", "a{2000}", r"(a)\1", "(?=a)", "[z-a]"])
def test_bad_expressions_are_refused(workspace: Workspace, pattern: str) -> None:
    """What the linear engine does not accept is `invalid_arguments`, without its words."""
    result = find(workspace, pattern, regex=True)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.INVALID_ARGUMENTS
    assert "invalid" not in result.failure.message


def test_a_hostile_expression_is_linear(workspace: Workspace, sources: Path) -> None:
    """An expression that explodes elsewhere is answered at once."""
    (sources / "x.txt").write_text("a" * 100_000 + "\n")
    started = time.process_time()

    result = find(workspace, r"(a+)+$|(a|aa)+b|(.*a){20}c", regex=True)

    assert result.success
    assert time.process_time() - started < 4


@pytest.mark.parametrize("pattern", ["", " ", "\t\n", "x" * 201])
def test_blank_and_long_patterns_are_refused(workspace: Workspace, pattern: str) -> None:
    """Blank or over-long text is `invalid_arguments`."""
    result = find(workspace, pattern)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.INVALID_ARGUMENTS


def test_a_long_line_is_shown_round_its_match(workspace: Workspace, sources: Path) -> None:
    """Of a long line the part with the match is shown, and how long it is."""
    (sources / "x.js").write_text("a" * 3000 + "needle" + "b" * 3000)

    text = str(rows(find(workspace, "needle"))[0][2])

    assert "needle" in text
    assert text.endswith("… [6,006 characters in all]")
    assert len(text) < 250


@pytest.mark.parametrize(
    ("budget", "stopped"),
    [
        (Budget(float("inf"), never, files=2), "2 files"),
        (Budget(float("inf"), never, size=10), "10 bytes"),
        (Budget(0, never), "the time limit"),
        (Budget(float("inf"), lambda: True), "the time limit"),
    ],
)
def test_a_spent_budget_is_named(sources: Path, budget: Budget, stopped: str) -> None:
    """A search that a budget stopped says which, and keeps what it found until then."""
    found = search(PathGuard(sources), ".", finder("price", regex=False), budget, keep=9)

    assert found.stopped == stopped
    assert found.files + found.passed_over < 4


def test_a_file_full_of_secrets_is_left_in_time(sources: Path) -> None:
    """Time that ends while one file is masked ends the search there, with what was masked."""
    (sources / "a.py").write_text("".join(f"password_{n} = 'needle{n}'\n" for n in range(60_000)))
    started = time.process_time()
    budget = Budget(started + 0.3, never)

    found = search(PathGuard(sources), "a.py", finder("password", regex=False), budget, keep=9)

    assert time.process_time() - started < 1.5
    assert found.stopped == "the time limit"
    assert found.total < 60_000
    assert not any("needle" in hit.text for hit in found.hits)


def test_a_stopped_search_says_so(workspace: Workspace, sources: Path) -> None:
    """The answer of a stopped search tells that its counts are not final."""
    arguments = search_code.Arguments(pattern="price")
    budget = Budget(float("inf"), never, files=1)
    found = search(PathGuard(sources), ".", finder("price", regex=False), budget, keep=9)

    assert "Stopped at 1 files" in search_code.compose(found, arguments).text


def test_large_files_are_counted_as_cut(workspace: Workspace, sources: Path) -> None:
    """A file over 2 MB is searched at its beginning, and the answer says so."""
    (sources / "x.txt").write_text("needle\n" * 400_000)

    result = find(workspace, "needle")

    assert result.content.startswith("285,714 matching lines")
    assert "Large files, searched in their first 2,000,000 bytes: 1." in result.content


def test_a_full_page_shows_fewer_than_asked(workspace: Workspace, sources: Path) -> None:
    """Hits that do not fit are counted and not shown."""
    (sources / "x.txt").write_text(("é" * 199 + "Z" + "é" * 199 + "\n") * 200)

    result = find(workspace, "Z", max_results=100)

    assert result.content.startswith("200 matching lines")
    assert 10 < len(rows(result)) < 100
    assert len(result.artifacts[0].rows) == len(rows(result))


def test_files_that_may_not_be_read_are_passed_over(workspace: Workspace, sources: Path) -> None:
    """A hard link, which may stand for a file outside, is counted and not searched."""
    (sources / "x.txt").hardlink_to(sources.parent / "outside" / "x.py")

    result = find(workspace, "Aster")

    assert rows(result) == []
    assert result.content.endswith("not to be read: 2.")


def test_names_with_line_breaks_forge_no_line(workspace: Workspace, sources: Path) -> None:
    """A file name cannot pretend to be another hit."""
    (sources / "a\nfake.py:1: x").write_text("needle\n")

    result = find(workspace, "needle")

    assert "a↵fake.py:1: x:1: needle" in result.content.split("\n")


def test_without_the_engine_expressions_are_unavailable(tmp_path: Path) -> None:
    """Where google-re2 is not installed, the refusal names the extra and text search works."""
    (tmp_path / "a.py").write_text("needle\n")
    program = (
        "import sys; sys.modules['re2'] = None\n"
        "from pathlib import Path\n"
        "from toolseam.testing import harness\n"
        "from toolseam_builtin.code import search_code\n"
        "from toolseam_builtin.workspace import Workspace\n"
        "double = harness(search_code, settings=Workspace(folder=Path(sys.argv[1])))\n"
        "refused = double.call({'pattern': 'n.', 'regex': True}).failure\n"
        "print(refused.code, 'toolseam[regex]' in refused.message)\n"
        "print(double.call({'pattern': 'needle'}).data['total'])\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["unavailable", "True", "1"]
