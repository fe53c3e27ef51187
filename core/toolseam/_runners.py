"""The runners of one host: each made when the first body goes there, all ended with the host."""

from __future__ import annotations

import os
import sys
import threading
from asyncio import CancelledError
from concurrent import futures
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from toolseam._body import NotStarted
from toolseam._errors import SettingsError, ToolseamError
from toolseam._levels import DataClass
from toolseam._placing import (
    INLINE,
    NO_IMPORT,
    OURS,
    PROCESS,
    SANDBOX,
    THREAD,
    ExecutorRunner,
    target_of,
)
from toolseam._selection import near_miss
from toolseam._settings_keys import ExecutorSettings, Grants
from toolseam._text import short
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from toolseam._binding import BoundTool
    from toolseam._body import Runner
    from toolseam._plugin_settings import PluginSettings
    from toolseam._settings_keys import OperatorSettings
    from toolseam._wrappers import HostPlugins
    from toolseam.isolation._pool import InSandbox, ProcessPool

There: TypeAlias = "tuple[Runner, str | None]"
"""What carries bodies to a place, and the version of a tool that has to be there, if any has."""
_AGAIN_S = 5.0
"""How soon what could not be made is tried again: an engine that is away answers late."""
_ANY = (Exception, CancelledError, SystemExit)
"""What another's code may raise that is no end of the host's."""
_CLOSE_S = 60.0
"""How long the end of a host waits for an engine that is just being started."""


@attrs.frozen
class _Away:
    """Why an executor could not be made, and when."""

    reason: str
    detail: str
    since: float


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
        self._pool: ProcessPool | None = None
        self._sandboxes: dict[str, InSandbox] = {}
        self._made: dict[str, ExecutorRunner] = {}
        self._starts: dict[str, Future[None]] = {}
        self._away: dict[str, _Away] = {}
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

    def runner(self, place: str, tool: BoundTool) -> There | Future[None]:
        """Return what carries a tool's body, and the version that has to be there, if any has.

        Where that has to be started first, it is begun, and what is returned tells its end: ask
        again then. Who waits for it no more does not stop it. Raises `NotStarted` where the place
        cannot be had.
        """
        if place == PROCESS:
            return self._processes(), None
        if place == SANDBOX:
            return self._sandboxes.get(tool.name) or self._sandbox(tool), None
        found = self._made.get(place)
        there = self._reach(place) if found is None or found.refuses else found
        return there if isinstance(there, Future) else (there, tool.version or None)

    def obstacle(self, tool: BoundTool) -> str:
        """Say what keeps a tool from where it should run, as far as nothing need be tried."""
        if tool.place in (INLINE, THREAD):
            return ""
        if tool.place == SANDBOX:
            with suppress(SettingsError):  # of which whoever looks is told anyway
                lacking = self._lacking(tool, self._grants(tool))
                if lacking:
                    return lacking
        return NO_IMPORT if target_of(tool) is None else ""

    def close(self) -> None:
        """End all of them but what host code handed over."""
        with self._turn:
            self._closed = True
            made, self._made = self._made, {}
            starts = list(self._starts.values())
        for place, runner in made.items():
            self._end(place, runner)
        if self._pool is not None:
            self._end(PROCESS, self._pool)
        futures.wait(starts, _CLOSE_S)

    def _end(self, place: str, runner: Runner) -> None:
        if place in self._given:
            return
        try:
            runner.close()
        except _ANY as error:  # the others are ended all the same
            LOGGER.warning("ending a runner raised %s", type(error).__name__)

    def _processes(self) -> ProcessPool:
        if self._pool is not None:
            return self._pool
        from toolseam.isolation._pool import ProcessPool

        with self._turn:
            if self._closed:
                raise NotStarted("closed")
            if self._pool is None:
                self._pool = ProcessPool(self._operator.process)
            return self._pool

    def _sandbox(self, tool: BoundTool) -> InSandbox:
        from toolseam.isolation._pool import InSandbox

        grants = self._grants(tool)
        lacking = self._lacking(tool, grants)
        if lacking:
            raise NotStarted("not_granted", lacking)
        granted = attrs.evolve(grants, read=(*grants.read, *_code_of(tool)))
        made = InSandbox(self._processes(), granted)
        self._sandboxes[tool.name] = made
        return made

    def _reach(self, place: str) -> ExecutorRunner | Future[None]:
        """Return the runner of an executor, or what tells that its start has ended."""
        with self._turn:
            if self._closed:
                raise NotStarted("closed")
            found = self._made.get(place)
            if found is not None and not found.refuses:
                return found
            if place in self._given:
                made = self._made[place] = ExecutorRunner(self._given[place])
                return made
            start = self._starts.get(place)
            if start is not None:
                return start
            away = self._away.get(place)
            if away is not None and monotonic() - away.since < _AGAIN_S:
                raise NotStarted(away.reason, away.detail)
            start = Future[None]()
            start.set_running_or_notify_cancel()  # who waits for it no more does not stop it
            # A start takes seconds: it is nobody's call, so no deadline ends it half-way.
            thread = threading.Thread(
                target=self._start, args=(place, found, start), name="toolseam-start", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:
                raise NotStarted("executor", "the machine gives no thread") from None
            self._starts[place] = start
            self._made.pop(place, None)
            return start

    def _start(self, place: str, before: Runner | None, start: Future[None]) -> None:
        """Make an executor anew, and say when that has ended."""
        made: ExecutorRunner | None = None
        reason, detail = "executor", "its start was broken off"
        try:
            if before is not None:
                self._end(place, before)
            made = ExecutorRunner(self._executor(place))
        except NotStarted as error:
            reason, detail = error.reason, error.detail
        finally:  # however it ends, somebody may wait for that
            with self._turn:
                if made is None:
                    self._away[place] = _Away(reason, detail, monotonic())
                elif not self._closed:
                    self._made[place], made = made, None
                del self._starts[place]
            if made is not None:  # the host was closed meanwhile
                self._end(place, made)
            start.set_result(None)

    def _grants(self, tool: BoundTool) -> Grants:
        """Return what the operator lets into a tool's sandbox."""
        table = self._operator.sandbox
        return table.get(tool.name) or table.get(f"group:{tool.spec.group}") or Grants()

    def _lacking(self, tool: BoundTool, grants: Grants) -> str:
        """Name what a tool needs and was not granted, and the table that would grant it."""
        settings: Any = self._own.of(tool)
        try:
            needs = getattr(settings, "sandbox_needs", None)
            wanted = Grants() if needs is None else Grants(**needs(tool.spec))
        except _ANY as error:
            return f"asking {tool.name} what it needs raised {short(type(error).__name__)}"
        readable = (*grants.read, *grants.write)
        lacking = [
            *(["network"] if wanted.network and not grants.network else []),
            *(f"read {path}" for path in wanted.read if not _within(path, readable)),
            *(f"write {path}" for path in wanted.write if not _within(path, grants.write)),
        ]
        return f"[sandbox.{tool.name}] grants no {', '.join(lacking)}" if lacking else ""

    def _executor(self, place: str) -> Executor:
        settings = self._operator.executors.get(place, ExecutorSettings())
        for _, make in self._plugins.implementations("toolseam_executor"):
            try:
                made: Executor | None = make(name=place, settings=settings)
            except ToolseamError as error:
                raise NotStarted("executor", short(str(error), 200)) from None
            except BaseException as error:  # noqa: BLE001 - another's code raises as it likes
                LOGGER.warning("making the executor %s raised %s", place, type(error).__name__)
                raise NotStarted("executor", f"making it raised {type(error).__name__}") from None
            if made is not None:
                return made
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
