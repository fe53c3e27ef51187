"""`toolseam ask`: a model calls tools without the roles of whoever sits at the keyboard."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.commands import SCRIPT, Ran, documented, on_terminal, toolseam
from support.lab import Lab
from support.scripted import says, sent, write_scripted

ASK = documented("ask")
ANSWER = {"text": "Forty-two."}
ECHO = {"text": "Let me see.", "calls": [["echo", {"text": "hi"}]]}


@pytest.fixture
def scripted(lab: Lab, config: Path) -> Lab:
    """The lab's tools and a provider that follows a script, both trusted."""
    write_scripted(lab.folder)
    config.write_text('trust = ["acme-lab", "acme-script"]\nenable = ["writes"]\n')
    return lab


def ask(
    scripted: Lab, workspace: Path, *words: str, script: list[Any], provider: str = "script:m"
) -> Ran:
    """Put a question in a pipe."""
    return toolseam(
        *("ask", "What is it?", "--provider", provider, *words),
        cwd=workspace,
        environ=scripted.environ | says(workspace, *script),
    )


def test_the_answer_goes_to_standard_output_alone(workspace: Path, scripted: Lab) -> None:
    """In a pipe it is the model's last words; its steps stand beside them."""
    ran = ask(scripted, workspace, script=[ECHO, ANSWER])

    assert (ran.code, ran.out) == (0, "Forty-two.\n")
    assert '· echo {"text": "hi"' in ran.err
    assert "  ok  " in ran.err


def test_json_is_as_documented(workspace: Path, scripted: Lab) -> None:
    """`--json` prints the run, its tool steps and what was not offered as one object."""
    ran = ask(scripted, workspace, "--json", script=[ECHO, ANSWER])

    ASK.validate(ran.json)
    assert ran.code == 0
    assert len(ran.err.splitlines()) == 1
    assert (ran.json["status"], ran.json["answer"]) == ("completed", "Forty-two.")
    assert ran.json["usage"] == {"input_tokens": 6, "output_tokens": 8}
    assert [step["tool"] for step in ran.json["steps"]] == ["echo"]
    assert ran.json["provider"] == "script:m"


def test_a_model_is_no_local_administrator(workspace: Path, scripted: Lab) -> None:
    """What only admins may call is not offered, and it says which and what would change it."""
    ran = ask(scripted, workspace, "--json", script=[ANSWER])

    (request,) = sent(workspace)
    refused = {each["name"]: each for each in ran.json["not_offered"]}
    assert "read_source" not in request["tools"]
    assert "echo" in request["tools"]
    assert refused["read_source"]["reason"] == "requires_admin"
    assert "ask.roles" in refused["read_source"]["setting"]
    assert "providers.script.zone" in refused["read_records"]["setting"]


def test_a_call_that_was_not_offered_is_refused(workspace: Path, scripted: Lab) -> None:
    """A model that asks for an administrator's tool all the same is told no."""
    made_up: Any = {"calls": [["get_env", {}]]}
    ran = ask(scripted, workspace, "--json", script=[made_up, ANSWER])

    assert [step["status"] for step in ran.json["steps"]] == ["permission_denied"]


def test_the_operator_names_actor_and_roles(workspace: Path, scripted: Lab, config: Path) -> None:
    """`[ask]` gives the model's calls a name and roles, where the zone allows the rest."""
    more = '[ask]\nprovider = "script:m"\nactor = "helpdesk"\nroles = ["admin"]\n'
    config.write_text(config.read_text() + more)
    environ = scripted.environ | says(workspace, ANSWER)

    ran = toolseam("ask", "What is it?", "--zone", "local", cwd=workspace, environ=environ)

    assert (ran.code, ran.out) == (0, "Forty-two.\n")
    assert "get_env" in sent(workspace)[0]["tools"]


def test_how_many_are_not_offered_is_said_first(workspace: Path, scripted: Lab) -> None:
    """The count of all tools, each reason with tools and the setting."""
    ran = ask(scripted, workspace, script=[ANSWER])

    first, *reasons = ran.err.splitlines()
    assert first.endswith(" tools are not offered:")
    assert any(line.startswith("  requires_admin: ") for line in reasons)
    assert any(line.startswith("  no_run_store: writes: ") for line in reasons)


