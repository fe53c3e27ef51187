import json
from xml.etree import ElementTree as ET

import attrs
import pytest

from toolseam_plugins.conformance import ALL_CHECKS, CheckResult, Level, Status
from toolseam_plugins.conformance._report import (
    as_json,
    as_junit,
    broken,
    checks_json,
    closing_line,
    counts,
    exit_code,
    reasons,
    rows,
    told,
)


def result(status: Status, tool: str = "greet", slug: str = "never-raises") -> CheckResult:
    """Make what one check said."""
    return CheckResult(tool, slug, Level.MUST, "§5", status, "said", "toolseam run greet")


MIXED = [
    *(result(Status.PASSED, tool) for tool in ("greet", "greet", "wave")),
    result(Status.FAILED, "wave"),
    result(Status.EXPECTED_FAILURE, "wave"),
    result(Status.NOT_APPLICABLE),
    result(Status.NOT_SCORED),
]


def test_the_closing_line_counts_tools_and_checks() -> None:
    """It says how many of each there were, and nothing of what there was none of."""
    assert closing_line(MIXED) == (
        "2 tools, 7 checks: 3 passed, 1 failed, 1 expected failure, 1 not scored, 1 not applicable"
    )
    assert closing_line(MIXED[:1]) == "1 tool, 1 check: 1 passed"


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ([Status.PASSED], 0),
        ([Status.PASSED, Status.EXPECTED_FAILURE, Status.NOT_SCORED, Status.NOT_APPLICABLE], 0),
        ([Status.PASSED, Status.FAILED], 1),
        ([Status.PASSED, Status.UNEXPECTED_PASS], 1),
        ([Status.FAILED, Status.ERROR], 3),
        ([Status.NOT_APPLICABLE], 2),
        ([], 2),
    ],
)
def test_the_exit_code(statuses: list[Status], code: int) -> None:
    """What is scored passes, or fails, or crashed; nothing that ran is no pass."""
    assert exit_code([result(status) for status in statuses]) == code


def test_nothing_checked_is_said() -> None:
    """A run in which nothing applied does not read like a pass."""
    assert closing_line([result(Status.NOT_APPLICABLE)]) == "1 tool, 1 check: nothing was checked"
    assert closing_line([]) == "0 tools, 0 checks: nothing was checked"


def test_a_row_a_tool() -> None:
    """A row counts what passed, failed, was excused and did not apply."""
    assert rows(MIXED) == [("greet", "2", "-", "1", "1"), ("wave", "1", "1", "1", "-")]


def test_why_checks_did_not_apply_is_counted() -> None:
    """The reasons are told with how many checks each concerns, the most frequent first."""
    other = attrs.evolve(result(Status.NOT_APPLICABLE), message="it is not async")

    assert reasons([other, *MIXED, *MIXED]) == [("said", 2), ("it is not async", 1)]


def test_every_status_is_counted() -> None:
    """No status is left out of the counts."""
    assert counts(result(status) for status in Status) == dict.fromkeys(Status, 1)


def test_a_failure_tells_how_to_see_it_again_and_how_to_mend_it() -> None:
    """Slug, level, clause, message, command and advice stand together."""
    check = ALL_CHECKS[0]
    lines = told(result(Status.FAILED, slug=check.slug), ALL_CHECKS)

    assert lines == [
        f"greet:{check.slug}  MUST §5",
        "said",
        "again: toolseam run greet",
        f"mend: {check.mend}",
    ]


def test_json_holds_every_result() -> None:
    """The report of a program is the same in JSON, and can be encoded."""
    report = as_json(MIXED, "acme-tools", 7)

    assert json.loads(json.dumps(report)) == report
    assert (report["target"], report["seed"], report["contract"]) == ("acme-tools", 7, "1")
    assert report["ok"] is False
    assert report["tools"] == ["greet", "wave"]
    assert report["counts"]["passed"] == 3
    assert [each["status"] for each in report["results"]] == [each.status for each in MIXED]


def test_the_list_of_checks_says_what_each_is_for() -> None:
    """A check is listed with its level, clause, version, reason and remedy."""
    facts = checks_json(ALL_CHECKS)

    assert len({fact["slug"] for fact in facts}) == len(ALL_CHECKS)
    assert all(all(isinstance(v, str) and v for v in fact.values()) for fact in facts)


def test_junit_is_a_suite_a_tool() -> None:
    """A build server sees failures, errors and what did not run, tool by tool."""
    root = ET.fromstring(as_junit([*MIXED, result(Status.ERROR, "wave")]))  # noqa: S314 - our own

    greet, wave = root.findall("testsuite")
    assert [greet.get(key) for key in ("name", "tests", "failures", "errors", "skipped")] == [
        *("greet", "4", "0", "0", "2")
    ]
    assert [wave.get(key) for key in ("name", "tests", "failures", "errors", "skipped")] == [
        *("wave", "4", "1", "1", "1")
    ]
    failure = wave.find("testcase/failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("said", "toolseam run greet")


def test_junit_stays_xml_whatever_a_tool_says() -> None:
    """Control characters, markup and surrogates in a message cannot break the document."""
    hostile = CheckResult(
        *("greet", "never-raises", Level.MUST, "§5", Status.FAILED),
        "a \x00\x1b[2J ]]> <b> & \ud800 \ufffe \U0001f600",
    )

    root = ET.fromstring(as_junit([hostile]).encode())  # noqa: S314 - our own

    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "a \ufffd\ufffd[2J ]]> <b> & \ufffd \ufffd \U0001f600"


def test_broken_is_what_fails_a_run() -> None:
    """Failures, errors and unexpected passes fail a run, and nothing else."""
    found = broken([result(status) for status in Status])

    assert {each.status for each in found} == {
        *(Status.FAILED, Status.ERROR, Status.UNEXPECTED_PASS)
    }
