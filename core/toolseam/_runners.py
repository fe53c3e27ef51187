"""The runners of one host: each made when the first body goes there, all ended with the host."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import attrs

from toolseam._body import NotStarted
from toolseam._errors import SettingsError, ToolseamError
from toolseam._levels import DataClass
from toolseam._placing import OURS, PROCESS, SANDBOX, ExecutorRunner, target_of
from toolseam._selection import near_miss
from toolseam._settings_keys import ExecutorSettings, Grants
from toolseam._text import short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from toolseam._binding import BoundTool
    from toolseam._body import Runner
    from toolseam._plugin_settings import PluginSettings
    from toolseam._settings_keys import OperatorSettings
    from toolseam._wrappers import HostPlugins

_AGAIN_S = 5.0
"""How soon what could not be made is tried again: an engine that is away answers late."""


class Runners:
    """Gives the runner of a place; thread-safe.

    Args:
        operator: whose `[runs_in]`, `[process]`, `[sandbox]` and `[executors]` hold.
        own: structures the tools' settings, of which some say what a sandbox must let in.
        plugins: those that may make an executor.
        given: executors that host code handed over; they stay its own to shut down.

    Raises `SettingsError` for a place that nobody names.
    """

    def __init__(
        self,
        operator: OperatorSettings,
        own: PluginSettings,
        plugins: HostPlugins,
        given: Mapping[str, Executor],
    ) -> None:
        self._operator = operator
        self._own = own
        self._plugins = plugins
        self._given = dict(given)
        self._turn = threading.Lock()
        self._made: dict[str | Grants, Runner] = {}
        self._failed: dict[object, tuple[str, str, float]] = {}
        self._granted: dict[str, Grants] = {}
        self._closed = False
        for name in given:
            if name in OURS:
                raise SettingsError(f"an executor cannot be called {name!r}", key=f"runs_in.{name}")
        places = (*OURS, *operator.executors, *given)
        known = tuple(each.value for each in DataClass)
        for key, place in operator.runs_in.items():
            kind, colon, word = key.partition(":")
            if colon and (
                kind not in ("group", "class") or (kind == "class" and word not in known)
            ):
                hint = near_miss(word, known) if kind == "class" else ""
                message = f"runs_in.{key}: no rule for a group or a data class{hint}"
                raise SettingsError(message, key=f"runs_in.{key}")
            if place not in places:
                hint = near_miss(place, places)
                message = f"runs_in.{key}: there is no place {short(place)!r}{hint}"
                raise SettingsError(message, key=f"runs_in.{key}")

    def runner(self, place: str, tool: BoundTool) -> tuple[Runner, str | None]:
        """Return what carries a tool's body, and the version that has to be there, if any has.

        Raises `NotStarted` where the place cannot be had.
        """
        if place in (PROCESS, SANDBOX):
            grants = self._grants(tool) if place == SANDBOX else None
            return self._once(grants or PROCESS, lambda: self._pool(grants)), None
        return self._once(place, lambda: self._executor(place)), tool.version or None

    def close(self) -> None:
        """End all of them but what host code handed over."""
        with self._turn:
            self._closed = True
            made, self._made = self._made, {}
        for place, runner in made.items():
            self._end(place, runner)

    def _end(self, place: object, runner: Runner) -> None:
        if place in self._given:
            return
        try:
            runner.close()
        except Exception as error:  # noqa: BLE001 - the others are ended all the same
            LOGGER.warning("ending a runner raised %s", type(error).__name__)

    def _once(self, key: str | Grants, make: Callable[[], Runner]) -> Runner:
        found = self._made.get(key)
        if found is not None and not _refuses(found):
            return found
        with self._turn:
            if self._closed:
                raise NotStarted("closed", "the host is closed")
            found = self._made.get(key)
            if found is not None and _refuses(found):
                del self._made[key]
                self._end(key, found)
            if key not in self._made:
                self._made[key] = self._first(key, make)
            return self._made[key]

    def _first(self, key: object, make: Callable[[], Runner]) -> Runner:
        """Make a runner; while one that failed is fresh, nobody waits for the next attempt."""
        if key in self._failed:
            reason, detail, since = self._failed[key]
            if monotonic() - since < _AGAIN_S:
                raise NotStarted(reason, detail)
        try:
            return make()
        except NotStarted as error:
            self._failed[key] = error.reason, error.detail, monotonic()
            raise

    def _pool(self, grants: Grants | None) -> Runner:
        from toolseam.isolation._pool import ProcessPool

        return ProcessPool(self._operator.process, sandbox=grants)

    def _grants(self, tool: BoundTool) -> Grants:
        """Return what the operator lets into a tool's sandbox; refuse a tool that needs more."""
        if tool.name in self._granted:
            return self._granted[tool.name]
        table = self._operator.sandbox
        grants = table.get(tool.name) or table.get(f"group:{tool.spec.group}") or Grants()
        settings: Any = self._own.of(tool)
        needs = getattr(settings, "sandbox_needs", None)
        wanted = Grants() if needs is None else Grants(**needs(tool.spec))
        readable = (*grants.read, *grants.write)
        lacking = [
            *(["network"] if wanted.network and not grants.network else []),
            *(f"read {path}" for path in wanted.read if not _within(path, readable)),
            *(f"write {path}" for path in wanted.write if not _within(path, grants.write)),
        ]
        if lacking:
            detail = f"[sandbox.{tool.name}] grants no {', '.join(lacking)}"
            raise NotStarted("not_granted", detail)
        granted = attrs.evolve(grants, read=(*grants.read, *_code_of(tool)))
        self._granted[tool.name] = granted
        return granted

    def _executor(self, place: str) -> Runner:
        if place in self._given:
            return ExecutorRunner(self._given[place])
        settings = self._operator.executors.get(place, ExecutorSettings())
        for _, make in self._plugins.implementations("toolseam_executor"):
            try:
                made = make(name=place, settings=settings)
            except ToolseamError as error:
                raise NotStarted("executor", short(str(error), 200)) from None
            except Exception as error:  # noqa: BLE001 - another's code raises as it likes
                LOGGER.warning("making the executor %s raised %s", place, type(error).__name__)
                raise NotStarted("executor", f"making it raised {type(error).__name__}") from None
            if made is not None:
                return ExecutorRunner(made)
        kind = settings.kind or place
        detail = f"no plugin makes {short(kind)!r}; name one that does in `trust`"
        raise NotStarted("executor", detail)


def _code_of(tool: BoundTool) -> tuple[str, ...]:
    """Return where a tool's own package stands, if it is not installed: it has to be seen."""
    top = sys.modules.get((target_of(tool) or "").partition(":")[0].partition(".")[0])
    places = [*getattr(top, "__path__", ())] or [getattr(top, "__file__", None) or ""]
    return tuple(
        place
        for place in places
        if os.path.exists(place)  # noqa: PTH110 - of "" too
        and os.path.realpath(place) == place
        and "site-packages" not in Path(place).parts
    )


def _within(path: str, granted: tuple[str, ...]) -> bool:
    """Tell whether a path is granted, or stands in a folder that is."""
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in granted)


def _refuses(runner: Runner) -> bool:
    """Tell whether an executor took a body last: one that did not is made anew."""
    return isinstance(runner, ExecutorRunner) and runner.refuses
