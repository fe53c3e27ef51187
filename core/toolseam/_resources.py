"""What tools opened and share: once a host, or once a process that runs bodies for one (§2)."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Resources:
    """What tools opened once a host; closed with it, the last opened first."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._turns: dict[tuple[str, str], threading.RLock] = {}
        self._opened: dict[tuple[str, str], Any] = {}

    def get(self, owner: str, key: str, opener: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return what `opener` gave the first time; who asks for the same waits meanwhile."""
        place = owner, key
        with self._turn:
            turn = self._turns.setdefault(place, threading.RLock())
        with turn:
            if place not in self._opened:
                self._opened[place] = opener()
            return self._opened[place]

    def close(self) -> None:
        """Close everything that has a `close()`; one that raises is reported."""
        with self._turn:
            opened, self._opened = list(self._opened.values()), {}
        for resource in reversed(opened):
            close = getattr(resource, "close", None)
            if close is None:
                continue
            try:
                close()
            except Exception as error:  # noqa: BLE001 - the others are closed all the same
                log = logging.getLogger("toolseam")
                log.warning("closing a resource raised %s", type(error).__name__)
