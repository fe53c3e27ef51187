"""Runs the checks over what a target means, and weighs expected failures."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from toolseam import CONTRACT_VERSION
from toolseam.testing import TargetError, targets
from toolseam_plugins.conformance._checks import ADAPTER_CHECKS, HOST_CHECKS, TOOL_CHECKS
from toolseam_plugins.conformance._child import Before
from toolseam_plugins.conformance._model import (
    Check,
    CheckResult,
    Failed,
    NotApplicable,
    Status,
)
from toolseam_plugins.conformance._of_adapter import AdapterSubject
from toolseam_plugins.conformance._of_host import HostSubject
from toolseam_plugins.conformance._subject import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolseam import Host
    from toolseam_plugins.conformance._of_adapter import Drive

    Arguments = Mapping[str, Any]
    Examples = Mapping[str, Sequence[Arguments]] | Sequence[Arguments]

S = TypeVar("S")


def check_tool(  # noqa: PLR0913 - what an author may have to tell
    target: object,
    *,
    examples: Examples | None = None,
    host: Host | Callable[[], Host] | None = None,
    settings: object = None,
    observe: Callable[[], object] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    seed: int = 0,
    checks: Iterable[str] | None = None,
    contract: str = CONTRACT_VERSION,
    heard: Callable[[CheckResult], None] | None = None,
) -> list[CheckResult]:
    """Run every check over every tool that a target means, and return what each one said.

    Args:
        target: a distribution, an entry point, `builtins`, `module`, `module:object`, a module or
            a plugin object.
        examples: arguments that the tool must do well with: a list, or lists by tool name.
        host: a host that has the tool, or a function that makes one.
        settings: an instance of the plugin's settings class, instead of a host.
        observe: returns something comparable that shows what the tool may change.
        expected_failures: reasons by `tool:slug`, or by `slug` for every tool of the target.
        seed: of the generated arguments.
        checks: slugs, to run these alone.
        contract: newer checks than this version asks for are run and not scored.
        heard: is told each result as it comes, before expected failures are weighed.

    Raises `TargetError` where the target means no tool, or a slug no check.
    """
    chosen = choose(TOOL_CHECKS, checks)
    found: list[CheckResult] = []
    out = sys.stdout
    # What a plugin prints at any time must not end up in a report.
    with contextlib.redirect_stdout(io.StringIO()):
        for subject in subjects(
            target, examples=examples, host=host, settings=settings, observe=observe, seed=seed
        ):
            try:
                for check in chosen:
                    result = run_check(
                        check, subject, subject.name, contract, builtin=subject.builtin
                    )
                    found.append(result)
                    if heard is not None:
                        with contextlib.redirect_stdout(out):
                            heard(result)
            finally:
                subject.close()
    known = {check.slug for check in TOOL_CHECKS}
    return weigh(found, dict(expected_failures or {}), known)


def check_host(
    make: Callable[[Sequence[object]], Host] | None = None,
    *,
    checks: Iterable[str] | None = None,
    contract: str = CONTRACT_VERSION,
) -> list[CheckResult]:
    """Run every check of a host and return what each one said.

    Args:
        make: given tool plugins, returns a host with them; by default `Host(tools=...)`.
        checks: slugs, to run these alone.
        contract: newer checks than this version asks for are run and not scored.

    Raises `TargetError` where a slug is no check.
    """
    subject = HostSubject() if make is None else HostSubject(make)
    return [run_check(check, subject, "host", contract) for check in choose(HOST_CHECKS, checks)]


def check_adapter(
    drive: Drive,
    *,
    name: str = "adapter",
    checks: Iterable[str] | None = None,
    contract: str = CONTRACT_VERSION,
) -> list[CheckResult]:
    """Drive an adapter once over tools that hold canaries, and return what each check said.

    Args:
        drive: given a session, calls every tool that it offers as the adapter does, and returns
            all that left: text or bytes, or an awaitable of either.
        name: the adapter, as results name it.
        checks: slugs, to run these alone.
        contract: newer checks than this version asks for are run and not scored.

    Raises `TargetError` where a slug is no check.
    """
    subject = AdapterSubject(drive)
    chosen = choose(ADAPTER_CHECKS, checks)
    return [run_check(check, subject, name, contract) for check in chosen]


def subjects(
    target: object,
    *,
    examples: Examples | None = None,
    host: Host | Callable[[], Host] | None = None,
    settings: object = None,
    observe: Callable[[], object] | None = None,
    seed: int = 0,
) -> list[Subject]:
    """Return one subject for each tool that a target means; raises `TargetError` for none."""
    made: list[Subject] = []
    before = Before()
    for one in targets(target):
        subject = Subject(
            one, host=host, settings=settings, observe=observe, seed=seed, before=before
        )
        subject.examples = _examples_of(subject.name, examples)
        made.append(subject)
    if isinstance(examples, Mapping):
        unknown = set(examples) - {subject.name for subject in made}
        if unknown:
            raise TargetError(f"examples name no tool of the target: {', '.join(sorted(unknown))}")
    return made


def choose(checks: Sequence[Check[S]], slugs: Iterable[str] | None) -> list[Check[S]]:
    """Return the checks of some slugs, in their own order; raises `TargetError` for an unknown."""
    if slugs is None:
        return list(checks)
    wanted = list(slugs)
    known = [check.slug for check in checks]
    for slug in wanted:
        if slug not in known:
            raise TargetError(f"{slug!r} is no check{near(slug, known)}")
    if not wanted:
        raise TargetError("no check was asked for")
    return [check for check in checks if check.slug in wanted]


def near(slug: str, known: Iterable[str]) -> str:
    """Return the question after a check that was probably meant."""
    import difflib

    close = difflib.get_close_matches(slug, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def run_check(
    check: Check[S],
    subject: S,
    name: str,
    contract: str = CONTRACT_VERSION,
    *,
    builtin: bool = False,
) -> CheckResult:
    """Run one check; a crash of it is a result, too."""
    level = check.level
    if builtin and check.builtin_level is not None:
        level = check.builtin_level
    result = CheckResult(name, check.slug, level, check.clause, Status.PASSED)
    try:
        reason = check.applies(subject)
        if reason is not None:
            return attrs.evolve(result, status=Status.NOT_APPLICABLE, message=reason)
        return attrs.evolve(result, message=check.run(subject) or "")
    except NotApplicable as found:
        return attrs.evolve(result, status=Status.NOT_APPLICABLE, message=str(found))
    except Failed as failed:
        newer = _version(check.since) > _version(contract)
        return attrs.evolve(
            result,
            status=Status.NOT_SCORED if newer else Status.FAILED,
            message=failed.message,
            reproduce=failed.reproduce,
        )
    except Exception as error:  # noqa: BLE001 - a crash is told, and never masked
        message = f"the check crashed: {type(error).__name__}: {error}{_place(error)}"
        return attrs.evolve(result, status=Status.ERROR, message=message[:500])


def weigh(
    results: Sequence[CheckResult], expected: Mapping[str, str], known: Iterable[str]
) -> list[CheckResult]:
    """Mask the failures that are expected; tell what was expected and did not happen."""
    slugs = set(known)
    tools = {result.tool for result in results}
    weighed = list(results)
    for key, reason in expected.items():
        tool, _, slug = key.rpartition(":")
        fault = _entry_fault(tool, slug, reason, tools, slugs)
        if fault is not None:
            weighed.append(_wrong(results[0], tool, slug, fault))
            continue
        concerned = [
            place
            for place, result in enumerate(weighed)
            if result.slug == slug and tool in ("", result.tool)
        ]
        _mask(weighed, concerned, reason)
    return weighed


def _mask(weighed: list[CheckResult], concerned: Sequence[int], reason: str) -> None:
    for place in concerned:
        result = weighed[place]
        if result.status is Status.FAILED:
            status, told = Status.EXPECTED_FAILURE, f"{result.message} (expected: {reason})"
        elif result.status in (Status.PASSED, Status.NOT_APPLICABLE):
            status = Status.UNEXPECTED_PASS
            told = f"it was expected to fail ({reason}), and did not; take the entry out"
        else:
            continue
        weighed[place] = attrs.evolve(result, status=status, message=told)


def _entry_fault(
    tool: str, slug: str, reason: object, tools: set[str], slugs: set[str]
) -> str | None:
    if slug not in slugs:
        return f"expected_failures names {slug!r}, which is no check{near(slug, slugs)}"
    if tool and tool not in tools:
        return f"expected_failures names {tool!r}, which is no tool of the target"
    if not isinstance(reason, str) or not reason.strip():
        return f"expected_failures gives no reason for {slug!r}"
    return None


def _wrong(like: CheckResult, tool: str, slug: str, message: str) -> CheckResult:
    return CheckResult(tool or like.tool, slug, like.level, "", Status.ERROR, message)


def _examples_of(name: str, examples: Examples | None) -> tuple[dict[str, Any], ...]:
    if examples is None:
        return ()
    if isinstance(examples, Mapping):
        return tuple(dict(one) for one in examples.get(name, ()))
    return tuple(dict(one) for one in examples)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _place(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
