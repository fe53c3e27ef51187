"""`toolseam approve`: a person decides on a terminal what a model asked for in another process."""

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.commands import SCRIPT, Ran, documented, on_terminal, toolseam
from support.lab import Lab
from support.museum import RENAME, museum
from support.openai_wire import call_chunk, chat_chunks
from support.provider_recorder import recording
from support.scripted import says, sent, write_scripted
from toolseam.cli._deciding import words_of
from toolseam.cli._words import UsageError
from toolseam.runs import PendingCall, WaitingRun

WAITING = documented("approve")
DECIDED = documented("approve RUN")
ANSWER = {"text": "Done."}
WRITE: Any = {"text": "I write.", "calls": [["writes", {"text": "x"}], ["echo", {"text": "hi"}]]}
TWICE: Any = {"calls": [["writes", {"text": "x"}], ["writes", {"text": "y"}]]}
TRUST = 'trust = ["acme-lab", "acme-script", "audit"]\nenable = ["writes"]\n'


@pytest.fixture
def audited(lab: Lab, config: Path) -> Lab:
    """The lab's tools, a scripted provider, and the plugin that keeps runs."""
    write_scripted(lab.folder)
    config.write_text(TRUST)
    return lab


def asked(
    lab: Lab,
    workspace: Path,
    *script: Any,
    words: Sequence[str] = (),
    program: Sequence[str | Path] = (),
) -> str:
    """Let a model ask for something that waits, and return the run's id."""
    ran = toolseam(
        *("ask", "Do it.", "--provider", "script:m", *words),
        cwd=workspace,
        program=program,
        environ=lab.environ | says(workspace, *script),
    )
    found = re.search(r"^  toolseam approve (\w+)$", ran.err, re.MULTILINE)
    assert (ran.code, ran.out) == (4, "")
    assert found is not None
    return found[1]


def approve(
    lab: Lab,
    workspace: Path,
    *words: str,
    answer: str | Sequence[str] = "{digest}",
    program: Sequence[str | Path] = (),
) -> Ran:
    """Decide on a terminal; the model then says that it is done."""
    return on_terminal(
        *("approve", *words),
        cwd=workspace,
        answer=answer,
        program=program,
        environ=lab.environ | says(workspace, ANSWER),
    )


def waits(lab: Lab, workspace: Path) -> list[dict[str, Any]]:
    """Return what `approve --json` lists."""
    listed: list[dict[str, Any]] = toolseam(
        "approve", "--json", cwd=workspace, environ=lab.environ
    ).json
    return listed


def written(workspace: Path) -> str | None:
    """Return what the tool wrote, or None."""
    file = workspace / "written.txt"
    return file.read_text() if file.exists() else None


def test_a_write_that_waits_is_printed_with_the_way_to_decide(
    workspace: Path, audited: Lab
) -> None:
    """Its arguments, its preview and the command stand there; nothing of the turn has run."""
    environ = audited.environ | says(workspace, WRITE)
    ran = on_terminal("ask", "Do it.", "--provider", "script:m", cwd=workspace, environ=environ)

    assert ran.code == 4
    assert '"text": "x"' in ran.out
    assert "would write x" in ran.out
    assert "Digest" not in ran.out
    assert re.search(r"\n  toolseam approve \w{32}\n", ran.out)
    assert "· echo" not in ran.out
    assert written(workspace) is None


def test_json_of_a_run_that_waits_is_as_documented(workspace: Path, audited: Lab) -> None:
    """`ask --json` gives the calls of the turn that waits."""
    ran = toolseam(
        *("ask", "Do it.", "--provider", "script:m", "--json"),
        cwd=workspace,
        environ=audited.environ | says(workspace, WRITE),
    )

    documented("ask").validate(ran.json)
    assert (ran.code, ran.json["status"], ran.json["reason"]) == (4, "waiting_for_approval", None)
    assert [each["needs_approval"] for each in ran.json["pending"]] == [True, False]


def test_what_waits_is_listed(workspace: Path, audited: Lab) -> None:
    """As a table on a terminal, as lines in a pipe, and as documented JSON."""
    run = asked(audited, workspace, WRITE)

    piped = toolseam("approve", cwd=workspace, environ=audited.environ)
    shown = on_terminal("approve", cwd=workspace, width=200, environ=audited.environ)
    listed = waits(audited, workspace)

    WAITING.validate(listed)
    assert piped.out.split("\t")[0] == run
    assert piped.out.split("\t")[3:] == ["script:m", "0 of 1", "writes\n"]
    assert run in shown.out
    assert (listed[0]["run"], listed[0]["pending"][0]["preview"]) == (run, ["would write x"])


