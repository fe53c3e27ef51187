"""`toolseam audit`: what was stored, for people and for other programs."""

import csv
import io
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.audit import echo, writer
from support.commands import documented, on_terminal, toolseam
from support.tools import ADA, plugin
from toolseam import Decision, Host, ToolResult
from toolseam.testing import ScriptedProvider

LISTED, SHOWN = documented("audit list"), documented("audit show")


EVIL = "\x1b]0;pwned\x07\x1b[2J\u202eabc"


@pytest.fixture
def site(workspace: Path, config: Path) -> Path:
    """A workspace whose calls are stored in full, and three of them."""
    config.write_text('trust = ["audit"]\n[audit]\nlevel = "full"\n')
    made = [
        echo(),
        plugin(lambda arguments: ToolResult.text(EVIL), name="hostile"),
        plugin(lambda arguments: ToolResult.error("Not today.", "conflict"), name="refuses"),
    ]
    with Host.load(workspace, tools=made) as host:
        for name, arguments in (("echo", {"text": "=1+1"}), ("hostile", {}), ("refuses", {})):
            host.session(actor=ADA).call(name, arguments)
    return workspace


def store() -> Path:
    """Return the one store there is."""
    (found,) = (Path(os.environ["XDG_STATE_HOME"]) / "toolseam").glob("*/audit.db")
    return found


def ids(site: Path) -> list[str]:
    """Return the ids of what is stored, the newest first."""
    return [each["run"] for each in toolseam("audit", "list", "--json", cwd=site).json]


def test_runs_are_listed_the_newest_first(site: Path) -> None:
    """In a pipe a line holds id, moment, status, owner, steps, tokens and notes."""
    ran = toolseam("audit", "list", cwd=site)

    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [row[0] for row in rows] == [each[:12] for each in ids(site)]
    assert [(row[2], row[4]) for row in rows] == [("session", "1")] * 3


def test_json_is_as_documented(site: Path) -> None:
    """`list`, `show` and `export` print what the page says."""
    listed = toolseam("audit", "list", "--json", cwd=site).json
    shown = toolseam("audit", "show", listed[0]["run"], "--json", cwd=site).json
    exported = toolseam("audit", "export", cwd=site).json

    LISTED.validate(listed)
    SHOWN.validate(shown)
    for each in exported:
        SHOWN.validate(each)
    assert exported[0] == shown
    assert [each["run"] for each in exported] == [each["run"] for each in listed]


def test_a_whole_run_is_told(site: Path) -> None:
    """Its tokens, its end, who decided, its last words; and what is wrong with what is stored."""
    write = writer([])
    kept = {"enable": ["write"], "audit": {"level": "full"}}
    with Host.load(site, tools=[echo(), write], settings=kept) as host:
        session = host.session(actor=ADA)
        asked = [("echo", {"text": "one\ntwo"}), ("write", {"text": "x"})]
        run = session.run(ScriptedProvider(asked), "q", max_rounds=2)
        said = [Decision.approve(run.pending[0], actor=ADA)]
        session.resume(run.id, said, ScriptedProvider(["My last words."]))
    with closing(sqlite3.connect(store())) as connection, connection:
        connection.execute("UPDATE run SET lost = 2 WHERE id = ?", (run.id,))

    shown = toolseam("audit", "show", run.id, cwd=site)
    listed = toolseam("audit", "list", "--status", "completed", cwd=site)

    for told in (
        "wait 1, call 0: approve by ada",
        "tool write\tok (done)\tada",
        "    two",
        "answer: My last words.",
        "incomplete: 2 steps could not be stored",
        "cut short by a bound",
        "max_rounds",
    ):
        assert told in shown.out
    (row,) = [line.split("\t") for line in listed.out.splitlines()]
    assert row[2:4] == ["completed: max_rounds", "ada"]
    assert row[5] == "6"
    assert row[6] == "incomplete: 2 steps could not be stored, cut short by a bound"
    assert run.id[:12] in on_terminal("audit", "list", cwd=site).out


def test_nothing_is_exported_of_a_run_that_is_not_there(site: Path) -> None:
    """Exit code 1, and standard output stays empty."""
    ran = toolseam("audit", "export", "zz", cwd=site)

    assert (ran.code, ran.out) == (1, "")


def test_a_limit_and_a_status_narrow(site: Path) -> None:
    """At most so many, and only of that status."""
    assert len(toolseam("audit", "list", "--limit", "2", "--json", cwd=site).json) == 2
    assert toolseam("audit", "list", "--status", "held", "--json", cwd=site).json == []


def test_a_run_is_found_by_the_beginning_of_its_id(site: Path) -> None:
    """One that begins so is shown; none, and several, are exit code 1 or 2."""
    wanted = ids(site)[0]

    shown = toolseam("audit", "show", wanted[:8], cwd=site)
    missing = toolseam("audit", "show", "zz", cwd=site)
    several = toolseam("audit", "show", "", cwd=site)

    assert (shown.code, shown.out.splitlines()[0].split(" ")[0]) == (0, wanted)
    assert "tool refuses" in shown.out
    assert "conflict" in shown.out
    assert "Not today." in shown.out
    assert (missing.code, several.code) == (1, 2)
    assert "no run begins with zz" in missing.err
    assert "Several runs" in several.err


def test_nothing_stored_reaches_a_terminal_as_it_is(site: Path) -> None:
    """Escape sequences of a stored answer are shown as pictures, in a pipe and on a terminal."""
    hostile = ids(site)[1]

    for ran in (
        toolseam("audit", "show", hostile, cwd=site),
        toolseam("audit", "export", "--csv", cwd=site),
        toolseam("audit", "export", cwd=site),
    ):
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out
    terminal = on_terminal("audit", "show", hostile, cwd=site)
    assert "\x1b]0;" not in terminal.out
    assert "\x1b[2J" not in terminal.out


