"""What an application is made of: its layers of middleware, its routes, and one match.

Imported by the child process only.
"""

import re
from typing import Any

from toolseam_builtin._web._frameworks import look_django, look_starlette, look_werkzeug
from toolseam_builtin._web._layers import (
    LAYERS,
    PLAIN,
    framework_of,
    layer_of,
    match_of,
    name_of,
    peel,
)

_ROUTES = 5_000


def describe(app: Any, table: Any, path: str | None, host: str) -> dict[str, Any]:  # noqa: ANN401
    """Describe an application.

    Args:
        app: what the workspace names.
        table: pairs (pattern, endpoint), for an application that lists no routes; or None.
        path: a decoded path to match; None for none.
        host: the name by which it is asked.
    """
    layers, core = peel(app)
    kind = framework_of(core)
    inner, routes, match = _look(kind)(core, path, host)
    middleware = [*map(layer_of, layers), *inner]
    if routes is None and table is not None:
        routes, match = _by_table(table, path)
    return {
        "framework": kind,
        "application": name_of(core),
        "middleware": middleware[:LAYERS],
        "routes": None if routes is None else routes[:_ROUTES],
        "total": None if routes is None else len(routes),
        "match": match,
    }


def _look(kind: str) -> Any:  # noqa: ANN401
    looks = {"Starlette": look_starlette, "FastAPI": look_starlette, "Django": look_django}
    return looks.get(kind, look_werkzeug if kind != PLAIN else _look_plain)


def _look_plain(app: Any, path: str | None, host: str) -> Any:  # noqa: ANN401, ARG001
    return [], None, None


def _by_table(table: Any, path: str | None) -> tuple[list[list[str]], dict[str, Any] | None]:  # noqa: ANN401
    """Match by pairs (pattern, endpoint): a text has to match as a whole, an expression begins."""
    routes: list[list[str]] = []
    match: dict[str, Any] | None = None
    for row in table:
        pattern, endpoint = row[0], row[1]
        source = pattern if isinstance(pattern, str) else pattern.pattern
        routes.append([source, name_of(endpoint), ""])
        if path is None or match is not None:
            continue
        whole = isinstance(pattern, str)
        found = re.fullmatch(pattern, path) if whole else pattern.match(path)
        if found:
            match = match_of(
                source, endpoint, (), found.groupdict() or enumerate(found.groups(), 1)
            )
    return routes, match