def test_where_nothing_waits_it_says_so(workspace: Path, audited: Lab) -> None:
    """On a terminal in words, in a pipe by no line, as JSON by an empty list."""
    shown = on_terminal("approve", cwd=workspace, environ=audited.environ)

    assert (shown.code, shown.out) == (0, "Nothing waits for a person.\n")
    assert waits(audited, workspace) == []


def test_the_whole_turn_is_told_before_the_calls(workspace: Path, audited: Lab) -> None:
    """What needs nobody stands there with its arguments, what will be refused with its code."""
    refused: Any = {"calls": [*WRITE["calls"], ["get_env", {}]]}
    run = asked(audited, workspace, refused)

    ran = approve(audited, workspace, run)

    assert '1  echo {"text": "hi"' in ran.out
    assert "2  get_env: will be refused: permission_denied" in ran.out
    assert "1 of 3 calls of this turn need a person" in ran.out


def test_an_approved_call_runs_and_the_run_goes_on(workspace: Path, audited: Lab) -> None:
    """In another process, with the provider that it had; the model is told what came of it."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run)

    assert ran.code == 0
    assert "would write x" in ran.out
    assert ran.out.endswith("Done.\n")
    assert (written(workspace), waits(audited, workspace)) == ("x", [])
    assert sent(workspace)[1]["told"][-2] == "Written."


def test_another_interpreter_approves(
    workspace: Path, audited: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one start of the interpreter asked for is the same to the next, which hashes apart."""
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    run = asked(audited, workspace, WRITE, program=(SCRIPT,))
    monkeypatch.setenv("PYTHONHASHSEED", "2")

    ran = approve(audited, workspace, run, program=(SCRIPT,))

    assert ran.code == 0, ran.out
    assert ran.out.endswith("Done.\n")
    assert (written(workspace), waits(audited, workspace)) == ("x", [])


def test_the_run_goes_on_at_the_same_address(workspace: Path, audited: Lab) -> None:
    """What was asked of a server of one's own never goes to the maker's address instead."""
    run = asked(audited, workspace, WRITE, words=["--base-url", "http://127.0.0.1:9/v1"])

    approve(audited, workspace, run)

    assert [each["base"] for each in sent(workspace)] == ["http://127.0.0.1:9/v1"] * 2


@pytest.mark.parametrize("typed", ["", "{digest}0"])
def test_nothing_else_than_the_digest_approves(workspace: Path, audited: Lab, typed: str) -> None:
    """Exit code 1, nothing is decided, and the run waits on."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, answer=typed)

    assert ran.code == 1
    assert "Nothing was decided" in ran.out
    assert written(workspace) is None
    assert waits(audited, workspace)[0]["pending"][0]["decided"] is False


def test_each_call_is_approved_by_itself(workspace: Path, audited: Lab) -> None:
    """Of two calls the second is not approved: neither runs, and both wait on."""
    run = asked(audited, workspace, TWICE)

    ran = approve(audited, workspace, run, answer=["{digest}", "no"])
    assert (ran.code, written(workspace), len(waits(audited, workspace))) == (1, None, 1)

    ran = approve(audited, workspace, run, answer=["{digest}", "{digest}"])
    assert (ran.code, written(workspace)) == (0, "y")


def test_a_denied_call_does_not_run_and_the_model_is_told(workspace: Path, audited: Lab) -> None:
    """`--deny` asks for no digest of that call; the reason goes to the model."""
    run = asked(audited, workspace, TWICE)

    ran = approve(audited, workspace, run, "--deny", "1: not on a Friday")

    assert (ran.code, written(workspace)) == (0, "x")
    assert "not on a Friday" in sent(workspace)[1]["told"][-1]


def test_an_edited_call_is_shown_again_and_runs_as_it_was_approved(
    workspace: Path, audited: Lab
) -> None:
    """`--edit` previews the new arguments; their digest is what is typed."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, "--edit", '0={"text": "better"}')

    assert (ran.code, written(workspace)) == (0, "better")
    assert "would write better" in ran.out
    assert "would write x" not in ran.out
    assert "A person changed the arguments" in sent(workspace)[1]["told"][-2]


