"""The inspector: a local page that shows a host's tools, runs and calls, and asks people.

`toolseam inspect` serves it; `asgi` puts it into an application of your own.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from toolseam import Actor, Host
    from toolseam_plugins.inspector._app import Inspector

__all__ = ["asgi"]


def asgi(
    host: Host,
    *,
    origin: str,
    actor: Actor | None = None,
    hint: Callable[[Any, str], str] | None = None,
    also: Iterable[str] = (),
) -> Inspector:
    """Return the page of a host as an ASGI application.

    Each `new_link()` is good for one visit. The application may be mounted below a path of a
    larger one.

    Args:
        host: what is shown; calls made on the page are calls of this host.
        origin: where browsers find the application: `http://127.0.0.1:8000`, `https://ops.example`.
        actor: who acts on the page, runs tools there and decides; absent is a person without
            roles.
        hint: says what an operator would set to change the gate's answer, given a tool and the
            reason.
        also: further origins under which the same application is reached.

    Raises `ValueError` for an origin that is none, `ModuleNotFoundError` without the extra.
    """
    if find_spec("starlette") is None:
        raise ModuleNotFoundError(
            "The inspector needs the extra `inspector`: pip install 'toolseam[inspector]'",
            name="starlette",
        )
    from toolseam import Actor
    from toolseam_plugins.inspector._app import Inspector

    return Inspector(host, (origin, *also), actor or Actor("inspector"), hint)
