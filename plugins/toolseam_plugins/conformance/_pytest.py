"""The checks as parameters of one pytest test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from toolseam.testing import TargetError
from toolseam_plugins.conformance._checks import TOOL_CHECKS
from toolseam_plugins.conformance._model import Check, Status
from toolseam_plugins.conformance._run import near, run_check, subjects
from toolseam_plugins.conformance._subject import Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam import Host
    from toolseam_plugins.conformance._run import Examples

Test = Callable[..., None]


@attrs.frozen(eq=False)
class BoundCheck:
    """One check of one tool; calling it passes, or ends the test as pytest does."""

    check: Check[Subject]
    subject: Subject
    expected: str | None = None

    def __call__(self) -> None:
        """Run the check; raises what makes a test fail, be left out or fail as expected."""
        import pytest

        subject = self.subject
        result = run_check(self.check, subject, subject.name, builtin=subject.builtin)
        told = f"{result.slug} ({result.level}, contract {result.clause}): {result.message}"
        if result.reproduce:
            told += f"\nagain with: {result.reproduce}"
        if result.status is Status.FAILED and self.expected is not None:
            pytest.xfail(self.expected)
        if result.status in (Status.FAILED, Status.ERROR):
            pytest.fail(f"{told}\nto mend it: {self.check.mend}", pytrace=False)
        if self.expected is not None:
            told = f"{self.check.slug} was expected to fail ({self.expected}), and did not"
            pytest.fail(told, pytrace=False)
        if result.status in (Status.NOT_APPLICABLE, Status.NOT_SCORED):
            pytest.skip(f"{result.status}: {result.message}")


def parametrize_with_checks(
    target: object,
    *,
    examples: Examples | None = None,
    host: Host | Callable[[], Host] | None = None,
    settings: object = None,
    observe: Callable[[], object] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Callable[[Test], Test]:
    """Give a test one parameter `check` for each check of each tool of a target.

    Raises `TargetError` where the target means no tool, or an expected failure names no check
    of any of them, or gives no reason.
    """
    import pytest

    found = subjects(
        target, examples=examples, host=host, settings=settings, observe=observe, seed=seed
    )
    reasons = _reasons(expected_failures or {}, [subject.name for subject in found])
    given: list[Any] = [
        pytest.param(
            BoundCheck(check, subject, reasons.get((subject.name, check.slug))),
            id=f"{subject.name}:{check.slug}",
        )
        for subject in found
        for check in TOOL_CHECKS
    ]
    decorate: Callable[[Test], Test] = pytest.mark.parametrize("check", given)
    return decorate


def _reasons(expected: Mapping[str, str], tools: Sequence[str]) -> dict[tuple[str, str], str]:
    slugs = [check.slug for check in TOOL_CHECKS]
    reasons: dict[tuple[str, str], str] = {}
    for key, reason in expected.items():
        tool, _, slug = key.rpartition(":")
        if slug not in slugs:
            raise TargetError(f"expected_failures: {slug!r} is no check{near(slug, slugs)}")
        if tool and tool not in tools:
            raise TargetError(f"expected_failures: {tool!r} is no tool of the target")
        if not reason.strip():
            raise TargetError(f"expected_failures: no reason for {key!r}")
        reasons |= {(name, slug): reason for name in tools if tool in ("", name)}
    return reasons