def test_edited_arguments_pass_the_same_checks(workspace: Path, audited: Lab) -> None:
    """What the schema does not admit is refused before anybody approves it."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, "--edit", '0={"words": "better"}')

    assert ran.code == 1
    assert "invalid_arguments" in ran.out
    assert written(workspace) is None


def test_without_a_terminal_nothing_is_decided(workspace: Path, audited: Lab) -> None:
    """A pipe cannot approve, whatever it says; there is no option that says yes."""
    run = asked(audited, workspace, WRITE)
    pending = waits(audited, workspace)

    typed = json.dumps(pending).encode()
    ran = toolseam("approve", run, cwd=workspace, typed=typed, environ=audited.environ)
    bulk = toolseam("approve", run, "--yes", cwd=workspace, environ=audited.environ)

    assert (ran.code, bulk.code) == (2, 2)
    assert "terminal" in ran.err
    assert written(workspace) is None


CALLS = (
    PendingCall(0, None, "writes", {}, needs_approval=True),
    PendingCall(1, None, "echo", {}, needs_approval=False),
    PendingCall(2, None, "writes", {}, needs_approval=True),
)
TURN = WaitingRun("r", None, datetime(2026, 1, 1, tzinfo=UTC), ("m",), CALLS, frozenset({2}))


@pytest.mark.parametrize(
    ("deny", "edit"),
    [
        (["0"], []),
        (["x:why"], []),
        (["-1:why"], []),
        (["\u0663:why"], []),
        (["0:a", "0:b"], []),
        ([], ["0"]),
        ([], ["0=[]"]),
        ([], ["0={"]),
        ([], ["0={}", "0={}"]),
        ([], ["0=" + "[" * 100_000]),
        (["0:a"], ["0={}"]),
        (["1:it only reads"], []),
        (["2:it was decided"], []),
        (["7:there is none"], []),
    ],
)
def test_words_that_fit_no_call_are_usage(deny: list[str], edit: list[str]) -> None:
    """Each word names one call that waits, once, and denies or edits it."""
    with pytest.raises(UsageError):
        words_of(deny, edit).refuse_strange(TURN)


def test_words_that_fit_are_read() -> None:
    """A reason may hold colons, and arguments any JSON object."""
    words = words_of(["0: no: never"], ['2={"a": [1]}'])

    assert (words.denials, words.edits) == ({0: "no: never"}, {2: {"a": [1]}})


def test_wrong_words_are_said_before_anything_is_asked(workspace: Path, audited: Lab) -> None:
    """Exit code 2, and no digest is shown."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, "--deny", "1:it only reads")

    assert (ran.code, "Digest" in ran.out) == (2, False)


def test_words_about_a_call_need_a_run(workspace: Path, audited: Lab) -> None:
    """`--deny` without a run is usage, also where nothing waits."""
    ran = toolseam("approve", "--deny", "0:x", cwd=workspace, environ=audited.environ)

    assert (ran.code, ran.out) == (2, "")


def test_a_run_that_is_not_there_is_said(workspace: Path, audited: Lab) -> None:
    """Exit code 1 and `not_found`; a run that has gone on is one of those."""
    run = asked(audited, workspace, WRITE)
    approve(audited, workspace, run)

    for name in (run, "nonsense\x1b[2J"):
        ran = approve(audited, workspace, name)
        assert (ran.code, "\x1b[2J" in ran.out) == (1, False)
        assert "not_found" in ran.out


