"""The egress proof over every framework that is installed: what it sends, and what it keeps."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.conformance.leaks import LEAKS
from toolseam_plugins.conformance import egress
from toolseam_plugins.conformance._egress import SINKS
from toolseam_plugins.conformance._egress_frameworks import _RUNS
from toolseam_plugins.conformance._egress_traffic import make_host, planted
from toolseam_plugins.interop import _offers


def test_every_framework_is_a_way_out() -> None:
    """Each framework that is adapted is found, since each is installed here."""
    assert set(_RUNS) == {"langchain", "pydantic_ai", "openai_agents", "fastmcp", "llm"}
    assert set(_RUNS) <= set(SINKS)


@pytest.mark.parametrize("name", _RUNS)
def test_nothing_that_must_stay_leaves_by_a_framework(name: str) -> None:
    """All answers and failures of a whole run are heard, and no canary."""
    with planted(make_host) as traffic:
        said = SINKS[name](traffic)
        out = [place for place, bird in traffic.planted.items() if bird.is_in(said)]
        told = traffic.told.is_in(said)

    assert (told, out) == (True, [])
    assert isinstance(said, str)
    failures = ("conflict): It failed.", "execution_error)", "contract_error)", "approval_denied)")
    assert [each for each in failures if f"Error ({each}" not in said] == []


@pytest.mark.parametrize("name", _RUNS)
def test_an_adapter_that_leaks_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that adds any of the planted places to its text is caught at each."""
    honest = _offers.Offer.acall, _offers.Offer.call

    def leaking(session: Any, answer: Any) -> Any:
        step = session.steps[-1]
        leak = " ".join(leak(session, step) for leak in LEAKS.values())
        return _offers.Answer(f"{answer.text} {leak}", answer.code)

    async def acall(self: Any, arguments: Any, approval: Any = None) -> Any:
        return leaking(self._session, await honest[0](self, arguments, approval))

    def call(self: Any, arguments: Any, approval: Any = None) -> Any:
        return leaking(self._session, honest[1](self, arguments, approval))

    monkeypatch.setattr(_offers.Offer, "acall", acall)
    monkeypatch.setattr(_offers.Offer, "call", call)

    assert {cell.place for cell in egress(names=[name]) if cell.hit} == set(LEAKS)


@pytest.mark.parametrize("name", _RUNS)
def test_an_adapter_that_tells_nothing_is_no_pass(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls whose answers are not heard prove nothing, and fail by the framework's name."""

    async def acall(self: Any, arguments: Any, approval: Any = None) -> Any:
        return _offers.Answer("", None)

    def call(self: Any, arguments: Any, approval: Any = None) -> Any:
        return _offers.Answer("", None)

    monkeypatch.setattr(_offers.Offer, "acall", acall)
    monkeypatch.setattr(_offers.Offer, "call", call)

    with pytest.raises(AssertionError, match=name):
        egress(names=[name])


def test_what_langchain_keeps_off_the_wire_is_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A message whose artifact holds what no provider is sent is caught too: it is stored."""
    honest = _offers._answer

    def answer(text: Any, step: Any) -> Any:
        kept = honest(text, step)
        object.__setattr__(kept, "code", f"{kept.code} {step.metadata.value}")
        return kept

    monkeypatch.setattr(_offers, "_answer", answer)

    hits = {cell.place for cell in egress(names=["langchain"]) if cell.hit}

    assert hits == {"metadata", "failure_metadata"}


def test_the_table_of_the_docs_is_a_real_run() -> None:
    """Every way out there is, driven here, gives the table as it stands in the reference."""
    script = Path(__file__).parents[2] / "docs" / "egress.py"

    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )

    assert (done.returncode, done.stderr) == (0, "")
