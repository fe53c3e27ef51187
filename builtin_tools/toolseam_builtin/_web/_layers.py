"""The layers round an application, and the names of what is found in them.

Imported by the child process only.
"""

import inspect
from typing import Any, cast

LAYERS = 200
_INNER = ("app", "application", "wsgi_app", "asgi_app", "_app", "_application", "wrapped_app")


def peel(app: Any) -> tuple[list[Any], Any]:  # noqa: ANN401
    """Return the layers round an application, the outermost first, and what they are round."""
    layers: list[Any] = []
    while len(layers) < LAYERS and framework_of(app) == PLAIN:
        inner = _inner(app)
        if inner is None or any(inner is layer for layer in layers):
            break
        layers.append(app)
        app = inner
    return layers, app


def _inner(layer: Any) -> Any:  # noqa: ANN401
    """Return what a layer of middleware hands requests to: an attribute, or a closed-over name."""
    if inspect.isfunction(layer):
        names = zip(layer.__code__.co_freevars, layer.__closure__ or (), strict=True)
        found = [_contents(cell) for name, cell in names if name in _INNER]
    elif inspect.isroutine(layer) or inspect.isclass(layer):
        return None
    else:
        found = [attribute(layer, name) for name in _INNER]
    return next((each for each in found if callable(each)), None)


def attribute(thing: Any, name: str) -> Any:  # noqa: ANN401
    """Return an attribute, or None where there is none or asking raises."""
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - proxies do as they like
        return None


def _contents(cell: Any) -> Any:  # noqa: ANN401
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned yet
        return None


PLAIN = "plain"


def framework_of(app: Any) -> str:  # noqa: ANN401
    """Tell by its classes which framework an application belongs to."""
    classes = {f"{cls.__module__}.{cls.__qualname__}" for cls in type(app).__mro__}
    if "starlette.applications.Starlette" in classes:
        return "FastAPI" if "fastapi.applications.FastAPI" in classes else "Starlette"
    if "django.core.handlers.base.BaseHandler" in classes:
        return "Django"
    url_map = attribute(app, "url_map")
    if type(url_map).__module__.startswith("werkzeug.") and hasattr(url_map, "bind"):
        return "Flask" if "flask.app.Flask" in classes else "Werkzeug"
    return PLAIN


def name_of(thing: Any) -> str:  # noqa: ANN401
    """Return a function or class by module and name, an instance by those of its class."""
    if isinstance(thing, str):
        return thing
    thing = attribute(thing, "view_class") or thing
    thing = attribute(thing, "func") or thing  # functools.partial
    if not (inspect.isroutine(thing) or inspect.isclass(thing)):
        return name_of(cast("Any", type(thing)))
    return f"{attribute(thing, '__module__')}.{attribute(thing, '__qualname__')}"


def layer_of(layer: Any, kind: str = "layer") -> list[str]:  # noqa: ANN401
    """Return a layer by its name, and what kind it is."""
    dispatch = attribute(layer, "dispatch_func")
    if dispatch is not None and getattr(dispatch, "__self__", None) is not layer:
        return [name_of(dispatch), kind]  # a function, for which a class of the framework stands
    return [name_of(layer), kind]


def match_of(pattern: str, endpoint: Any, methods: Any, parameters: Any, note: str = "") -> Any:  # noqa: ANN401
    """Return which route fits, as it goes to the host."""
    return {
        "pattern": pattern,
        "endpoint": name_of(endpoint),
        "methods": sorted(map(str, methods or ())),
        "parameters": [[str(name), str(value)] for name, value in dict(parameters).items()],
        "note": note,
    }