def test_only_the_tools_that_are_named_are_offered(workspace: Path, scripted: Lab) -> None:
    """`--tools` takes names and groups."""
    words = ("--tools", "echo, group:content", "--zone", "local")
    ask(scripted, workspace, *words, script=[ANSWER])

    (request,) = sent(workspace)
    assert {"echo", "read_records"} <= set(request["tools"])
    assert "list_tables" not in request["tools"]
    assert "talks" not in request["tools"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "q", "--provider", "script:m", "--tools", "ecco"], "did you mean 'echo'?"),
        (["ask", "q", "--provider", "script:m", "--tools", "group:contents"], "group:content'?"),
        (["ask", "q"], "--provider"),
        (["ask", " ", "--provider", "script:m"], "no question"),
        (["ask", "q", "--provider", "nobody:m"], "nobody:m"),
        (["ask", "q", "--provider", "script:m", "--max-rounds", "21"], "max-rounds"),
        (["ask", "q", "--provider", "script:m", "--zone", "mars"], "'private_hosted', 'local')"),
    ],
)
def test_words_that_do_not_go_together_are_usage(
    workspace: Path, scripted: Lab, words: list[str], said: str
) -> None:
    """Nobody is asked; it exits with 2 and says why."""
    ran = toolseam(*words, cwd=workspace, environ=scripted.environ | says(workspace, ANSWER))

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert sent(workspace) == []


def test_a_question_comes_from_standard_input(workspace: Path, scripted: Lab) -> None:
    """`-` reads it, whatever bytes it has, and `--system` goes before it."""
    ran = toolseam(
        *("ask", "-", "--provider", "script:m", "--system", "Be short."),
        cwd=workspace,
        typed=b"What is \xff?",
        environ=scripted.environ | says(workspace, ANSWER),
    )

    assert ran.out == "Forty-two.\n"
    assert sent(workspace)[0]["told"] == ["Be short.", "What is \N{REPLACEMENT CHARACTER}?"]


def test_a_question_is_measured_in_characters(workspace: Path, scripted: Lab) -> None:
    """One of many bytes is sent whole, and nothing of it is lost on the way in."""
    ran = toolseam(
        *("ask", "-", "--provider", "script:m"),
        cwd=workspace,
        typed=("é" * 600_000).encode(),
        environ=scripted.environ | says(workspace, ANSWER),
    )

    assert ran.code == 0
    assert sent(workspace)[0]["told"] == ["é" * 600_000]


@pytest.mark.parametrize(
    "long", [b"a" * 1_000_001, "\N{SAILBOAT}".encode() * 1_400_000], ids=["letters", "boats"]
)
def test_a_question_that_is_too_long_is_not_sent(
    workspace: Path, scripted: Lab, long: bytes
) -> None:
    """A million characters are the most."""
    ran = toolseam(
        *("ask", "-", "--provider", "script:m"),
        cwd=workspace,
        typed=long,
        environ=scripted.environ | says(workspace, ANSWER),
    )

    assert (ran.code, sent(workspace)) == (2, [])
    assert "1,000,000" in ran.err


def test_a_failure_of_the_provider_is_said_and_fails(workspace: Path, scripted: Lab) -> None:
    """Exit code 1, and what kind of failure it was."""
    ran = ask(scripted, workspace, script=[{"fault": "auth"}])

    assert (ran.code, ran.out) == (1, "")
    assert "does not accept the key (auth)" in ran.err


def test_a_cap_of_rounds_is_said(workspace: Path, scripted: Lab) -> None:
    """An answer that was cut short is one, and it says so."""
    ran = ask(scripted, workspace, "--max-rounds", "1", script=[ECHO, ANSWER])

    assert (ran.code, ran.out) == (0, "Forty-two.\n")
    assert "--max-rounds" in ran.err


def test_a_broken_contract_that_stops_a_run_exits_with_three(
    workspace: Path, scripted: Lab, config: Path
) -> None:
    """With `on_contract_error = "stop"` the run ends, and its exit code tells."""
    config.write_text('on_contract_error = "stop"\n' + config.read_text())

    ran = ask(scripted, workspace, script=[{"calls": [["breaks", {}]]}, ANSWER])

    assert (ran.code, ran.out) == (3, "")
    assert "broke the contract" in ran.err


