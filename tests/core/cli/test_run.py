import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.commands import MODULE, SCRIPT, documented, on_terminal, toolseam
from support.dist_info import tools, write_dist
from support.lab import Lab

RUN = documented("run")
SHAPES = """
from toolseam import ToolArtifact, ToolResult, tool


@tool(effect="read_only", data_class="public_content")
def shapes() -> ToolResult:
    \"\"\"Show one artifact of each shape.\"\"\"
    return ToolResult.text(
        "shown",
        ToolArtifact.tree("pages", [(0, "home"), (1, "visit"), (0, "start")]),
        ToolArtifact.key_value("status", {"zone": "Etc/UTC\\nup"}),
        ToolArtifact.code("a.py", ["if x:", "\\traise"], first_line=9, marked=[10]),
    )
"""


def test_content_goes_to_standard_output_alone(workspace: Path) -> None:
    """In a pipe a success is its content, and nothing else."""
    ran = toolseam("run", "read_records", "--arg", "table=album", cwd=workspace)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("album: 2 records")
    assert "Größenwahn" in ran.out
    assert "──" not in ran.out


def test_artifacts_follow_on_request(workspace: Path) -> None:
    """`--artifacts` draws the tables below the content, as wide as they are."""
    ran = toolseam("run", "read_records", "--arg", "table=album", "--artifacts", cwd=workspace)

    assert ran.out.splitlines()[-5:] == [
        "album records",
        "id  title",
        "──  ────────────",
        "1   Kind of Blue",
        "2   Größenwahn",
    ]


