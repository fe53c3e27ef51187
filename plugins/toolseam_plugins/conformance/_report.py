"""What came of the checks, for people, programs and build servers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import attrs

from toolseam import CONTRACT_VERSION
from toolseam_plugins.conformance._model import Check, CheckResult, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_BROKEN: Final = (Status.ERROR, Status.FAILED, Status.UNEXPECTED_PASS)
_RAN: Final = tuple(status for status in Status if status is not Status.NOT_APPLICABLE)
_WORDS: Final = {
    Status.PASSED: ("passed", "passed"),
    Status.FAILED: ("failed", "failed"),
    Status.ERROR: ("error", "errors"),
    Status.UNEXPECTED_PASS: ("unexpected pass", "unexpected passes"),
    Status.EXPECTED_FAILURE: ("expected failure", "expected failures"),
    Status.NOT_SCORED: ("not scored", "not scored"),
    Status.NOT_APPLICABLE: ("not applicable", "not applicable"),
}
_ILLEGAL = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def counts(results: Iterable[CheckResult]) -> dict[Status, int]:
    """Return how many results there are of each status; all statuses are keys."""
    found = Counter(result.status for result in results)
    return {status: found[status] for status in _WORDS}


def tools(results: Iterable[CheckResult]) -> list[str]:
    """Name the tools, in the order in which they were checked."""
    return list(dict.fromkeys(result.tool for result in results))


def broken(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return what makes a run fail: failures, errors, and what was expected to fail."""
    return [result for result in results if result.status in _BROKEN]


def exit_code(results: Sequence[CheckResult]) -> int:
    """Return 0 where all that is scored passes, 1 for failures, 2 for none, 3 for a crash.

    Nothing checked, or nothing that applied, is no pass.
    """
    number = counts(results)
    if not any(number[status] for status in _RAN):
        return 2
    if number[Status.ERROR]:
        return 3
    return 1 if broken(results) else 0


def closing_line(results: Sequence[CheckResult], noun: str = "tool") -> str:
    """Return the last line: `3 tools, 126 checks: 120 passed, 2 failed, 4 not applicable`."""
    subjects, number = len(tools(results)), counts(results)
    said = [f"{n} {_WORDS[status][n != 1]}" for status, n in number.items() if n]
    ran = sum(number[status] for status in _RAN)
    line = f"{_counted(subjects, noun)}, {_counted(len(results), 'check')}"
    if not ran:
        return f"{line}: nothing was checked"
    return f"{line}: {', '.join(said)}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def rows(results: Sequence[CheckResult]) -> list[tuple[str, ...]]:
    """Return one row a tool: its name, how many passed, failed and did not apply, and of all."""
    found: list[tuple[str, ...]] = []
    for tool in tools(results):
        number = counts(result for result in results if result.tool == tool)
        bad = sum(number[status] for status in _BROKEN)
        rest = number[Status.EXPECTED_FAILURE] + number[Status.NOT_SCORED]
        cells = (number[Status.PASSED], bad, rest, number[Status.NOT_APPLICABLE])
        found.append((tool, *(str(cell) if cell else "-" for cell in cells)))
    return found


HEADINGS: Final = ("TOOL", "PASSED", "FAILED", "EXCUSED", "NOT APPLICABLE")
"""What stands above `rows`."""


def reasons(results: Iterable[CheckResult]) -> list[tuple[str, int]]:
    """Return why checks did not apply, and how many each time, the most frequent first."""
    why = (result.message for result in results if result.status is Status.NOT_APPLICABLE)
    return Counter(why).most_common()


def told(result: CheckResult, checks: Iterable[Check[Any]]) -> list[str]:
    """Return the lines that tell a failure: what, where in the contract, again, and how to mend."""
    lines = [f"{result.tool}:{result.slug}  {result.level} {result.clause}", result.message]
    if result.reproduce:
        lines.append(f"again: {result.reproduce}")
    mend = [check.mend for check in checks if check.slug == result.slug]
    if mend and result.status is Status.FAILED:
        lines.append(f"mend: {mend[0]}")
    return lines


def as_json(results: Sequence[CheckResult], target: str, seed: int = 0) -> dict[str, Any]:
    """Return the report as one JSON object, as `toolseam check --json` prints it."""
    return {
        "target": target,
        "seed": seed,
        "contract": CONTRACT_VERSION,
        "ok": exit_code(results) == 0,
        "tools": tools(results),
        "counts": {status.value: number for status, number in counts(results).items()},
        "results": [attrs.asdict(result) for result in results],
    }


def checks_json(checks: Iterable[Check[Any]]) -> list[dict[str, Any]]:
    """Return what the checks say of themselves, as `toolseam check --list --json` prints it."""
    return [
        {
            "slug": check.slug,
            "level": check.level.value,
            "clause": check.clause,
            "since": check.since,
            "title": check.title,
            "why": check.why,
            "mend": check.mend,
        }
        for check in checks
    ]


def as_junit(results: Sequence[CheckResult]) -> str:
    """Return the report as JUnit XML: one suite a tool, one case a check."""
    root = ET.Element("testsuites", name="toolseam")
    for tool in tools(results):
        own = [result for result in results if result.tool == tool]
        number = counts(own)
        failures = number[Status.FAILED] + number[Status.UNEXPECTED_PASS]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=_legal(tool),
            tests=str(len(own)),
            failures=str(failures),
            errors=str(number[Status.ERROR]),
            skipped=str(sum(result.status in _SKIPPED for result in own)),
        )
        for result in own:
            _case(suite, result)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


_SKIPPED: Final = (Status.NOT_APPLICABLE, Status.EXPECTED_FAILURE, Status.NOT_SCORED)


def _case(suite: ET.Element, result: CheckResult) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=_legal(f"toolseam.{result.tool}"), name=_legal(result.slug)
    )
    if result.status is Status.PASSED:
        return
    message = _legal(result.message)
    if result.status in _SKIPPED:
        ET.SubElement(case, "skipped", message=message)
        return
    kind = "error" if result.status is Status.ERROR else "failure"
    inner = ET.SubElement(case, kind, type=f"{result.level} {result.clause}", message=message)
    if result.reproduce:
        inner.text = _legal(result.reproduce)


def _legal(text: str) -> str:
    """Return a text as XML 1.0 may hold it; what it may not becomes U+FFFD."""
    return _ILLEGAL.sub("\ufffd", text)
