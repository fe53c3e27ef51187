"""How each framework lists its routes and finds the one for a path.

Imported by the child process only. No request is made: a route is matched as its framework
matches, by the path alone.
"""

import sys
from importlib import import_module
from typing import Any, cast

from toolseam_builtin._web._layers import attribute, layer_of, match_of, name_of, peel

Found = tuple[list[list[str]], list[list[str]] | None, dict[str, Any] | None]
"""Layers, routes and match."""


def look_starlette(app: Any, path: str | None, host: str) -> Found:  # noqa: ANN401
    """Look at a Starlette or FastAPI application."""
    stack, _ = peel(app.build_middleware_stack())
    layers = [layer_of(layer) for layer in stack if not hasattr(layer, "routes")]
    routes = list(_starlette_routes(app.routes, ""))
    if path is None:
        return layers, routes, None
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", host.encode())],
        "path_params": {},
        "app": app,
    }
    other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
    match = _starlette_match(app.routes, scope, "")
    if match is None:
        match = _starlette_match(app.routes, {**scope, "type": "websocket"}, "")
    if match is None and getattr(app.router, "redirect_slashes", False) and path != "/":
        match = _starlette_match(app.routes, {**scope, "path": other}, "")
        if match is not None:
            match["note"] = f"redirects to {other}"
    return layers, routes, match


def _starlette_routes(routes: Any, prefix: str) -> Any:  # noqa: ANN401
    for route in _expanded(routes):
        path = prefix + _path_of(route)
        inner = attribute(route, "routes")
        if inner:
            yield from _starlette_routes(inner, path)
        else:
            endpoint = attribute(route, "endpoint") or attribute(route, "app")
            methods = ", ".join(sorted(attribute(route, "methods") or ()))
            yield [path, name_of(endpoint), methods]


def _expanded(routes: Any) -> Any:  # noqa: ANN401
    """Put the routes of routers that FastAPI includes in their place, each with its full path."""
    expand = attribute(sys.modules.get("fastapi.routing"), "iter_route_contexts")
    return routes if expand is None else list(expand(routes))


def _path_of(route: Any) -> str:  # noqa: ANN401
    return str(attribute(route, "path") or attribute(route, "host") or "")


def _starlette_match(routes: Any, scope: dict[str, Any], prefix: str) -> Any:  # noqa: ANN401
    partial: Any = None
    for route in _expanded(routes):
        fits, more = _fits(route, scope)
        inner = attribute(route, "routes")
        if fits == "FULL" and inner:
            return _starlette_match(inner, {**scope, **more}, prefix + _path_of(route))
        if fits == "NONE" or (fits == "PARTIAL" and partial):
            continue
        endpoint = attribute(route, "endpoint") or attribute(route, "app")
        parameters = more.get("path_params", {})
        methods = attribute(route, "methods")
        found = match_of(prefix + _path_of(route), endpoint, methods, parameters)
        if fits == "FULL":
            return found
        partial = found
    return partial


def _fits(route: Any, scope: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: ANN401
    """Ask a route; of one that FastAPI includes, its expression, which has the router's prefix."""
    plain = attribute(route, "original_route") or route
    if _path_of(plain) == _path_of(route):
        match, more = plain.matches(scope)
        return match.name, more
    found = route.path_regex.match(scope["path"])
    socket = "WebSocket" in type(plain).__name__
    if found is None or socket is not (scope["type"] == "websocket"):
        return "NONE", {}
    allowed = socket or scope["method"] in (route.methods or {"GET"})
    parameters = {**scope["path_params"], **found.groupdict()}
    return "FULL" if allowed else "PARTIAL", {"path_params": parameters}


def look_werkzeug(app: Any, path: str | None, host: str) -> Found:  # noqa: ANN401
    """Look at a Flask application, or another with a URL map of werkzeug."""
    routes = [
        [rule.rule, _view(app, rule.endpoint), ", ".join(sorted(rule.methods or ()))]
        for rule in app.url_map.iter_rules()
    ]
    own = cast("dict[str, Any]", vars(app))  # a method of the class is no layer
    layers = peel(own.get("wsgi_app") or own.get("asgi_app"))[0]
    middleware = [layer_of(layer) for layer in layers]
    for kind in ("before_request", "after_request"):
        found: dict[Any, Any] = attribute(app, f"{kind}_funcs") or {}
        for of, functions in found.items():
            where = f" of {of}" if of else ""
            middleware += [layer_of(each, kind.replace("_", " ") + where) for each in functions]
    return middleware, routes, None if path is None else _werkzeug_match(app, path, host)


def _view(app: Any, endpoint: Any) -> str:  # noqa: ANN401
    views: dict[Any, Any] = attribute(app, "view_functions") or {}
    return name_of(views.get(endpoint, endpoint))


def _werkzeug_match(app: Any, path: str, host: str) -> Any:  # noqa: ANN401
    from werkzeug.exceptions import HTTPException, MethodNotAllowed
    from werkzeug.routing import RequestRedirect

    adapter, method, note = app.url_map.bind(host), "GET", ""
    for _ in range(3):
        try:
            rule, values = adapter.match(path, method=method, return_rule=True)
        except RequestRedirect as redirect:
            path = "/" + redirect.new_url.split("://", 1)[-1].partition("/")[2].partition("?")[0]
            note = f"redirects to {path}"
        except MethodNotAllowed as refused:
            method = next(iter(refused.valid_methods or ["GET"]))
        except HTTPException:
            return None
        else:
            endpoint = _view(app, rule.endpoint)
            return match_of(rule.rule, endpoint, rule.methods, values, note)
    return None


def look_django(app: Any, path: str | None, host: str) -> Found:  # noqa: ANN401, ARG001
    """Look at a Django application, by its settings."""
    settings, urls = import_module("django.conf").settings, import_module("django.urls")
    middleware = [[str(name), "layer"] for name in settings.MIDDLEWARE]
    routes = list(_django_routes(urls.get_resolver().url_patterns, "/"))
    asked = [path, f"{path}/"] if settings.APPEND_SLASH and path else [path]
    return middleware, routes, None if path is None else _django_match(urls, asked)


def _django_routes(patterns: Any, prefix: str) -> Any:  # noqa: ANN401
    for each in patterns:
        path = prefix + str(each.pattern)
        if hasattr(each, "url_patterns"):
            yield from _django_routes(each.url_patterns, path)
        else:
            yield [path, name_of(each.callback), ""]


def _django_match(urls: Any, asked: list[Any]) -> Any:  # noqa: ANN401
    for path in asked:
        try:
            found = urls.resolve(path)
        except urls.Resolver404:
            continue
        note = "" if path == asked[0] else f"redirects to {path}"
        given = found.kwargs or enumerate(found.args, 1)
        return match_of(f"/{found.route}", found.func, (), given, note)
    return None
