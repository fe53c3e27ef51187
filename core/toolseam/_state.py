"""What all conversations of one host share."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import attrs

from toolseam._approval import Used
from toolseam._resources import Resources
from toolseam._run_store import MemoryStore
from toolseam._trace import LOGGER, Listeners
from toolseam._watch import Watch
from toolseam._workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam._binding import BoundTool
    from toolseam._bounds import Sizes
    from toolseam._judgement import Broken
    from toolseam._policy import Policy
    from toolseam._rates import Rates
    from toolseam._registry import Registry
    from toolseam._run_store import RunStore
    from toolseam._runs import RunChange, RunStep
    from toolseam._steps import Live, Step
    from toolseam._wrappers import HostPlugins, Wrapper


@attrs.frozen
class Violation:
    """One breach of the contract: which tool or wrapper, where, and what."""

    tool: str
    distribution: str
    path: str
    reason: str
    wrapper: str | None


class HostState:
    """The shared, thread-safe ground of a host: who is registered, what holds, what is open."""

    __slots__ = (
        "_turn",
        "approvals",
        "epoch",
        "four_eyes",
        "limits",
        "listeners",
        "plugins",
        "policy",
        "rates",
        "registry",
        "resources",
        "run_listeners",
        "seam",
        "secrets",
        "settings_of",
        "stop_on_contract_error",
        "store",
        "timeout_s",
        "violations",
        "watch",
        "withdrawn",
        "workers",
        "wrappers",
    )

    def __init__(  # noqa: PLR0913 - the ground is its parts
        self,
        *,
        registry: Registry,
        policy: Policy,
        plugins: HostPlugins,
        limits: Sizes,
        timeout_s: float,
        threads: int,
        waiting: int,
        settings_of: Callable[[BoundTool], Any],
        secrets: Callable[[BoundTool, str], str],
        stop_on_contract_error: bool,
        rates: Rates | None,
        four_eyes: bool,
        seam: tuple[Callable[..., Any], Callable[..., Any]],
    ) -> None:
        self._turn = threading.Lock()
        self.registry = registry
        self.policy = policy
        self.plugins = plugins
        self.wrappers = plugins.wrappers()
        self.limits = limits
        self.timeout_s = timeout_s
        self.workers = Workers(threads, waiting)
        self.watch = Watch()
        self.listeners: Listeners[Step | Live] = Listeners()
        self.run_listeners: Listeners[RunStep | RunChange] = Listeners()
        self.approvals = Used()
        self.resources = Resources()
        self.settings_of = settings_of
        self.secrets = secrets
        self.stop_on_contract_error = stop_on_contract_error
        self.seam = seam
        self.store: RunStore = MemoryStore()
        self.rates = rates
        self.four_eyes = four_eyes
        self.violations: list[Violation] = []
        self.withdrawn: set[int] = set()
        self.epoch = 0

    def record(self, tool: BoundTool, broken: Broken) -> None:
        """Remember a breach; withdraw the wrapper that is to blame, or a tool that may write."""
        wrapper: Wrapper | None = broken.wrapper  # type: ignore[assignment]
        found = Violation(
            tool.name,
            tool.distribution,
            broken.path,
            broken.reason,
            None if wrapper is None else wrapper.distribution,
        )
        with self._turn:
            self.violations.append(found)
            if wrapper is not None:
                self.wrappers = tuple(w for w in self.wrappers if w is not wrapper)
            elif not tool.reads:
                self.withdrawn.add(tool.key)
            self.epoch += 1
        who = tool.name if wrapper is None else f"a wrapper of {wrapper.distribution}"
        LOGGER.error("contract broken by %s: %s: %s", who, broken.path, broken.reason)

    def readmit(self, key: int) -> None:
        """Take a withdrawal for the host's life back."""
        with self._turn:
            self.withdrawn.discard(key)
            self.epoch += 1
