"""What a check is, and what it says of a subject."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Generic, TypeVar

import attrs

S = TypeVar("S")


class Level(StrEnum):
    """How much a check asks: `MUST` by the contract, `SHOULD` by good manners."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Status(StrEnum):
    """What came of a check.

    `error` is a crash of the check or of the kit's own set-up, which nothing masks; `not_scored`
    is a failure of a check that is newer than the contract version which was asked for.
    """

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"
    EXPECTED_FAILURE = "expected_failure"
    UNEXPECTED_PASS = "unexpected_pass"  # noqa: S105 - a status
    ERROR = "error"
    NOT_SCORED = "not_scored"


class Failed(Exception):
    """The subject breaks what the check asks: what, where, and a command that shows it again."""

    def __init__(self, message: str, reproduce: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reproduce = reproduce


class NotApplicable(Exception):
    """The check found, while it ran, that there is nothing for it to judge; says why."""


def always(_: object) -> str | None:
    """Say that a check applies to every subject."""
    return None


@attrs.frozen
class Check(Generic[S]):
    """One question to a subject, with a stable slug.

    Args:
        slug: `[a-z0-9-]+`, one meaning for ever, the same for pass and fail.
        level: what it asks of everybody.
        clause: where the contract says it, for example `§5`.
        title: one sentence, what is true of a subject that passes.
        why: what goes wrong where it is not.
        mend: what an author does about it.
        run: raises `Failed`, or returns; a text that it returns is noted beside the pass.
        applies: returns the reason why the check has nothing to judge, or None.
        since: the contract version that brought it.
        builtin_level: what it asks of the tools that come with toolseam, if that is more.
    """

    slug: str
    level: Level
    clause: str
    title: str
    why: str
    mend: str
    run: Callable[[S], str | None]
    applies: Callable[[S], str | None] = always
    since: str = "1"
    builtin_level: Level | None = None


@attrs.frozen
class CheckResult:
    """What one check said of one tool (or of a host, whose `tool` is `host`).

    `message` tells a failure, a crash, why the check had nothing to judge, or what is noted beside
    a pass; `reproduce` is a command that shows the failure again.
    """

    tool: str
    slug: str
    level: Level
    clause: str
    status: Status
    message: str = ""
    reproduce: str | None = None
