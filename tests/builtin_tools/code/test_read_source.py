from pathlib import Path

import pytest

from toolseam import Actor, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin.code import read_source
from toolseam_builtin.workspace import Workspace


def read(workspace: Workspace, path: str, **arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return harness(read_source, settings=workspace).call({"path": path, **arguments})


def test_lines_are_numbered_and_counted(workspace: Workspace) -> None:
    """The answer names the file, the range and the total, and says how to go on."""
    result = read(workspace, "app/models.py", from_line=4, lines=2)

    assert result.content.split("\n") == [
        "app/models.py: lines 4 to 5 of 8.",
        "4 | class Order:",
        "5 |     total = 5",
        "More with from_line=6.",
    ]


def test_code_and_data_say_the_same(workspace: Workspace) -> None:
    """The code holds the lines, their first number and the language, the data the same typed."""
    result = read(workspace, "app/models.py", lines=3)

    assert [artifact.label for artifact in result.artifacts] == ["app/models.py"]
    assert result.artifacts[0].data.value == {
        "language": "python",
        "first_line": 1,
        "lines": ["import os", "", ""],
        "marked": [],
    }
    assert result.data == {
        "path": "app/models.py",
        "total_lines": 8,
        "complete": True,
        "next_line": 4,
        "columns": ["line", "text"],
        "rows": [[1, "import os"], [2, ""], [3, ""]],
    }


def test_the_last_page_promises_no_more(workspace: Workspace) -> None:
    """At the end of the file nothing points further."""
    result = read(workspace, "app/models.py", from_line=8)

    assert result.content == "app/models.py: lines 8 to 8 of 8.\n 8 |         return self.total"
    assert result.data is not None
    assert result.data["next_line"] is None


@pytest.mark.parametrize(
    ("content", "from_line", "said"),
    [("", 1, "x.py has 0 lines."), ("a\n", 7, "x.py has 1 line; from_line=7 is past the end.")],
)
def test_nothing_to_show_is_said(
    workspace: Workspace, sources: Path, content: str, from_line: int, said: str
) -> None:
    """An empty file and a range past the end are successes that say what was looked at."""
    (sources / "x.py").write_text(content)

    result = read(workspace, "x.py", from_line=from_line)

    assert result.content == said
    assert list(result.artifacts) == []


def test_secrets_are_masked_by_name_and_by_shape(workspace: Workspace) -> None:
    """Assigned secrets and credentials in URLs reach no channel (H46)."""
    result = read(workspace, "app/settings.py")

    everything = f"{result.content}{result.artifacts[0].lines}{result.data}"
    assert "Aster-9" not in everything
    assert "Tulip-77" not in everything
    assert "2 | SECRET_KEY = [masked]" in result.content
    assert "postgresql://[masked]@db/shop" in result.content


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("nope.py", ErrorCode.NOT_FOUND),
        ("app", ErrorCode.INVALID_ARGUMENTS),
        ("logo.png", ErrorCode.INVALID_ARGUMENTS),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
        (".env", ErrorCode.PERMISSION_DENIED),
        (".nope", ErrorCode.PERMISSION_DENIED),
        ("id_rsa", ErrorCode.PERMISSION_DENIED),
        ("out/x.py", ErrorCode.PERMISSION_DENIED),
        ("out/nope.py", ErrorCode.PERMISSION_DENIED),
        ("../outside/x.py", ErrorCode.PERMISSION_DENIED),
        ("/etc/passwd", ErrorCode.PERMISSION_DENIED),
    ],
)
def test_refusals_are_typed(workspace: Workspace, path: str, code: ErrorCode) -> None:
    """Outside, denied, absent and not text each have their code, and nothing of a file shows."""
    result = read(workspace, path)

    assert result.failure is not None
    assert result.failure.code == code
    assert "Aster-9" not in result.content


@pytest.mark.parametrize("bad", [{"lines": 0}, {"lines": 201}, {"from_line": 0}, {"end": 3}])
def test_numbers_out_of_range_are_refused(workspace: Workspace, bad: dict[str, int]) -> None:
    """A limit out of range is an error, never a silent clamp."""
    result = read(workspace, "notes.md", **bad)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.INVALID_ARGUMENTS


def test_long_lines_say_how_long_they_are(workspace: Workspace, sources: Path) -> None:
    """A minified line is cut with a word on its length."""
    (sources / "x.js").write_text("x" * 5000)

    assert read(workspace, "x.js").content.endswith("… [5,000 characters in all]")


def test_a_page_that_is_full_goes_on_by_number(workspace: Workspace, sources: Path) -> None:
    """Where the lines asked for do not fit, the answer stays whole and names the next line."""
    (sources / "x.txt").write_text(("é" * 400 + "\n") * 200)

    result = read(workspace, "x.txt", lines=200)

    assert result.data is not None
    shown = len(result.data["rows"])
    assert 1 < shown < 200
    assert result.content.endswith(f"More with from_line={shown + 1}.")
    assert len(result.content.encode()) < 50_000
    assert result.artifacts[0].label == "x.txt"


def test_large_files_are_read_in_part_and_say_so(workspace: Workspace, sources: Path) -> None:
    """Of a file over 2 MB only whole lines of the beginning count, and the answer says it."""
    (sources / "x.txt").write_text("0123456789abcdef\n" * 200_000)

    result = read(workspace, "x.txt", lines=1)

    assert "of 117,647." in result.content
    assert "The file has 3,400,000 bytes" in result.content


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", ["1 | a", "2 | b", "3 | c"]),
        ("é\n".encode("utf-16-le"), None),
        (b"\xff\xfe" + "é\n".encode("utf-16-le"), ["1 | é"]),
        (b"a\x0cb\n", ["1 | a␌b"]),
    ],
)
def test_encodings_and_line_ends(
    workspace: Workspace, sources: Path, data: bytes, shown: list[str] | None
) -> None:
    """Byte order marks and all line ends are understood; what is no text is refused."""
    (sources / "x.txt").write_bytes(data)

    result = read(workspace, "x.txt", lines=3)

    assert result.success is (shown is not None)
    assert shown is None or result.content.split("\n")[1:] == shown


def test_bytes_that_are_no_utf8_are_said(workspace: Workspace, sources: Path) -> None:
    """Undecodable bytes show as U+FFFD, with a line that says so."""
    (sources / "x.txt").write_bytes(b"caf\xe9\n")

    assert read(workspace, "x.txt").content.endswith(
        "1 | caf\ufffd\nWhat could not be decoded shows as \ufffd."
    )


@pytest.mark.parametrize("actor", [None, Actor("ada"), Actor("ada", {"support"})])
def test_only_admins_may_read(workspace: Workspace, actor: Actor | None) -> None:
    """Without the role admin, or without any user, the tool is refused."""
    result = harness(read_source, settings=workspace, actor=actor).call({"path": "notes.md"})

    assert result.failure is not None
    assert result.failure.code == ErrorCode.PERMISSION_DENIED