def test_a_spreadsheet_finds_no_formula(site: Path) -> None:
    """CSV has a line for each step; cells that look like formulas get an apostrophe."""
    ran = toolseam("audit", "export", "--csv", cwd=site)

    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert [row["tool"] for row in rows] == ["refuses", "hostile", "echo"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-x", "'-x"),
        ("@x", "'@x"),
        ("\tx", "'\tx"),
        (-5, -5),
        (None, None),
        ("plain", "plain"),
        ({"=a": "b"}, '{"=a": "b"}'),
    ],
)
def test_cells_of_the_csv_export(cell: object, written: object) -> None:
    """Numbers stay numbers, text that a spreadsheet would run does not run."""
    from toolseam.cli._audit import _cell

    assert _cell(cell) == written


def test_one_run_is_exported_alone(site: Path) -> None:
    """With an id the list holds that one."""
    wanted = ids(site)[2]

    exported = toolseam("audit", "export", wanted, cwd=site).json

    assert [each["run"] for each in exported] == [wanted]
    assert exported[0]["steps"][0]["content"]["arguments"]["text"] == "=1+1"


def test_a_step_that_was_taken_away_is_told(site: Path) -> None:
    """A gap in the numbers is exit code 1, and the step is counted as missing."""
    toolseam("run", "echo", cwd=site)  # which is not there, and a row all the same
    wanted = ids(site)[0]
    with closing(sqlite3.connect(store())) as connection, connection:
        connection.execute("UPDATE run_step SET seq = 4 WHERE run_id = ?", (wanted,))
        connection.execute("UPDATE run SET kind = 'run' WHERE id = ?", (wanted,))

    shown = toolseam("audit", "show", wanted, cwd=site)

    assert shown.code == 1
    assert "3 steps of this run are missing" in shown.err


def test_a_row_that_somebody_spoilt_is_told_without_a_traceback(site: Path) -> None:
    """What is not as it was written ends the command with a sentence."""
    with closing(sqlite3.connect(store())) as connection, connection:
        connection.execute("UPDATE run_step SET facts = 'no json'")

    shown = toolseam("audit", "show", ids(site)[0], cwd=site)

    assert shown.code == 2
    assert "not as it was written" in shown.err
    assert "Traceback" not in shown.err


def test_purging_takes_what_is_old(site: Path) -> None:
    """By default nothing of today; by the word of the person everything."""
    kept = toolseam("audit", "purge", cwd=site)
    assert "0 runs and sessions older than 30 days" in kept.err
    assert len(ids(site)) == 3

    purged = toolseam("audit", "purge", "--older-than", "0", "--json", cwd=site)

    assert purged.json == {"purged": 3, "older_than_days": 0.0}
    assert ids(site) == []


@pytest.mark.parametrize(
    "words",
    [
        *(["list", "--limit", "-1"], ["list", "--limit", "0"], ["list", "--status", "done"]),
        *(["purge", "--older-than", days] for days in ("-5", "nan", "inf", "x")),
    ],
)
def test_numbers_and_words_that_mean_nothing_are_usage(site: Path, words: list[str]) -> None:
    """Exit code 2; nothing is deleted, and an empty list is no answer to a slip of the fingers."""
    ran = toolseam("audit", *words, cwd=site)

    assert (ran.code, ran.out) == (2, "")
    assert words[1] in ran.err
    assert len(ids(site)) == 3


@pytest.mark.parametrize("action", [["list"], ["show", "x"], ["export"], ["purge"]])
def test_without_a_store_there_is_nothing_to_see(workspace: Path, action: list[str]) -> None:
    """The command says what to do, and makes none."""
    ran = toolseam("audit", *action, cwd=workspace)

    assert ran.code == 2
    assert 'trust = ["audit"]' in ran.err
    assert not (Path(os.environ["XDG_STATE_HOME"]) / "toolseam").exists()


def test_a_terminal_gets_tables(site: Path) -> None:
    """With headings, in colour."""
    listed = on_terminal("audit", "list", cwd=site)
    shown = on_terminal("audit", "show", ids(site)[0], cwd=site)

    assert "BEGAN (UTC)" in listed.out
    assert "FACTS" in shown.out


def test_an_empty_list_says_so_on_a_terminal(site: Path) -> None:
    """Nothing is stored yet, or nothing of the status that was asked for."""
    held = on_terminal("audit", "list", "--status", "held", cwd=site)
    assert held.out == "Nothing that is stored here is held.\n"

    toolseam("audit", "purge", "--older-than", "0", cwd=site)

    assert "Nothing is stored here yet." in on_terminal("audit", "list", cwd=site).out
    assert toolseam("audit", "export", cwd=site).json == []


def test_a_workspace_may_make_the_level_stricter(site: Path) -> None:
    """With `none` in its file nothing of content is stored any more."""
    (site / "toolseam.toml").write_text('[audit]\nlevel = "none"\n')
    toolseam("run", "list_tables", cwd=site)

    shown = toolseam("audit", "show", ids(site)[0], "--json", cwd=site).json

    assert (shown["level"], shown["steps"][0]["content"]) == ("none", None)


def test_a_store_in_the_workspace_stops_the_start(workspace: Path, config: Path) -> None:
    """A state folder inside of it is refused, and nothing is made there."""
    config.write_text('trust = ["audit"]\n')
    inside = {"XDG_STATE_HOME": str(workspace / "state")}

    ran = toolseam("run", "list_tables", cwd=workspace, environ=inside)

    assert ran.code == 2
    assert "in the workspace" in ran.err
    assert not (workspace / "state").exists()