def test_nothing_is_sent_past_the_mark(workspace: Path, scripted: Lab, config: Path) -> None:
    """A far provider is not offered what its zone may not get, and a near one is."""
    config.write_text(config.read_text() + '[ask]\nroles = ["admin"]\n')

    ask(scripted, workspace, "--zone", "external_global", script=[ANSWER])
    ask(scripted, workspace, "--zone", "local", script=[ANSWER])

    far, near = sent(workspace)
    assert "get_env" not in far["tools"]
    assert "get_env" in near["tools"]


def test_a_write_is_not_offered_where_nothing_keeps_runs(workspace: Path, scripted: Lab) -> None:
    """Nobody could ever approve it, so the model is told of no such tool, and it does not run."""
    wants = {"calls": [["writes", {"text": "x"}]]}
    ran = ask(scripted, workspace, "--json", script=[wants, ANSWER])

    assert "writes" not in sent(workspace)[0]["tools"]
    assert [step["status"] for step in ran.json["steps"]] == ["permission_denied"]
    reasons = {each["name"]: each["reason"] for each in ran.json["not_offered"]}
    assert reasons["writes"] == "no_run_store"
    assert not (workspace / "written.txt").exists()


def test_words_are_shown_as_they_come_on_a_terminal(workspace: Path, scripted: Lab) -> None:
    """Once: what was streamed is not printed again, and `--no-stream` waits for the whole."""
    environ = scripted.environ | says(workspace, ECHO, ANSWER)
    words = ("ask", "What is it?", "--provider", "script:streams")

    streamed = on_terminal(*words, cwd=workspace, environ=environ)
    whole = on_terminal(*words, "--no-stream", cwd=workspace, environ=environ)

    assert streamed.code == whole.code == 0
    assert streamed.out.count("Let me see.\n") == streamed.out.count("Forty-two.\n") == 1
    assert "Let me see." not in whole.out
    assert whole.out.endswith("Forty-two.\n")


def test_the_models_words_are_made_harmless(workspace: Path, scripted: Lab) -> None:
    """No escape sequence of a model reaches a terminal, streamed or whole (H35)."""
    evil = {"text": "\x1b]52;c;cm0gLXJm\x07\x9b31m\u202eabc"}
    tool = {"calls": [["ec\x1b]0;x\x07ho", {"te\x1b[2Jxt": "\x1b[31m"}]]}
    environ = scripted.environ | says(workspace, tool, evil)

    for provider in ("script:streams", "script:m"):
        ran = on_terminal("ask", "q", "--provider", provider, cwd=workspace, environ=environ)
        plain = ran.out
        for code in ("\x1b[31m", "\x1b[32m", "\x1b[0m", "\x1b[1m", "\x1b[2m"):
            plain = plain.replace(code, "", 20)

        assert "\x1b]" not in plain
        assert "\x1b[2J" not in plain
        assert not {"\x07", "\x9b", "\u202e"} & {*plain}


def test_what_a_tool_prints_does_not_spoil_the_answer(workspace: Path, scripted: Lab) -> None:
    """Prints of a tool go to standard error."""
    ran = ask(scripted, workspace, script=[{"calls": [["talks", {}]]}, ANSWER])

    assert ran.out == "Forty-two.\n"
    assert "printed" in ran.err


def test_what_a_tool_raised_is_for_the_log_alone(workspace: Path, scripted: Lab) -> None:
    """`--log` shows it, and the model is told the kind alone."""
    raised: Any = {"calls": [["raises", {}]]}
    ran = ask(scripted, workspace, "--log", script=[raised, ANSWER])

    assert "Traceback" in ran.err
    assert "secret text" not in str(sent(workspace))


def test_a_stop_at_the_keyboard_cancels_the_run(workspace: Path, scripted: Lab) -> None:
    """Ctrl-C while a tool runs ends the command with 130, without a traceback."""
    script = says(workspace, {"calls": [["rests", {}]]}, ANSWER)
    with subprocess.Popen(
        [SCRIPT, "ask", "q", "--provider", "script:m"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | scripted.environ | script,
    ) as process:
        while not (workspace / "started").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert process.returncode == 130
    assert b"Traceback" not in err
