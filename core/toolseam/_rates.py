"""Rates: how often one actor may call a tool within a minute (`[limits.per_minute]`)."""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolseam._binding import BoundTool
    from toolseam._context import Actor

MINUTE_S = 60.0
EVERYTHING = "*"


class Rates:
    """Counts calls by rule and actor over the last minute; thread-safe.

    Args:
        per_minute: a tool's name, `group:<name>` or `*` to the greatest number of calls; every
            rule that names a tool counts its calls, those of `*` and of a group together.
        clock: seconds that only grow.
    """

    def __init__(
        self, per_minute: Mapping[str, int], clock: Callable[[], float] = monotonic
    ) -> None:
        self._rules = dict(per_minute)
        self._clock = clock
        self._turn = threading.Lock()
        self._times: dict[tuple[str, str | None], deque[float]] = {}

    def applies(self, tool: BoundTool) -> bool:
        """Tell whether any rule names the tool."""
        return any(rule in self._rules for rule in _names(tool))

    def take(self, tool: BoundTool, actor: Actor | None, *, look: bool = False) -> int | None:
        """Count a call, or return the number of the rule that has no more room for it.

        Args:
            tool: what is called.
            actor: who calls; nobody counts as one.
            look: only look whether there is room.
        """
        name = None if actor is None else actor.name
        now = self._clock()
        with self._turn:
            rules = [rule for rule in _names(tool) if rule in self._rules]
            windows = [self._times.setdefault((rule, name), deque()) for rule in rules]
            for rule, times in zip(rules, windows, strict=True):
                while times and times[0] <= now - MINUTE_S:
                    times.popleft()
                if len(times) >= self._rules[rule]:
                    return self._rules[rule]
            if not look:
                for times in windows:
                    times.append(now)
        return None


def _names(tool: BoundTool) -> tuple[str, str, str]:
    return tool.name, f"group:{tool.spec.group}", EVERYTHING
