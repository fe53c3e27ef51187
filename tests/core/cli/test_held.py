"""`toolseam held`: a person looks at runs that nobody knows the effect of, and settles them."""

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.commands import Ran, documented, on_terminal, toolseam
from support.lab import Lab
from support.scripted import says, write_scripted

TRUST = 'trust = ["acme-lab", "acme-script", "audit"]\nenable = ["writes"]\n'
TWICE: Any = {"calls": [["writes", {"text": "x"}], ["writes", {"text": "y"}]]}


@pytest.fixture
def lab_with_audit(lab: Lab, config: Path) -> Lab:
    """The lab's tools, a scripted provider, and the plugin that keeps runs."""
    write_scripted(lab.folder)
    config.write_text(f'{TRUST}[audit]\nlevel = "full"\n')
    return lab


def broken(lab: Lab, workspace: Path, folders: Path) -> str:
    """Return a run that died inside two writes, as the next start finds it."""
    environ = lab.environ | says(workspace, TWICE)
    asked = toolseam(*("ask", "Do it.", "--provider", "script:m"), cwd=workspace, environ=environ)
    found = re.search(r"^  toolseam approve (\w+)$", asked.err, re.MULTILINE)
    assert found is not None, asked.err
    environ = lab.environ | says(workspace, {"text": "Done."})
    typed = ("{digest}", "{digest}")
    on_terminal("approve", found[1], cwd=workspace, answer=typed, environ=environ)
    (store,) = (folders / "state").rglob("audit.db")
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        gone = os.urandom(8).hex()
        connection.execute(
            "UPDATE run SET status = 'running', writer = ? WHERE kind = 'run'", [gone]
        )
        connection.execute(
            "UPDATE run_step SET status = 'intended', effect = 'unknown'"
            " WHERE tool = 'writes' AND kind = 'tool'"
        )
    return found[1]


def held(lab: Lab, workspace: Path, *words: str, answer: tuple[str, ...] = ()) -> Ran:
    """Run the command on a terminal."""
    return on_terminal("held", *words, cwd=workspace, answer=answer, width=160, environ=lab.environ)


def test_what_is_held_is_listed(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path
) -> None:
    """As a table on a terminal, as lines in a pipe, and as documented JSON."""
    run = broken(lab_with_audit, workspace, own_user_folders)

    piped = toolseam("held", cwd=workspace, environ=lab_with_audit.environ)
    shown = held(lab_with_audit, workspace)
    listed = toolseam("held", "--json", cwd=workspace, environ=lab_with_audit.environ).json

    documented("held").validate(listed)
    assert piped.out.split("\t")[0] == run
    assert piped.out.split("\t")[3:] == ["interrupted", "2 of 2", "writes, writes\n"]
    assert run in shown.out
    assert [each["arguments"] for each in listed[0]["calls"]] == [{"text": "x"}, {"text": "y"}]


def test_a_person_says_what_happened_call_by_call(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path
) -> None:
    """What is left open stays open; with the last word the run has ended."""
    run = broken(lab_with_audit, workspace, own_user_folders)

    first = held(lab_with_audit, workspace, run, "--json", answer=("done", ""))
    second = held(lab_with_audit, workspace, run, answer=("not  done",))
    told = toolseam(
        "audit", "show", run, "--json", cwd=workspace, environ=lab_with_audit.environ
    ).json
    words = toolseam("audit", "show", run, cwd=workspace, environ=lab_with_audit.environ).out

    assert (first.code, second.code) == (1, 0)
    assert '"text": "x"' in first.out
    assert "The run is held on." in first.out
    assert "the run has ended" in second.out
    documented("audit show").validate(told)
    assert (told["status"], told["reason"]) == ("failed", "settled")
    assert [each["verdict"] for each in told["told"]] == ["done", "not_done"]
    assert re.search(r"round 1, call 1: not done, says \S+, 2", words)


def test_json_says_whether_the_run_is_held_on(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path
) -> None:
    """As documented, behind what was asked on the terminal."""
    run = broken(lab_with_audit, workspace, own_user_folders)

    ran = held(lab_with_audit, workspace, run, "--json", answer=("done", "what?"))

    (last,) = re.findall(r'\{\s*"run":.*\}', ran.out, re.DOTALL)
    documented("held RUN").validate(json.loads(last))


def test_a_run_with_nothing_open_ends_when_it_was_seen(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path
) -> None:
    """Its outcomes came late: the person says that he has looked."""
    run = broken(lab_with_audit, workspace, own_user_folders)
    (store,) = (own_user_folders / "state").rglob("audit.db")
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("UPDATE run SET status = 'held' WHERE id = ?", [run])
        connection.execute("UPDATE run_step SET status = 'ok', effect = 'done'")

    left = held(lab_with_audit, workspace, run, answer=("",))
    seen = held(lab_with_audit, workspace, run, answer=("seen",))

    assert (left.code, seen.code) == (1, 0)
    assert "No run is held." in held(lab_with_audit, workspace).out


def test_nobody_says_it_in_a_pipe_or_of_a_stranger(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path
) -> None:
    """It needs a terminal, and a run that is held."""
    run = broken(lab_with_audit, workspace, own_user_folders)

    piped = toolseam("held", run, cwd=workspace, environ=lab_with_audit.environ)
    strange = held(lab_with_audit, workspace, "nobody")

    assert (piped.code, strange.code) == (2, 1)
    assert "needs a terminal" in piped.err
    assert "no run nobody is held here" in strange.out


def test_the_owner_says_nothing_where_the_operator_wants_four_eyes(
    workspace: Path, lab_with_audit: Lab, own_user_folders: Path, config: Path
) -> None:
    """He is refused as he would be who approves his own call, and the run is held on."""
    run = broken(lab_with_audit, workspace, own_user_folders)
    config.write_text(f"{config.read_text()}[approval]\nfour_eyes = true\n")

    refused = held(lab_with_audit, workspace, run, answer=("done",))

    assert refused.code == 1
    assert "permission_denied: Somebody else has to approve (four_eyes)." in refused.out
    assert run in held(lab_with_audit, workspace).out
