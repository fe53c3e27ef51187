"""Who sits at the keyboard: the name under which a command acts, and its roles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolseam import Actor

_ADMIN = "admin"


def login() -> str:
    """Return the name of the account that runs this process, not what its environment says."""
    try:
        import pwd
    except ImportError:  # no such accounts on this system
        return "local"
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container that runs as a number
        return f"uid {os.getuid()}"


def person(name: str | None = None, roles: Iterable[str] = (_ADMIN,)) -> Actor:
    """Return the actor of a command that a person types: a local administrator (§5).

    `name` and `roles` are what the operator says instead.
    """
    from toolseam import Actor

    return Actor(name or login(), frozenset(roles))
