"""Checks that secrets stay where they are: canaries are planted, and looked for everywhere."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import traceback
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import DataClass
from toolseam.guards import is_sensitive_name
from toolseam.testing import Canary, canary
from toolseam_plugins.conformance._model import Check, Failed, Level, NotApplicable
from toolseam_plugins.conformance._of_results import uncalled
from toolseam_plugins.conformance._subject import Outcome

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam_plugins.conformance._subject import Subject

VARIABLES = (
    "ACME_API_KEY",
    "APP_SECRET_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_PASSWORD",
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
)
"""Where canaries are planted in the environment; one that is set already is left alone."""


@attrs.frozen
class _Seen:
    """One call under planted secrets: the channels by name, and the text of what it raised."""

    outcome: Outcome
    channels: dict[str, str]
    raised: str


def _environment_stays(subject: Subject) -> None:
    with _environment() as planted:
        for seen in _calls(subject):
            _hunt(subject, seen, planted)


def _settings_stay(subject: Subject) -> None:
    settings, planted = _planted_settings(subject)
    for seen in _calls(subject, settings):
        _hunt(subject, seen, planted)


def _exceptions_stay(subject: Subject) -> None:
    settings: object = None
    planted: dict[str, Canary] = {}
    with contextlib.suppress(NotApplicable):
        settings, planted = _planted_settings(subject)
    with _environment() as variables:
        for seen in _calls(subject, settings):
            for name, bird in (variables | planted).items():
                if bird.is_in(seen.raised):
                    told = f"the text of an exception holds the secret {name}"
                    raise Failed(told, subject.reproduce(seen.outcome.arguments))


def _hunt(subject: Subject, seen: _Seen, planted: dict[str, Canary]) -> None:
    for channel, text in seen.channels.items():
        for name, bird in planted.items():
            if bird.is_in(text):
                told = f"the {channel} holds the secret {name}"
                raise Failed(told, subject.reproduce(seen.outcome.arguments))


@contextlib.contextmanager
def _environment() -> Generator[dict[str, Canary]]:
    planted = {name: canary(name.lower()) for name in VARIABLES if name not in os.environ}
    os.environ.update({name: bird.text for name, bird in planted.items()})
    try:
        yield planted
    finally:
        for name in planted:
            os.environ.pop(name, None)


def _planted_settings(subject: Subject) -> tuple[Any, dict[str, Canary]]:
    """Return the plugin's settings with a canary in every field that holds a secret."""
    wanted = subject.spec.settings
    if wanted is None:
        raise NotApplicable("it has no settings")
    given: Any = subject.settings
    if given is None:
        if subject.has_host:
            raise NotApplicable("host= was given without settings=")
        try:
            given = wanted()
        except (TypeError, ValueError):
            raise NotApplicable(
                "its settings have no defaults, and settings= was not given"
            ) from None
    fields = [
        field
        for field in attrs.fields(given.__class__)
        if is_sensitive_name(field.name) and isinstance(getattr(given, field.name), str | None)
    ]
    if not fields:
        raise NotApplicable("no field of its settings is named like a secret")
    planted = {field.name: canary(field.name) for field in fields}
    changes = {field.alias or field.name: planted[field.name].text for field in fields}
    return attrs.evolve(given, **changes), planted


def _calls(subject: Subject, settings: object = None) -> Generator[_Seen]:
    """Call the tool with the samples while logs are listened to."""
    host = subject.host if settings is None else subject.fresh_host(settings)
    for arguments in subject.samples:
        with _log() as lines:
            outcome = subject.call(arguments, host=host)
        yield _Seen(outcome, _channels(outcome, lines.getvalue()), _raised(outcome))


@contextlib.contextmanager
def _log() -> Generator[io.StringIO]:
    lines = io.StringIO()
    listener = logging.StreamHandler(lines)
    loggers = [logging.getLogger(), logging.getLogger("toolseam")]
    # Where `toolseam` propagates, both hear the same line, which does no harm.
    for logger in loggers:
        logger.addHandler(listener)
    try:
        yield lines
    finally:
        for logger in loggers:
            logger.removeHandler(listener)


def _channels(outcome: Outcome, logged: str) -> dict[str, str]:
    found = {"standard output": outcome.printed, "log": logged}
    for result in (outcome.sound, outcome.result):
        if result is None:
            continue
        found["content"] = found.get("content", "") + result.content
        found["metadata"] = str(result.metadata.value)
        if result.failure is not None:
            found["failure"] = result.failure.message + result.partial_output
        if result.data is not None:
            found["data"] = str(result.data.value)
        found["artifacts"] = "".join(f"{a.label} {a.data.value}" for a in result.artifacts)
    return found


def _raised(outcome: Outcome) -> str:
    error = outcome.raised or outcome.escaped
    if error is None:
        return ""
    lines = traceback.TracebackException.from_exception(error).format_exception_only()
    chained = [str(e) for e in (error.__cause__, error.__context__) if e is not None]
    return "\n".join([*lines, *chained])


def _unsettled(subject: Subject) -> str | None:
    return uncalled(subject) or (None if subject.samples else "no examples were given")


def _raw(subject: Subject) -> str | None:
    """Tell why a tool may show what the environment holds: an operator has to want it."""
    unsettled = _unsettled(subject)
    if unsettled:
        return unsettled
    spec = subject.spec
    declared = spec.data_class is DataClass.SECRET_ADJACENT and spec.requires_admin
    if declared and not spec.enabled_by_default:
        return "it is off by default, for admins, and declared secret_adjacent"
    return None


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="environment-secrets-stay",
        level=Level.MUST,
        clause="§1",
        title="A secret of the environment shows up in no channel, the log included.",
        why="Content goes to the provider, and everything else into trace and audit.",
        mend="Name the variables that are shown; `mask_fields` and `mask_secrets` are in guards.",
        applies=_raw,
        run=_environment_stays,
    ),
    Check(
        slug="settings-secrets-stay",
        level=Level.MUST,
        clause="§1",
        title="A secret of the plugin's settings shows up in no channel, the log included.",
        why="Content goes to the provider, and everything else into trace and audit.",
        mend="Say which setting is wrong, never its value; use `context.secret(name)`.",
        applies=_unsettled,
        run=_settings_stay,
    ),
    Check(
        slug="exceptions-carry-no-secret",
        level=Level.MUST,
        clause="§5",
        title="The text of what the tool raises holds no secret.",
        why="It goes to the host's log, and to whoever wraps the tool.",
        mend="Catch what a driver raises, and raise `ToolError` with a sentence of your own.",
        applies=_unsettled,
        run=_exceptions_stay,
    ),
)
