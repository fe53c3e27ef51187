"""MCP's official conformance suites against our server: `nox -s second_opinion`.

`TOOLSEAM_WRITE=1` writes the page of the docs anew.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.node import ask, package, program, python_of, served

RELEASE, FROZEN = "0.1.16", "2026-07-28"
SUITES = {
    RELEASE: ("@modelcontextprotocol/conformance", ("--suite", "all")),
    # Exactly what the revision required on the day it was released, and what it left open.
    FROZEN: ("conformance-next", ("--requirements", FROZEN)),
}
# The frozen revision is one that only the second major of the SDK speaks.
RUNS = [(RELEASE, 1), (RELEASE, 2), (FROZEN, 2)]
PASS = {
    "dns-rebinding-protection": {RELEASE, FROZEN},
    "http-header-validation": {FROZEN},
    "json-schema-2020-12": {RELEASE, FROZEN},
    "logging-set-level": {RELEASE},
    "ping": {RELEASE},
    "server-initialize": {RELEASE},
    "server-sse-multiple-streams": {RELEASE, FROZEN},
    "tools-call-error": {RELEASE, FROZEN},
    "tools-call-simple-text": {RELEASE, FROZEN},
    "tools-call-with-logging": {RELEASE},
    "tools-call-with-progress": {RELEASE, FROZEN},
    "tools-list": {RELEASE, FROZEN},
}
HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "reference" / "mcp-conformance.md"
MARK = "<!-- from here on: tests/second_opinion/mcp/test_conformance.py -->\n"
FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")

Scenarios = dict[str, dict[str, bool]]
"""By scenario and check: whether it failed, once at least."""


def expected() -> list[dict[str, Any]]:
    """Return the reasons, each with the checks that fail for it."""
    text = (HERE / "expected_failures.yml").read_text("utf-8")
    found: list[dict[str, Any]] = yaml.safe_load(text)
    return found


def reason_numbers() -> dict[str, int]:
    """Return the number of the reason for which a scenario fails."""
    return {
        scenario: number for number, each in enumerate(expected(), 1) for scenario in each["fails"]
    }


def failures() -> set[tuple[str, str]]:
    """Return every scenario and check that is expected to fail."""
    return {
        (scenario, check)
        for each in expected()
        for scenario, checks in each["fails"].items()
        for check in checks
    }


def outcome(folder: Path) -> Scenarios:
    """Return what a suite wrote down."""
    found: Scenarios = {}
    for file in sorted(folder.glob("*/checks.json")):
        name = FOLDER.fullmatch(file.parent.name)
        assert name is not None
        checks = found.setdefault(name[1], {})
        for check in json.loads(file.read_text("utf-8")):
            if check["status"] != "SKIPPED":
                failed = check["status"] == "FAILURE"
                checks[check["id"]] = failed or checks.get(check["id"], False)
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Scenarios]:
    """Return what each suite found at a server of each major."""
    found: dict[tuple[str, int], Scenarios] = {}
    for major in (1, 2):
        folder = tmp_path_factory.mktemp(f"sdk{major}")
        with served(python_of(major), folder) as address:
            for suite in [suite for suite, of in RUNS if of == major]:
                name, words = SUITES[suite]
                out = folder / suite
                command = (*program(name, "conformance"), "server", "--url", address)
                ask(*command, *words, "-o", str(out))
                found[suite, major] = outcome(out)
    return found


@pytest.mark.parametrize("run", RUNS)
def test_what_fails_is_expected(outcomes: Any, run: tuple[str, int]) -> None:
    """Just those checks fail that are written down with a reason."""
    fails = failures()

    assert len(outcomes[run]) > 30
    for scenario, checks in outcomes[run].items():
        should = {check for check in checks if (scenario, check) in fails}
        assert {check for check, failed in checks.items() if failed} == should, scenario


def test_no_expectation_is_stale(outcomes: Any) -> None:
    """What is written down as failing fails somewhere."""
    found = {
        (scenario, check)
        for scenarios in outcomes.values()
        for scenario, checks in scenarios.items()
        for check, failed in checks.items()
        if failed
    }

    assert failures() == found


def test_what_was_promised_passes(outcomes: Any) -> None:
    """Lists, texts, errors, logging, progress, schemas, streams and headers pass as a whole."""
    for (suite, major), scenarios in outcomes.items():
        for scenario in (name for name, suites in PASS.items() if suite in suites):
            checks = scenarios[scenario]
            assert checks, (scenario, suite, major)
            assert not any(checks.values()), (scenario, suite, major)


def test_both_majors_of_the_sdk_do_the_same(outcomes: Any) -> None:
    """A server on the first major of the SDK passes and fails what one on the second does."""
    assert outcomes[RELEASE, 1] == outcomes[RELEASE, 2]


def cell(checks: dict[str, bool] | None) -> str:
    """Say how a scenario went."""
    if checks is None:
        return ""
    failed = sum(checks.values())
    if not failed:
        return "passes" if checks else "nothing to check"
    return "fails" if failed == len(checks) else f"{failed} of {len(checks)} fail"


def report(release: Scenarios, frozen: Scenarios) -> str:
    """Return the part of the page that the suites wrote."""
    numbers = reason_numbers()
    names = {suite: package(name)["version"] for suite, (name, _) in SUITES.items()}
    rows = [
        f"| `{scenario}` | {cell(release.get(scenario))} | {cell(frozen.get(scenario))} "
        f"| {numbers.get(scenario, '')} |"
        for scenario in sorted({*release, *frozen})
    ]
    reasons = [f"{number}. {each['reason']}" for number, each in enumerate(expected(), 1)]
    return "\n".join(
        [
            f"| scenario | release {names[RELEASE]} | revision {FROZEN} ({names[FROZEN]}) | why |",
            "|---|---|---|---|",
            *rows,
            "",
            "Why a scenario fails:",
            "",
            *reasons,
            "",
        ]
    )


def test_the_page_is_current(outcomes: Any) -> None:
    """The report in the docs says what the suites found."""
    told, mark, _ = PAGE.read_text("utf-8").partition(MARK)
    now = told + mark + report(outcomes[RELEASE, 2], outcomes[FROZEN, 2])

    if os.environ.get("TOOLSEAM_WRITE"):
        PAGE.write_text(now, "utf-8")
    assert PAGE.read_text("utf-8") == now
