"""What the child process may answer: checked, bounded, in single lines, masked."""

from __future__ import annotations

import json
from typing import Any

import attrs

from toolseam import ErrorCode, ToolError, guards
from toolseam_builtin._page import excerpt, one_line

_CHARACTERS = 300
_ROUTES = 5_000
_LAYERS = 200
_PARAMETERS = 100
_NUMBERS = range(2**31)
_NO_FRAMEWORK = "plain"


@attrs.frozen
class Route:
    """A route: its pattern, what answers it, and the methods, empty where nobody says."""

    pattern: str
    endpoint: str
    methods: str


@attrs.frozen
class Match:
    """The route that fits, and what it takes out of the path."""

    route: Route
    parameters: tuple[tuple[str, str], ...]
    note: str


@attrs.frozen
class Report:
    """An application: its framework, its name, layers as (name, kind), routes, and one match.

    `total` counts the routes, None where the application lists none; `routes` are the first.
    """

    framework: str
    application: str
    layers: tuple[tuple[str, str], ...]
    routes: tuple[Route, ...]
    total: int | None
    match: Match | None

    @property
    def title(self) -> str:
        """The application, and its framework if it has one."""
        known = self.framework != _NO_FRAMEWORK
        return f"{self.application} ({self.framework})" if known else self.application


def read_report(answer: bytes) -> Report:
    """Read what a child answered: the application is anybody's code, and may have written it.

    Raises `ToolError` `unavailable`, reason `web_app_failed`.
    """
    try:
        told: Any = json.loads(answer)
        if "fault" in told:
            raise failed(fault_words(told["fault"], "application"))
        match = told["match"]
        total = told["total"]
        return Report(
            _text(told["framework"]),
            _text(told["application"]),
            tuple((_text(name), _text(kind)) for name, kind in told["middleware"][:_LAYERS]),
            tuple(_route(*row) for row in (told["routes"] or ())[:_ROUTES]),
            None if total is None else _number(total),
            None if match is None else _match(match),
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        message = "The process that imported the application ended without an answer."
        raise failed(message) from None


def shown(name: str, value: str) -> str:
    """Return the value of a parameter as it may be shown: masked by its name, and by shape."""
    return guards.MASK if guards.is_sensitive_name(name) else _text(value)


def failed(message: str) -> ToolError:
    """Return the failure of an application that could not be looked at."""
    return ToolError(message, ErrorCode.UNAVAILABLE, metadata={"reason": "web_app_failed"})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return excerpt(guards.mask_secrets(one_line(value))[0], _CHARACTERS)


def _number(value: object) -> int:
    if not isinstance(value, int) or value not in _NUMBERS:
        raise TypeError
    return value


def _route(pattern: object, endpoint: object, methods: object) -> Route:
    return Route(_text(pattern), _text(endpoint), _text(methods))


def _match(told: dict[str, Any]) -> Match:
    route = _route(told["pattern"], told["endpoint"], ", ".join(told["methods"]))
    pairs = [(_text(name), value) for name, value in told["parameters"][:_PARAMETERS]]
    return Match(
        route, tuple((name, shown(name, value)) for name, value in pairs), _text(told["note"])
    )


def fault_words(told: dict[str, Any], what: str) -> str:
    """Say why an import failed: by type and place, since the text may hold anything.

    Raises `KeyError`, `TypeError` or `ValueError` for what no child of ours would answer.
    """
    place = told["place"]
    where = f" at {_text(place[0])}, line {_number(place[1])}" if place else ""
    if told["missing"] is not None:
        missing = _text(told["missing"])
        return f"The {what} could not be imported: there is no module {missing!r}{where}."
    return f"The {what} could not be imported: {_text(told['type'])}{where}."