def test_each_shape_is_drawn(tmp_path: Path) -> None:
    """A tree is indented, items stand in two columns, code is numbered and marked."""
    (tmp_path / "acme_shapes.py").write_text(SHAPES)
    write_dist(tmp_path, "acme_shapes", points=tools(shapes="acme_shapes:shapes"))
    environ = {"PYTHONPATH": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    (tmp_path / "empty").mkdir()
    toolseam("trust", "acme-shapes", cwd=tmp_path / "empty", environ=environ)

    ran = toolseam("run", "shapes", "--artifacts", cwd=tmp_path / "empty", environ=environ)

    assert ran.out.splitlines() == [
        "shown",
        "",
        "pages",
        "- home",
        "  - visit",
        "- start",
        "",
        "status",
        "key   value",
        "────  ──────────",
        "zone  Etc/UTC␊up",
        "",
        "a.py",
        "   9 | if x:",
        "> 10 | ␉raise",
    ]


@pytest.mark.parametrize("program", [(SCRIPT,), MODULE])
def test_a_failure_goes_to_standard_error_with_its_code(
    workspace: Path, program: Sequence[str | Path]
) -> None:
    """A failed call leaves standard output empty and exits with 1, however it was started."""
    words = ("run", "read_records", "--arg", "table=users")

    ran = toolseam(*words, cwd=workspace, program=program)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("Error (not_found): ")


def test_json_of_a_success_is_as_documented(workspace: Path) -> None:
    """`--json` prints one object with all channels and the step, as the page says."""
    ran = toolseam("run", "read_records", "--arg", "table=album", "--json", cwd=workspace)

    RUN.validate(ran.json)
    assert ran.json["success"] is True
    assert ran.json["failure"] is None
    assert ran.json["data"]["rows"] == [[1, "Kind of Blue"], [2, "Größenwahn"]]
    assert ran.json["artifacts"][0]["type"] == "table"
    assert ran.json["artifacts"][0]["data"]["columns"] == ["id", "title"]
    assert ran.json["step"]["tool"] == "read_records"
    assert ran.json["step"]["status"] == "ok"
    assert ran.json["step"]["arguments"]["table"] == "album"


def test_json_of_a_failure_is_as_documented(workspace: Path) -> None:
    """A failure keeps the object's shape and the exit code."""
    ran = toolseam("run", "no_such_tool", "--json", cwd=workspace)

    RUN.validate(ran.json)
    assert ran.code == 1
    assert ran.json["success"] is False
    assert ran.json["failure"]["code"] == "not_found"
    assert ran.json["step"]["status"] == "not_found"
    assert "toolseam list" in ran.err


def test_why_a_body_could_not_begin_is_said_to_whoever_stands_here(
    workspace: Path, config: Path
) -> None:
    """What the answer leaves out for a model's sake, a setting and a path, is a hint."""
    config.write_text('[runs_in]\nread_records = "sandbox"\n')

    ran = toolseam("run", "read_records", "--arg", "table=album", cwd=workspace)

    assert "[sandbox.read_records] grants no read" in ran.err
    assert "[sandbox" not in ran.out


def test_a_near_miss_of_a_name_is_suggested(workspace: Path) -> None:
    """A misspelt tool name gets the closest one as a hint."""
    ran = toolseam("run", "read_recrods", cwd=workspace)

    assert "did you mean 'read_records'?" in ran.err


def test_words_become_what_the_schema_declares(workspace: Path, trusted_lab: Lab) -> None:
    """`--arg` is JSON where no text is declared, else text; repeated words are a list."""
    words = ("text=5", "count=3", "loud=true", "names=ada", "names=5", 'table={"a": 1}')
    given = [part for word in words for part in ("--arg", word)]

    ran = toolseam("run", "echo", *given, "--json", cwd=workspace, environ=trusted_lab.environ)

    assert ran.json["data"] == ["5", 3, 0.5, True, ["ada", "5"], None, 0, {"a": 1}]


@pytest.mark.parametrize(
    "words", [["--arg", "novalue"], ["--arg", "text=a", "--json-args", "{}"], ["--bogus"]]
)
def test_words_that_do_not_go_together_are_usage(
    workspace: Path, trusted_lab: Lab, words: list[str]
) -> None:
    """A word that cannot be read exits with 2, says why, and nothing runs."""
    ran = toolseam("run", "echo", *words, cwd=workspace, environ=trusted_lab.environ)

    assert (ran.code, ran.out) == (2, "")
    assert "toolseam" in ran.err


def test_arguments_come_from_standard_input(workspace: Path) -> None:
    """`-` reads the JSON text that a model would send."""
    ran = toolseam("run", "read_records", "-", cwd=workspace, typed=b'{"table": "album"}')

    assert ran.code == 0
    assert "Kind of Blue" in ran.out


@pytest.mark.parametrize(
    "given", [b"[", b"\xff\xfe", b"1" * 1_000_001], ids=["cut off", "no text", "too long"]
)
def test_arguments_that_are_none_are_the_seams_to_refuse(workspace: Path, given: bytes) -> None:
    """What is no JSON object, or too long, is `invalid_arguments` and exits with 1."""
    ran = toolseam("run", "read_records", "-", "--json", cwd=workspace, typed=given)

    assert ran.code == 1
    assert ran.json["failure"]["code"] == "invalid_arguments"


def test_a_broken_contract_exits_with_three(workspace: Path, trusted_lab: Lab) -> None:
    """A tool that returns no result is told apart from one that failed."""
    ran = toolseam("run", "breaks", cwd=workspace, environ=trusted_lab.environ)

    assert (ran.code, ran.out) == (3, "")
    assert "contract_error" in ran.err


def test_what_a_tool_raised_stays_out_of_the_answer(workspace: Path, trusted_lab: Lab) -> None:
    """An exception's text is in neither stream's answer."""
    ran = toolseam("run", "raises", "--json", cwd=workspace, environ=trusted_lab.environ)

    assert ran.code == 1
    assert ran.json["failure"]["code"] == "execution_error"
    assert "secret text" not in ran.out


def test_what_a_tool_prints_does_not_spoil_the_json(workspace: Path, trusted_lab: Lab) -> None:
    """Prints of a tool go to standard error, so that a program can read the answer."""
    ran = toolseam("run", "talks", "--json", cwd=workspace, environ=trusted_lab.environ)

    assert ran.json["content"] == "answered"
    assert "printed" in ran.err
    assert "written" in ran.err


def test_partial_output_of_a_failure_is_shown(workspace: Path, trusted_lab: Lab) -> None:
    """What a failing tool managed to say follows its message."""
    words = ("run", "refuses", "--arg", "output=half done")

    ran = toolseam(*words, cwd=workspace, environ=trusted_lab.environ)

    assert ran.err == "Error (conflict): Not today.\nhalf done\n"


def test_an_async_tool_runs(workspace: Path, trusted_lab: Lab) -> None:
    """An async tool answers like any other."""
    ran = toolseam("run", "waits", cwd=workspace, environ=trusted_lab.environ)

    assert (ran.code, ran.out) == (0, "awaited\n")


def test_an_untrusted_tool_is_not_imported_and_the_hint_says_why(workspace: Path, lab: Lab) -> None:
    """A tool nobody trusts is `not_found`, and a person is told what to do."""
    (lab.folder / "acme_lab.py").write_text("open('imported', 'w')\n")

    ran = toolseam("run", "echo", cwd=workspace, environ=lab.environ)

    assert ran.code == 1
    assert "toolseam trust acme-lab" in ran.err
    assert not (workspace / "imported").exists()


def test_a_tool_that_is_off_says_what_turns_it_on(workspace: Path, trusted_lab: Lab) -> None:
    """A refusal of the gate comes with the setting that changes it."""
    ran = toolseam("run", "sleeper", cwd=workspace, environ=trusted_lab.environ)

    assert ran.code == 1
    assert "permission_denied" in ran.err
    assert 'enable = ["sleeper"]' in ran.err


def test_a_write_without_a_terminal_is_denied(workspace: Path, trusted_lab: Lab) -> None:
    """Nobody can approve in a pipe, whatever it says."""
    words = ("run", "writes", "--arg", "text=x")

    ran = toolseam(*words, cwd=workspace, environ=trusted_lab.environ, typed=b"yes\n" * 9)

    assert ran.code == 1
    assert "approval_denied" in ran.err
    assert not (workspace / "written.txt").exists()


def test_a_write_runs_when_the_digest_is_typed(workspace: Path, trusted_lab: Lab) -> None:
    """On a terminal arguments and preview are shown, and eight characters approve."""
    words = ("run", "writes", "--arg", "text=hello")

    ran = on_terminal(*words, cwd=workspace, environ=trusted_lab.environ, answer="{digest}")

    assert '"text": "hello"' in ran.out
    assert "would write hello" in ran.out
    assert (ran.code, (workspace / "written.txt").read_text()) == (0, "hello")


@pytest.mark.parametrize("answer", ["", "yes", "{digest}0"])
def test_a_write_does_not_run_for_any_other_answer(
    workspace: Path, trusted_lab: Lab, answer: str
) -> None:
    """Anything but these eight characters is no approval."""
    words = ("run", "writes", "--arg", "text=hello")

    ran = on_terminal(*words, cwd=workspace, environ=trusted_lab.environ, answer=answer)

    assert ran.code == 1
    assert "approval_denied" in ran.out
    assert "run it on a terminal" not in ran.out
    assert not (workspace / "written.txt").exists()


def test_a_write_that_would_be_refused_is_not_asked_about(
    workspace: Path, trusted_lab: Lab
) -> None:
    """Arguments that break the schema are refused before anybody is asked."""
    ran = on_terminal("run", "writes", cwd=workspace, environ=trusted_lab.environ)

    assert ran.code == 1
    assert "invalid_arguments" in ran.out
    assert "Digest" not in ran.out


def test_artifacts_stand_below_the_content_on_a_terminal(workspace: Path) -> None:
    """A person sees the tables without asking, within the terminal's width."""
    ran = on_terminal("run", "read_records", "--arg", "table=album", cwd=workspace, width=60)

    assert "Kind of Blue" in ran.out.split("album records")[1]
    assert "\x1b[1;36malbum records\x1b[0m" in ran.out


def test_no_escape_sequence_of_data_reaches_a_terminal(workspace: Path, trusted_lab: Lab) -> None:
    """Content, label, heading, cell and text of a hostile tool are shown, made harmless."""
    ran = on_terminal(
        "run", "hostile", cwd=workspace, environ=trusted_lab.environ | {"NO_COLOR": "1"}
    )

    assert ran.code == 0
    assert "cell ␛]0;pwned␇" in ran.out
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(ran.out)


def test_json_is_safe_on_a_terminal_and_loses_nothing(workspace: Path, trusted_lab: Lab) -> None:
    """`--json` escapes what a terminal would obey, so that data is the same in a pipe."""
    shown = on_terminal("run", "hostile", "--json", cwd=workspace, environ=trusted_lab.environ)
    piped = toolseam("run", "hostile", "--json", cwd=workspace, environ=trusted_lab.environ)

    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown.out + piped.out)
    assert json.loads(shown.out)["data"] == piped.json["data"]
    assert piped.json["data"]["key"] == "data \x1b]0;pwned\x07\x1b[2J\x9b31m\u202eabc\rX"


