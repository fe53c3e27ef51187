"""How a run that ended is told on the command line, and who sits at the keyboard."""

import os
import sys

import attrs
import pytest

from support.tools import fine, plugin
from toolseam import Host, Run
from toolseam._runs import run_step
from toolseam._steps import Live
from toolseam.cli._following import Following
from toolseam.cli._person import login, person
from toolseam.cli._runs import exit_code, say_end
from toolseam.providers import Delta, ProviderFault, Usage
from toolseam.runs import RunStatus, Termination

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
FAILED = {"provider": "m", "fault": "connection"}
DONE = Run(
    id="r",
    status=RunStatus.COMPLETED,
    reason=Termination.COMPLETED,
    answer="yes",
    truncated=False,
    messages=(),
    pending=(),
    steps=(),
    usage=Usage(),
    rounds=2,
    mark="public_content",  # type: ignore[arg-type]
)


@pytest.mark.parametrize(
    ("status", "reason", "code", "said"),
    [
        ("completed", "completed", 0, ""),
        ("completed", "max_rounds", 0, "Stopped after 2 rounds"),
        ("completed", "budget_exhausted", 0, "budget_exhausted"),
        ("failed", "policy_denied", 1, "zone may not get it"),
        ("failed", "approval_denied", 1, "approval_denied"),
        ("failed", "provider_failed", 1, "(rate_limit)"),
        ("failed", "contract_error", 3, "broke the contract"),
        ("held", None, 4, "toolseam held r"),
        ("waiting_for_approval", None, 4, "toolseam approve r"),
    ],
)
def test_every_end_has_its_words_and_its_code(
    capsys: pytest.CaptureFixture[str], status: str, reason: str | None, code: int, said: str
) -> None:
    """An answer alone is silent; whatever else ended a run stands on standard error."""
    run = attrs.evolve(
        DONE,
        status=RunStatus(status),
        reason=None if reason is None else Termination(reason),
        fault=ProviderFault.RATE_LIMIT,
    )

    say_end(run)

    out, err = capsys.readouterr()
    assert (exit_code(run), out) == (code, "")
    assert said in err
    assert bool(said) == bool(err)


@pytest.mark.parametrize("fault", [*ProviderFault, None])
def test_every_fault_of_a_provider_has_words(
    capsys: pytest.CaptureFixture[str], fault: ProviderFault | None
) -> None:
    """A fault that nobody foresaw has some too."""
    run = attrs.evolve(
        DONE, status=RunStatus.FAILED, reason=Termination.PROVIDER_FAILED, fault=fault
    )

    say_end(run)

    assert capsys.readouterr().err.startswith("The provider failed: it ")


def test_a_person_acts_under_the_accounts_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not under one of the environment, and as an administrator unless the operator says else."""
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")

    assert person().name == login() != "somebody-else"
    assert person().is_admin
    assert person("helpdesk", ()).roles == frozenset()


def test_an_account_without_a_name_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as a number, or where there are no such accounts."""
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_123)
    assert login() == "uid 4000000123"

    monkeypatch.setitem(sys.modules, "pwd", None)
    assert login() == "local"


def test_older_messages_that_are_left_out_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A run with a bound of what the model can read tells what it no longer sends."""
    left_out = run_step("context", "r", 1, 2, 0.0, {"dropped_messages": 4}, {})

    Following(words=True).tell(left_out)

    assert capsys.readouterr() == ("", "· 4 older messages are not sent any more\n")


def test_live_notes_are_left_to_the_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    """What a tool says of its progress is drawn elsewhere, and once."""
    Following(words=True).tell(Live("progress", "r", "echo", 1.0))

    assert capsys.readouterr() == ("", "")


def test_long_arguments_are_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """The line of a step stays a line, on a terminal of any width."""
    with Host(tools=[plugin(lambda arguments: fine(), parameters=TEXT)]) as host:
        session = host.session()
        session.call("probe", {"text": "x\n" * 500})

    Following(words=True).tell(session.steps[0])

    _, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "characters in all]" in err
    assert len(err) < 300


@pytest.mark.parametrize("ends", ["\n", ""])
def test_words_and_steps_do_not_share_a_line(capsys: pytest.CaptureFixture[str], ends: str) -> None:
    """A step begins a line of its own; an answer that was streamed is not printed again."""
    following = Following(words=True)
    following.tell(Delta(f"ye{ends}"))
    following.tell(run_step("llm", "r", 1, 1, 0.0, {"finish": "failed", **FAILED}, {}))
    following.tell(run_step("request", "r", 2, 1, 0.0, {}, {}))
    following.tell(Delta(""))
    following.tell(Delta("yes"))
    following.finish(DONE)

    assert capsys.readouterr() == ("ye\nyes\n", "· m failed: connection\n")
