"""How a run that ended is told on the command line, and who sits at the keyboard."""

import os
import sys

import attrs
import pytest

from toolseam import Run
from toolseam.cli._person import login, person
from toolseam.cli._runs import exit_code, say_end
from toolseam.providers import ProviderFault, Usage
from toolseam.runs import RunStatus, Termination

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
        ("held", None, 4, "toolseam audit show r"),
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