def test_a_setting_that_widens_names_file_and_key(workspace: Path) -> None:
    """A workspace file that would widen is usage: 2, with file and key."""
    (workspace / "toolseam.toml").write_text('trust = ["evil"]\n')

    ran = toolseam("run", "list_tables", cwd=workspace)

    assert (ran.code, ran.out) == (2, "")
    assert str(workspace / "toolseam.toml") in ran.err
    assert "trust" in ran.err


def test_a_reader_that_goes_away_is_no_traceback(workspace: Path, trusted_lab: Lab) -> None:
    """A closed pipe ends the command quietly, as a shell expects it."""
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [SCRIPT, "run", "large"],
        cwd=workspace,
        env=os.environ | trusted_lab.environ,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )

    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_progress_is_shown_on_a_terminal_after_a_second(workspace: Path, trusted_lab: Lab) -> None:
    """Late reports are drawn, cleaned, and taken away again; early ones and pipes see none."""
    shown = on_terminal("run", "proceeds", cwd=workspace, environ=trusted_lab.environ)
    piped = toolseam("run", "proceeds", cwd=workspace, environ=trusted_lab.environ)

    assert "\r\x1b[Kproceeds: 2 of 3 late␛[2J\r\x1b[K" in shown.out
    assert "early" not in shown.out
    assert (piped.out, piped.err) == ("done\n", "")


def test_the_log_is_shown_on_request(workspace: Path, trusted_lab: Lab) -> None:
    """An author sees the traceback with `--log`, and is told of it without."""
    logged = toolseam("run", "raises", "--log", cwd=workspace, environ=trusted_lab.environ)
    plain = toolseam("run", "raises", cwd=workspace, environ=trusted_lab.environ)

    assert "ValueError: secret text" in logged.err
    assert 'in raises\n    raise ValueError("secret text")' in logged.err
    assert "secret text" not in logged.out + plain.err
    assert "--log" in plain.err
