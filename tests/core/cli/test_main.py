import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from support.commands import MODULE, SCRIPT, toolseam
from support.dist_info import tools, write_dist
from support.lab import Lab, make_lab
from toolseam.cli._main import COMMANDS


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_shows_an_example(command: str, tmp_path: Path) -> None:
    """`--help` of every command holds a line that can be typed."""
    ran = toolseam(command, "--help", cwd=tmp_path, program=(SCRIPT,))

    assert ran.code == 0
    assert f"\n  toolseam {command}" in ran.out


def test_without_a_command_it_says_what_there_is(tmp_path: Path) -> None:
    """The bare program lists its commands."""
    ran = toolseam(cwd=tmp_path, program=(SCRIPT,))

    assert ran.code == 0
    assert all(f"\n    {name} " in ran.out for name in COMMANDS)


def test_the_version_is_the_distributions(tmp_path: Path) -> None:
    """`--version` prints what is installed."""
    ran = toolseam("--version", cwd=tmp_path, program=(SCRIPT,))

    assert (ran.code, ran.out) == (0, f"toolseam {version('toolseam')}\n")


@pytest.mark.parametrize("words", [["nonsense"], ["list", "--nonsense"], ["run"]])
def test_words_that_nobody_knows_are_usage(words: list[str], tmp_path: Path) -> None:
    """An unknown command or option exits with 2 and prints the usage."""
    ran = toolseam(*words, cwd=tmp_path)

    assert (ran.code, ran.out) == (2, "")
    assert "usage: toolseam" in ran.err


def test_the_words_of_the_user_are_made_harmless_too(tmp_path: Path) -> None:
    """An escape sequence in an argument is not sent back to the terminal."""
    ran = toolseam("list", "\x1b]0;x\x07", cwd=tmp_path)

    assert ran.code == 2
    assert "\x1b" not in ran.err


@pytest.mark.parametrize(
    ("program", "path", "command"),
    [
        ((SCRIPT,), "", "doctor"),
        ((SCRIPT,), ".", "doctor"),
        (MODULE, "", "doctor"),
        (MODULE, "nowhere:", "list"),
        ((SCRIPT,), "nowhere:", "list"),
    ],
)
def test_nothing_in_the_current_folder_is_imported(
    workspace: Path, program: tuple[str, ...], path: str, command: str
) -> None:
    """Modules and distributions that lie in the workspace are not taken for the real ones (H04)."""
    for name in ("yaml", "attrs", "attr", "pluggy", "orjson", "argparse", "json", "evil"):
        (workspace / f"{name}.py").write_text(f"open('imported-{name}', 'w')\n")
    write_dist(workspace, "toolseam", "99.0", tools(read_records="evil"))
    write_dist(workspace, "evil_plug", points=tools(planted="evil"))
    environ = {"PYTHONPATH": path} if path else None

    ran = toolseam(command, cwd=workspace, program=program, environ=environ)

    assert "read_records" in ran.out
    assert not [file.name for file in workspace.iterdir() if file.name.startswith("imported")]
    planted = [line for line in ran.out.splitlines() if "99.0" in line]
    assert all("untrusted_location" in line for line in planted)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_path_in_the_folder_counts_once_the_operator_names_it(
    workspace: Path, config: Path, trusted: bool
) -> None:
    """A path entry inside the workspace is used if the operator's file names it, and not else."""
    lab = make_lab(workspace / "lib")
    config.write_text(f'trust = ["acme-lab", "{lab.folder}"]\n' if trusted else 'trust = ["*"]\n')

    started: Any = {"cwd": workspace, "program": (SCRIPT,), "environ": lab.environ}
    listed = toolseam("list", **started)
    ran = toolseam("run", "talks", **started)

    (echo,) = [line.split("\t") for line in listed.out.splitlines() if line.startswith("echo\t")]
    assert echo[1] == ("found" if trusted else "untrusted")
    assert ran.code == (0 if trusted else 1)
    assert ("not_found" in ran.err) is not trusted


@pytest.mark.parametrize("command", ["list", "doctor"])
def test_a_broken_operators_file_is_the_commands_to_tell(
    workspace: Path, config: Path, command: str
) -> None:
    """It is named once, wherever the workspace's path entries went."""
    config.write_text("trust = [")

    environ = {"PYTHONPATH": str(workspace)}
    ran = toolseam(command, cwd=workspace, program=(SCRIPT,), environ=environ)

    assert str(config) in ran.out + ran.err
    assert "Traceback" not in ran.err


def test_a_stop_at_the_keyboard_is_no_traceback(workspace: Path, trusted_lab: Lab) -> None:
    """Ctrl-C while a tool runs ends the command with 130."""
    with subprocess.Popen(
        [SCRIPT, "run", "rests"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | trusted_lab.environ,
    ) as process:
        until = time.monotonic() + 30
        while not (workspace / "started").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)

    assert (process.returncode, said) == (130, (b"", b""))


@pytest.mark.parametrize("words", [["list"], ["run", "list_tables", "--json"]])
def test_a_full_disk_is_no_traceback(words: list[str], workspace: Path) -> None:
    """An answer that cannot be written is a failure of one line."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [SCRIPT, *words], cwd=workspace, stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert done.returncode == 2
    assert done.stderr == b"toolseam: the answer could not be written: no space is left there\n"


def test_a_folder_that_was_deleted_is_no_traceback(tmp_path: Path) -> None:
    """Where there is no current folder any more, the complaint is one line."""
    program = (
        "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone');"
        "from toolseam.cli import main; sys.argv = ['toolseam', 'list']; sys.exit(main())"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "folder" in done.stderr


def test_an_output_that_knows_only_ascii_gets_escapes(workspace: Path) -> None:
    """A letter that the terminal's encoding lacks does not fail the command."""
    words = ("run", "read_records", "--arg", "table=album")

    ascii_alone = {"PYTHONIOENCODING": "ascii"}
    ran = toolseam(*words, cwd=workspace, program=(SCRIPT,), environ=ascii_alone)

    assert ran.code == 0
    assert "Gr\\xf6\\xdfenwahn" in ran.out
