import sys
import time
from pathlib import Path

import pytest

from support.configuration import SECRETS
from toolseam import Actor, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin._config import _reading
from toolseam_builtin.configuration import check_config
from toolseam_builtin.workspace import Workspace


def ask(workspace: Workspace, file: str | None = None) -> ToolResult:
    """Call the tool through the seam."""
    return harness(check_config, settings=workspace).call({"file": file})


def found(folder: Path, name: str, text: str | bytes) -> list[list[object]]:
    """Write one file and return line, kind and words of its findings."""
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    data = ask(Workspace(folder=folder), name).data
    assert data is not None
    rows: list[list[object]] = data.value["rows"]
    return [row[1:] for row in rows]


def test_all_listed_files_are_checked(workspace: Workspace, folder: Path) -> None:
    """Without a file all are checked: those that are missing or may not be read are findings."""
    (folder / "config" / "legacy.ini").write_text("[a]\nx = 1\nx = 2\n")

    result = ask(workspace)

    assert result.data is not None
    assert result.content.startswith("9 files checked, 5 findings in 4.\n")
    assert [row[:3] for row in result.data["rows"]] == [
        ["config/legacy.ini", 3, "doubled key"],
        ["compose.yaml", 3, "retyped"],
        ["compose.yaml", 3, "retyped"],
        ["out.toml", None, "not read"],
        ["gone.toml", None, "missing"],
    ]


def test_table_and_data_say_the_same(tmp_path: Path) -> None:
    """The table's cells are those of the text, the data holds them typed."""
    (tmp_path / "x.yaml").write_text("a: no\n")

    result = ask(Workspace(folder=tmp_path), "x.yaml")

    words = "`a` is read as a boolean; write it in quotes if it is meant as text"
    assert result.content.split("\n") == [
        "1 file checked, 1 finding.",
        f"x.yaml:1: retyped: {words}",
    ]
    assert result.artifacts[0].rows == [["x.yaml", "1", "retyped", words]]
    assert result.data is not None
    assert result.data["rows"] == [["x.yaml", 1, "retyped", words]]


