from pathlib import Path

import pytest

from support.databases import ask, everything
from support.logbooks import one_log, rows
from toolseam import ErrorCode, ToolResult
from toolseam_builtin.system import list_deprecations
from toolseam_builtin.workspace import Workspace


def listed(workspace: Workspace, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return ask(list_deprecations, workspace, **arguments)


def warned(*texts: str) -> str:
    """Return a log with these warnings, a second apart."""
    return "".join(
        f"2025-05-06 07:00:{n:02} WARNING py.warnings: {text}\n" for n, text in enumerate(texts)
    )


def test_distinct_warnings_are_counted(tmp_path: Path) -> None:
    """Each warning is one line with its count, the most frequent first."""
    often = f"{tmp_path}/app/x.py:3: DeprecationWarning: use y()\n  y_old()"
    once = "/opt/v/lib/site-packages/dj/m.py:9: RemovedInDjango60Warning: no more"

    result = listed(one_log(tmp_path, warned(often, once, often)))

    assert result.content.split("\n") == [
        (
            "2 distinct deprecation warnings, logged 3 times, in 1 log file;"
            " 2 shown, the most frequent first."
        ),
        "- app/x.py:3: DeprecationWarning: use y() (2 times, last 2025-05-06 07:00:02)",
        (
            "- site-packages/dj/m.py:9: RemovedInDjango60Warning: no more"
            " (1 time, last 2025-05-06 07:00:01)"
        ),
    ]


def test_table_and_data_say_the_same(tmp_path: Path) -> None:
    """The table's cells are those of the text, the data holds them typed."""
    result = listed(one_log(tmp_path, warned("a.py:3: numpy.VisibleDeprecationWarning: x")))

    assert result.artifacts[0].rows == [
        ["1", "a.py:3", "numpy.VisibleDeprecationWarning", "x", "2025-05-06 07:00:00"]
    ]
    assert rows(result) == [
        [1, "a.py", 3, "numpy.VisibleDeprecationWarning", "x", "2025-05-06T07:00:00"]
    ]


@pytest.mark.parametrize(
    ("text", "file", "category"),
    [
        ("DeprecationWarning: alone", None, "DeprecationWarning"),
        ("<frozen importlib._bootstrap>:488: DeprecationWarning: swig", "<frozen", "Deprecation"),
        ("a b/c.py:1: FutureWarning: x", "b/c.py", "FutureWarning"),
        (r"C:\app\x.py:1: PendingDeprecationWarning: x", r"C:\app\x.py", "Pending"),
        ("x.py:7: PydanticDeprecatedSince20: x", "x.py", "PydanticDeprecatedSince20"),
    ],
)
def test_forms_of_warnings(tmp_path: Path, text: str, file: str | None, category: str) -> None:
    """With or without a place, of Python or of a library, a warning is recognised."""
    ((_, found, _, kind, *_),) = rows(listed(one_log(tmp_path, warned(text))))

    assert str(kind).startswith(category)
    assert (found is None) == (file is None)
    assert str(found).startswith(str(file))


@pytest.mark.parametrize("text", ["UserWarning: x", "Deprecated", "the DeprecationWarning", "x"])
def test_other_lines_are_no_warnings(tmp_path: Path, text: str) -> None:
    """Other warnings, and talk of deprecations, do not count; that is a success."""
    assert listed(one_log(tmp_path, warned(text))).content == (
        "0 distinct deprecation warnings, logged 0 times, in 1 log file; 0 shown."
    )


def test_objects_are_read_by_their_texts(tmp_path: Path) -> None:
    """In JSON lines the message tells the warning, and other fields do not make it another."""
    text = "".join(
        f'{{"level": "warning", "message": "a.py:1: FutureWarning: x", "id": {n}}}\n'
        for n in range(3)
    )

    assert rows(listed(one_log(tmp_path, text)))[0][:5] == [3, "a.py", 1, "FutureWarning", "x"]


def test_a_cut_list_says_so(tmp_path: Path) -> None:
    """The rarest are left out first, and the answer says how to see them."""
    workspace = one_log(tmp_path, warned(*(f"a.py:{n}: FutureWarning: x" for n in range(1, 51))))

    assert "More with a larger limit (at most 40) or fetch_logs" in listed(workspace).content
    assert "More with fetch_logs and its search." in listed(workspace, limit=40).content
    assert len(rows(listed(workspace, limit=40))) == 40


def test_secrets_are_masked(tmp_path: Path) -> None:
    """What a warning quotes is masked by shape and by name (H46)."""
    result = listed(
        one_log(
            tmp_path,
            warned(
                "a.py:1: DeprecationWarning: use api_key=Aster-9",
                "a.py:2: DeprecationWarning: postgresql://app:Tulip-77@db is old",
                "at https://app:Tulip-77@db/x.py:3: DeprecationWarning: x",
            ),
        )
    )

    assert len(rows(result)) == 3
    assert "Aster-9" not in everything(result)
    assert "Tulip-77" not in everything(result)


def test_what_is_masked_away_is_no_warning(tmp_path: Path) -> None:
    """Text assigned to a sensitive name tells no warning, and a line tells one at most."""
    text = warned("token=DeprecationWarning: x", "a.py:1: FutureWarning: FutureWarning: twice")

    assert [row[4] for row in rows(listed(one_log(tmp_path, text)))] == ["FutureWarning: twice"]


def test_a_page_that_is_full_shows_fewer(tmp_path: Path) -> None:
    """Warnings that do not fit are counted."""
    texts = (f"a.py:{n}: FutureWarning: {'😀' * 390}" for n in range(1, 41))

    result = listed(one_log(tmp_path, warned(*texts)), limit=40)

    assert result.content.startswith("40 distinct")
    assert 5 < len(rows(result)) < 40


def test_without_logs_it_is_unavailable(tmp_path: Path) -> None:
    """Without logs it is `unavailable`; out of range is `invalid_arguments`."""
    refused = listed(Workspace(folder=tmp_path)).failure
    wrong = listed(Workspace(folder=tmp_path), limit=41).failure

    assert refused is not None
    assert refused.code == ErrorCode.UNAVAILABLE
    assert wrong is not None
    assert wrong.code == ErrorCode.INVALID_ARGUMENTS
