import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import SCRIPT, Ran, documented, on_terminal, toolseam


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """The demo, played once: its folder and what it printed."""
    place = tmp_path_factory.mktemp("demo")
    return place / "museum", toolseam("demo", "--dir", "museum", cwd=place)


def test_it_shows_both_channels_side_by_side(played: tuple[Path, Ran]) -> None:
    """The text for the provider stands beside the table and the data that stay."""
    _, ran = played

    assert (ran.code, ran.err) == (0, "")
    pairs = [line.split(" │ ") for line in ran.out.splitlines() if " │ " in line]
    left = "\n".join(pair[0] for pair in pairs)
    right = "\n".join(pair[1] for pair in pairs)
    assert left.startswith("TOLD TO THE PROVIDER")
    assert right.startswith("STAYS WITH THE RUN")
    assert "- pages:1" in left
    assert "artifact: pages records" in right
    assert '"columns"' in right
    assert "artifact" not in left
    assert '"columns"' not in left


def test_it_shows_refusals_a_breach_and_a_write(played: tuple[Path, Ran]) -> None:
    """The scenes hold a denied table, the gate, a broken contract, an approval and its end."""
    _, ran = played

    assert "Error (not_found): No readable table 'users'." in ran.out
    assert "Error (permission_denied): get_env" in ran.out
    assert ran.out.count("Error (contract_error): tide_table") == 2
    assert "It ran once." in ran.out
    assert "Error (approval_denied): rename_page" in ran.out
    assert "Page 7 is now called Charts of the northern seas." in ran.out
    assert "Error (conflict): " in ran.out


def test_it_shows_a_run_that_waits_for_a_person(played: tuple[Path, Ran]) -> None:
    """A question, a read, a write that waits with its preview, and the answer after it."""
    _, ran = played

    run = ran.out.partition("── 6 ")[2].partition("── 7 ")[0]
    assert "the model asks for read_records" in run
    assert "read_records: ok, effect none" in run
    assert "pages.title of page 3: Getting here -> How to find us" in run
    assert run.index("rename_page: asked for") < run.index("rename_page: approve")
    assert run.index("rename_page: approve") < run.index("rename_page: ok, effect done")
    assert run.endswith("The page Getting here is now called How to find us.\n\n")


def test_it_is_plain_text_of_a_hundred_columns(played: tuple[Path, Ran]) -> None:
    """In a pipe no line is wider than 100 columns, ends in blanks or holds an escape."""
    folder, ran = played

    lines = [line for line in ran.out.splitlines() if str(folder) not in line]
    assert max(map(len, lines)) <= 100
    assert all(line == line.rstrip() for line in lines)
    assert "\x1b" not in ran.out
    assert "\n\n\n" not in ran.out


def test_the_commands_that_it_names_work(played: tuple[Path, Ran]) -> None:
    """Every line of the last scene can be typed as it stands, in the folder it names."""
    folder, ran = played
    enter, *commands = re.findall(r"^  ((?:cd|toolseam) .*)$", ran.out, re.MULTILINE)[-9:]

    assert shlex.split(enter) == ["cd", str(folder)]
    assert len(commands) == 8
    for command in commands:
        done = toolseam(*shlex.split(command)[1:], cwd=folder, program=(SCRIPT,))
        assert (command, done.code) == (command, 0)


def test_the_workspace_holds_what_it_should(played: tuple[Path, Ran]) -> None:
    """Database, rotated and packed logs, sources, templates, configuration, an application."""
    folder, _ = played

    names = {str(file.relative_to(folder)) for file in folder.rglob("*")}
    assert {"museum.sqlite", "toolseam.toml", ".env", "app/web.py"} <= names
    assert {"logs/museum.log", "logs/museum.log.1", "logs/museum.log.2.gz"} <= names
    assert {"config/site.toml", "config/routes.yaml", "config/legacy.ini"} <= names
    assert {"templates/page.html", "media/harbour.svg"} <= names


def test_its_web_application_answers_and_fails_as_its_log_says(played: tuple[Path, Ran]) -> None:
    """The application is a real one, and the traceback in its log is what it does."""
    folder, _ = played
    program = (
        "from wsgiref.util import setup_testing_defaults as prepare\n"
        "from app.web import application\n"
        "def get(path):\n"
        "    environ = {}; prepare(environ); environ['PATH_INFO'] = path\n"
        "    return b''.join(application(environ, lambda status, headers: None))\n"
        "print(get('/').decode())\n"
        "get('/tickets/3/price')\n"
    )

    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    log = (folder / "logs/museum.log").read_text()
    logged = re.findall(r'File "(app/\w+\.py)", line (\d+), in (\w+)', log)
    raised = re.findall(r'File "[^"]*(app/\w+\.py)", line (\d+), in (\w+)', done.stderr)
    assert '"Plan your visit"' in done.stdout
    assert logged == raised[-3:]
    assert done.stderr.splitlines()[-1] in log


def test_json_is_as_documented(tmp_path: Path) -> None:
    """`--json` gives the folder and one step a call."""
    ran = toolseam("demo", "--dir", "here", "--json", cwd=tmp_path)

    documented("demo").validate(ran.json)
    assert ran.json["folder"] == str(tmp_path / "here")
    assert [step["status"] for step in ran.json["steps"]] == [
        *("ok", "not_found", "not_found", "permission_denied"),
        *("contract_error", "contract_error", "approval_denied", "ok", "conflict"),
        *("ok", "ok"),
    ]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    """It never writes beside what is there."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")

    ran = toolseam("demo", "--dir", "full", cwd=tmp_path)

    assert (ran.code, ran.out) == (2, "")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_without_a_folder_it_makes_a_fresh_one(tmp_path: Path) -> None:
    """A temporary folder of its own, and nothing in the current one."""
    own = tmp_path / "tmp"
    own.mkdir()
    here = tmp_path / "here"
    here.mkdir()

    ran = on_terminal("demo", cwd=here, environ={"TMPDIR": str(own)})

    assert ran.code == 0
    assert [folder.name[:14] for folder in own.iterdir()] == ["toolseam-demo-"]
    assert list(here.iterdir()) == []
    assert "\x1b[1;36m" in ran.out


def test_each_builtin_is_called_once(tmp_path: Path) -> None:
    """`--tools` calls all 46 with success, the writers with a preview, and leaves the folder."""
    ran = toolseam("demo", "--tools", "--dir", "museum", cwd=tmp_path)

    assert (ran.code, ran.err) == (0, "")
    calls = re.findall(r"^> (\w+) \{", ran.out, re.MULTILINE)
    assert len(set(calls)) == len(calls) == 46
    assert "Error (" not in ran.out
    assert ran.out.count("  would: ") >= 5
    assert (tmp_path / "museum" / "museum.sqlite").exists()