def test_retyped_and_doubled_in_yaml(tmp_path: Path) -> None:
    """Bare scalars that YAML retypes and doubled keys are told with their lines (P28)."""
    text = "country: no\nstart: 22:30\nmode: 0755\nver: 1.10\non: push\nport: 8080\nport: 9090\n"

    rows = found(tmp_path, "b.yaml", text)

    assert [(line, kind) for line, kind, _ in rows] == [
        *((1, "retyped"), (2, "retyped"), (3, "retyped"), (4, "retyped"), (5, "retyped")),
        (7, "doubled key"),
    ]
    assert all(
        f"`{key}`" in str(row[2])
        for key, row in zip(("country", "start", "mode", "ver", "on", "port"), rows, strict=True)
    )
    assert "in lines 6 and 7" in str(rows[-1][2])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "e.json",
            '{"a": 1,\n "b": {"port": 1,\n  "port": 2},\n "c": 3}',
            "`b.port` is set twice, in lines 2 and 3",
        ),
        (
            "e.json",
            '{"a": [0, {"x": 1, "x":\n 2, "x": 3}]}',
            "`a.1.x` is set 3 times, in lines 1, 1 and 2",
        ),
        ("e.json", '{"\\u0061": 1, "a": 2}', "`a` is set twice"),
        ("e.toml", "[a]\nb = 1\nc = 2\nb = 3\n", "`a.b` is set again; the first time is in line 2"),
        ("e.toml", "[a]\n[b]\n[a]\n", "`a` is set again; the first time is in line 1"),
        ("e.toml", "a = 1\na.b = 1\n", "`a.b` is set again"),
        ("e.ini", "[a]\nx=1\n[b]\n[a]\ny=1\n", "`a` is set twice, in lines 1 and 4"),
        ("e.py", "A = 1\nA = 2\n", "`A` is set twice, in lines 1 and 2"),
        ("e.yaml", "a: {b: 1}\nc:\n  - b: 1\n    b: 2\n", "`c.0.b` is set twice, in lines 3 and 4"),
        (
            "e.yaml",
            "".join(f"k: {n}\n" for n in range(20)),
            "in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 10 more",
        ),
    ],
)
def test_doubled_keys_are_told_with_their_lines(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    """In each format a key that is set twice is named with both lines."""
    rows = found(tmp_path, name, text)

    assert [row[1] for row in rows] == ["doubled key"]
    assert said in str(rows[0][2])


@pytest.mark.parametrize(
    ("name", "text", "line", "kind"),
    [
        ("c.yaml", "a:\n\tb: 1\n", 2, "tab"),
        ("c.yaml", "a: [1, 2\nb: 3\n", 2, "syntax"),
        ("c.yaml", "a: 'x\n", 2, "syntax"),
        ("c.yaml", "a:\n  b: 1\n c: 2\n", 3, "syntax"),
        ("c.yaml", "a: b: c\n", 1, "syntax"),
        ("c.yaml", "a: *b\n", 1, "syntax"),
        ("c.yaml", "a: \x07\n", 1, "syntax"),
        ("c.yaml", "x: &x [1, *x]", 1, "aliases"),
        ("c.yaml", "[" * 500 + "]" * 500, 1, "nesting"),
        ("c.json", '{"a": 1,\n // why\n "b": 2}', 2, "syntax"),
        ("c.json", '{"a": 1,}', 1, "syntax"),
        ("c.json", '{"a": "x\ny"}', 1, "syntax"),
        ("c.json", '{"a":\n NaN}', 2, "no number"),
        ("c.json", "", 1, "syntax"),
        ("c.toml", "a = 1\nb = yes\n", 2, "syntax"),
        ("c.toml", "a = [1,\n", 1, "syntax"),
        ("c.toml", "a = " + "9" * 5000, None, "syntax"),
        ("c.toml", "a = " + "[" * 70 + "]" * 70, None, "nesting"),
        ("c.ini", "x = 1\n[a]\n", 1, "syntax"),
        ("c.ini", "[a]\n= 1\n", 2, "syntax"),
        ("c.py", "A = (1\n", 1, "syntax"),
        ("c.py", "from a import *\n", 1, "not read"),
        ("c.json", b"\xef\xbb\xbf{}", 1, "byte order mark"),
        ("c.json", b'{"a":\n"\xff"}', 2, "encoding"),
        ("c.ini", b"[a]\r\nx=1\ny=2\r\n", 2, "line ends"),
        ("c.json", "1" + " " * 2_000_000, None, "size"),
    ],
)
def test_each_fault_has_kind_and_line(
    tmp_path: Path, name: str, text: str | bytes, line: int | None, kind: str
) -> None:
    """Each kind of fault is one finding with the line where it is."""
    assert [row[:2] for row in found(tmp_path, name, text)] == [[line, kind]]


@pytest.mark.parametrize(
    "text",
    [
        "a: 'no'\nb: \"22:30\"\nc: !!str no\nd: |\n  no\ne: yes please\n",
        "a: true\nb: 12\nc: 1.5\nd: 1.0\ne: 0x1f\nf: 1e3\ng: null\nh: .inf\n",
        "# a: no\nbase: &b {x: 1}\nother: {<<: *b}\n",
        "a: |\n  all:\n  \techo hi\n",
    ],
)
def test_honest_yaml_has_no_finding(tmp_path: Path, text: str) -> None:
    """Quoted, plain and tagged scalars, merges and tabs within texts are nothing to tell."""
    assert found(tmp_path, "x.yaml", text) == []


@pytest.mark.parametrize("value", ["no", "0755", "22:30", "1.10", "2025-03-09"])
def test_of_a_secret_not_even_the_kind_is_told(tmp_path: Path, value: str) -> None:
    """A bare scalar under a sensitive name is told without what it is read as."""
    rows = found(tmp_path, "x.yaml", f"password: {value}\n")

    words = "`password` is read as something else than its text; write it in quotes"
    assert rows == [[1, "retyped", f"{words} if it is meant as text"]]


def test_keys_below_a_secret_are_not_named(tmp_path: Path) -> None:
    """What lies below a masked key is not named; a key with a secret's shape is masked."""
    key = "ghp_" + "A1b2C3d4E5f6" * 3
    below = found(tmp_path, "x.yaml", "secret: {Tulip-77: 1, Tulip-77: 2}\n")
    shaped = found(tmp_path, "y.json", f'{{"{key}": 1, "{key}": 2}}')

    assert "a key below `secret` is set twice" in str(below[0][2])
    assert "Tulip-77" not in str(below)
    assert key not in str(shaped)


@pytest.mark.parametrize("broken", ["", "\t", "[", "'", "}", "\x00", "\xff"])
def test_no_value_is_echoed(workspace: Workspace, folder: Path, broken: str) -> None:
    """However the files break, no value is in the answer (S8)."""
    for name in (
        "config/site.toml",
        "config/data.json",
        "config/legacy.ini",
        ".env",
        "compose.yaml",
    ):
        file = folder / name
        half = file.stat().st_size // 2
        text = file.read_text()
        file.write_text(text[:half] + broken + text[half:], encoding="latin-1")

    result = ask(workspace)

    everything = f"{result.content}{result.artifacts[0].rows}{result.data}"
    assert result.success
    assert [secret for secret in SECRETS if secret in everything] == []
    assert "Harbour" not in everything


def test_nothing_found_says_what_was_looked_for(tmp_path: Path) -> None:
    """A clean bill names what was checked; an empty folder says that there was nothing."""
    assert ask(Workspace(folder=tmp_path)).content == (
        "0 files checked, 0 findings.\n"
        "The workspace lists no configuration files, and none was found."
    )
    (tmp_path / "x.toml").write_text("a = 1\n")
    assert ask(Workspace(folder=tmp_path)).content.startswith(
        "1 file checked, 0 findings.\nLooked for: syntax"
    )


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("nope.toml", ErrorCode.NOT_FOUND),
        (".env.local", ErrorCode.PERMISSION_DENIED),
        ("out.toml", ErrorCode.PERMISSION_DENIED),
        ("config", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_a_file_asked_for_is_refused_by_kind(
    workspace: Workspace, file: str, code: ErrorCode
) -> None:
    """A file that was asked for and cannot be opened is a refusal, not a finding."""
    failure = ask(workspace, file).failure

    assert failure is not None
    assert failure.code == code


def test_many_findings_are_counted(tmp_path: Path) -> None:
    """More findings than fit are counted, and how to see the others is said."""
    (tmp_path / "x.yaml").write_text("".join(f"key{n}: no\n" for n in range(5000)))

    result = ask(Workspace(folder=tmp_path))

    assert result.data is not None
    shown = len(result.data["rows"])
    assert result.content.startswith(f"1 file checked, 5,000 findings, {shown} shown.")
    assert "mend the first findings" in result.content


def test_many_doubled_keys_are_counted(tmp_path: Path) -> None:
    """Of very many findings the first are kept, and all are counted."""
    text = "[a]\n" + "".join(f"k{n}=1\nk{n}=2\n" for n in range(1200))
    (tmp_path / "x.ini").write_text(text)

    content = ask(Workspace(folder=tmp_path)).content

    assert content.startswith("1 file checked, 1,200 findings, ")


def test_however_many_files_are_found_all_are_checked(tmp_path: Path) -> None:
    """No file that is found by its name is left out in silence."""
    for number in range(210):
        (tmp_path / f"{number}.json").write_text("{}")

    assert ask(Workspace(folder=tmp_path)).content.startswith("210 files checked, 0 findings.")


def test_without_the_parser_the_file_is_not_checked(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PyYAML is not installed YAML files are told as not checked, and the others are."""
    monkeypatch.setitem(sys.modules, "yaml", None)

    assert "compose.yaml: not checked: YAML needs PyYAML: install" in ask(workspace).content


def test_checking_stops_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many large files are checked as far as the time goes, and the rest is named."""
    text = "".join(f"key{n}: {{a: 1, b: [x, y]}}\n" for n in range(20_000))
    for number in range(8):
        (tmp_path / f"x{number}.yaml").write_text(text)
    monkeypatch.setattr(_reading, "SECONDS", 0.2)
    started = time.process_time()

    result = ask(Workspace(folder=tmp_path))

    assert time.process_time() - started < 2
    assert result.data is not None
    assert len(result.data["not_checked"]) + result.data["files"] == 8
    assert "ask for the rest by name" in result.content


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_ask(workspace: Workspace, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(check_config, settings=workspace, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