def test_json_of_what_came_of_it_is_as_documented(workspace: Path, audited: Lab) -> None:
    """With `--json` the run follows as one object, on a terminal too."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, "--json")

    text = ran.out[ran.out.index("\n{\n") :]
    DECIDED.validate(json.loads(text))
    assert json.loads(text)["status"] == "completed"


def test_a_second_write_waits_again(workspace: Path, audited: Lab) -> None:
    """Exit code 4: the run went on and came to another call that needs a person."""
    run = asked(audited, workspace, WRITE)
    environ = audited.environ | says(workspace, TWICE)

    ran = on_terminal("approve", run, cwd=workspace, answer="{digest}", environ=environ)

    assert (ran.code, written(workspace)) == (4, "x")
    assert f"toolseam approve {run}" in ran.out


def test_four_eyes_want_somebody_else(workspace: Path, audited: Lab, config: Path) -> None:
    """With the setting nobody approves a call of his own run, and it waits on."""
    config.write_text(TRUST + "[approval]\nfour_eyes = true\n")
    run = asked(audited, workspace, WRITE)

    refused = approve(audited, workspace, run)
    config.write_text(config.read_text() + '[ask]\nactor = "helpdesk"\n')
    other = asked(audited, workspace, WRITE)
    allowed = approve(audited, workspace, other)

    assert (refused.code, "permission_denied" in refused.out) == (1, True)
    assert (allowed.code, written(workspace)) == (0, "x")


def test_a_provider_of_another_program_goes_on_there(workspace: Path, audited: Lab) -> None:
    """The decision is kept, and nothing of the conversation is sent from here."""
    words = ("--provider", "script:foreign")
    run = asked(audited, workspace, WRITE, words=words)

    decided = approve(audited, workspace, run)
    (listed,) = waits(audited, workspace)
    named = approve(audited, workspace, run, "--provider", "script:m")

    assert decided.code == 4
    assert [each["decided"] for each in listed["pending"]] == [True, False]
    assert len(sent(workspace)) == 2
    assert (named.code, written(workspace)) == (0, "x")
    assert "has been decided" in named.out


def test_a_provider_that_is_not_set_up_is_said_before_anybody_decides(
    workspace: Path, audited: Lab
) -> None:
    """Exit code 2, and no digest is asked for."""
    run = asked(audited, workspace, WRITE)

    ran = approve(audited, workspace, run, "--provider", "nobody:m")

    assert ran.code == 2
    assert "Digest" not in ran.out


def test_a_provider_below_the_mark_is_not_asked(
    workspace: Path, audited: Lab, config: Path
) -> None:
    """Going on with a farther provider than the run has read for ends it, and sends nothing."""
    config.write_text(
        TRUST + '[ask]\nroles = ["admin"]\n[providers.near]\nkind = "script"\nzone = "local"\n'
    )
    read: Any = {"calls": [["get_env", {}]]}
    run = asked(audited, workspace, read, WRITE, words=["--provider", "near:m"])
    before = len(sent(workspace))

    ran = approve(audited, workspace, run, "--provider", "script:far")

    assert ran.code == 1
    assert "Nothing more was sent" in ran.out
    assert len(sent(workspace)) == before


def test_what_a_model_wrote_is_made_harmless_before_a_person_reads_it(
    workspace: Path, audited: Lab
) -> None:
    """Arguments with escape sequences cannot draw over what is approved."""
    evil: Any = {"calls": [["writes", {"text": "\x1b[1A\x1b[2Kgood\x9b2J\u202ex"}]]}
    run = asked(audited, workspace, evil)

    ran = approve(audited, workspace, run, answer="no")

    assert [code for code in ("\x1b[1A", "\x1b[2K", "\x9b", "\u202e") if code in ran.out] == []
    assert "good" in ran.out


def test_a_call_whose_world_has_changed_is_shown_as_it_is_now(
    workspace: Path, audited: Lab, config: Path
) -> None:
    """The preview is made again; what is typed approves that, and it says that it changed."""
    (audited.folder / "acme_writer.py").write_text(
        (audited.folder / "acme_writer.py")
        .read_text()
        .replace("would write", "{Path('world').read_text()}: would write")
    )
    (workspace / "world").write_text("before")
    run = asked(audited, workspace, WRITE)
    (workspace / "world").write_text("after")

    ran = approve(audited, workspace, run)

    assert "after: would write x" in ran.out
    assert "whose preview has changed" in ran.out
    assert (ran.code, written(workspace)) == (0, "x")


def test_nothing_of_a_decided_run_is_left_to_be_resumed(
    workspace: Path, audited: Lab, own_user_folders: Path
) -> None:
    """When the run has ended, the store holds no state of it."""
    run = asked(audited, workspace, WRITE)
    approve(audited, workspace, run)

    (store,) = (own_user_folders / "state").rglob("audit.db")
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT status, state FROM run WHERE id = ?", [run]).fetchall()
    assert rows == [("completed", None)]


def test_a_whole_ask_by_openais_sdk_with_an_approval_in_the_middle(tmp_path: Path) -> None:
    """Read, write, wait, approve in another process, answer; each text goes out once."""
    streams = (
        chat_chunks(call_chunk("read_records", '{"table": "pages"}'), finish="tool_calls"),
        chat_chunks(call_chunk("update_record_metadata", RENAME), finish="tool_calls"),
        chat_chunks({"content": "It is "}, {"content": "Tides now."}),
    )
    with recording(*streams) as recorder:
        site = museum(tmp_path, recorder)
        asked = on_terminal(
            *("ask", "Rename page 7.", "--provider", "openai:gpt-5-mini"),
            cwd=site.folder,
            environ=site.environ,
        )
        (run,) = re.findall(r"toolseam approve (\w+)", asked.out)
        decided = on_terminal(
            "approve", run, cwd=site.folder, answer="{digest}", environ=site.environ
        )

    assert (asked.code, decided.code) == (4, 0)
    assert "· read_records" in asked.out
    assert "Tides" in asked.out
    assert decided.out.endswith("It is Tides now.\n")
    assert site.title == "Tides"
    roles = [[each["role"] for each in heard.body["messages"]] for heard in recorder.heard]
    turn = ["assistant", "tool"]
    assert roles == [["user"], ["user", *turn], ["user", *turn, *turn]]
    assert b"artifact" not in recorder.raw
