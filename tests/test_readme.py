"""What the README shows is true: its code runs, and its commands work on a real database."""

import re
import shlex
import sqlite3
import sys
import tomllib
from collections import Counter
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from support.commands import toolseam
from toolseam.testing import harness

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Give the fenced blocks of a language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one SQLite file, as a reader has one."""
    with closing(sqlite3.connect(tmp_path / "music.sqlite")) as connection, connection:
        connection.executescript(
            "CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT NOT NULL);"
            "INSERT INTO album (title) VALUES ('Blue Train'), ('Giant Steps');"
        )
    return tmp_path


def test_the_tool_of_the_readme_works() -> None:
    """The tool that is shown answers through the whole seam, table and all."""
    module = ModuleType("acme_greet")
    sys.modules["acme_greet"] = module
    exec(blocks("python")[0], vars(module))

    result = harness(module).call({"name": "Ada", "times": 2})

    del sys.modules["acme_greet"]
    assert result.content == "Hello, Ada!\nHello, Ada!"
    assert result.artifacts[0].rows == [["Ada", "2"]]


def test_the_program_of_the_readme_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program that is shown prints the tables of the folder that it runs in."""
    monkeypatch.chdir(folder)

    exec(blocks("python")[1], {})

    shown = capsys.readouterr().out
    assert "album: table, 2 rows" in shown
    assert "album table" in shown


def test_the_commands_of_the_readme_work(folder: Path) -> None:
    """Each command for the reader's own database succeeds as it is written."""
    own = next(block for block in blocks("sh") if "list_tables" in block)

    for command in own.splitlines():
        program, *words = shlex.split(command)
        assert program == "toolseam"
        ran = toolseam(*words, cwd=folder)
        assert (command, ran.code) == (command, 0)


def test_the_builtins_are_counted_by_group() -> None:
    """The table names each group with its page and as many tools as there are."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    groups = Counter(point.split(".")[1] for point in points["toolseam.tools"].values())
    rows = re.findall(r"\| \[[^]]+\]\(docs/reference/tools/(\w+)\.md\) \| (\d+) \|", README)

    assert {name: int(count) for name, count in rows} == groups
    assert f"{groups.total()} builtins" in README
