"""What an application holds in its hand: `Host` (architecture, "What a host holds")."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs

from toolseam._consent import approve
from toolseam._context import Actor
from toolseam._conversation import Conversation
from toolseam._discovery import discover
from toolseam._endpoints import endpoint_of, provider_of
from toolseam._errors import ErrorCode, LoadError, SettingsError, publish
from toolseam._hooks import ToolSource
from toolseam._levels import DataClass, Zone
from toolseam._loading import load
from toolseam._placing import Places
from toolseam._plugin_settings import PluginSettings
from toolseam._policy import Policy, PolicyDecision, Receiver, raise_claims
from toolseam._rates import Rates
from toolseam._registry import Given, Registry
from toolseam._result import ToolError
from toolseam._run_control import waiting_runs
from toolseam._runners import Runners
from toolseam._seam import aperform, perform
from toolseam._session import Session, preview
from toolseam._settings import Settings, coded_settings, load_settings
from toolseam._state import HostState
from toolseam._text import short
from toolseam._trace import LOGGER, RunTrace
from toolseam._wrappers import HostPlugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Executor
    from types import TracebackType

    from toolseam._approval import Approval, Preview
    from toolseam._binding import BoundTool
    from toolseam._discovery import Discovery
    from toolseam._entrypoints import Record
    from toolseam._held import HeldRun
    from toolseam._messages import Provider
    from toolseam._result import ToolResult
    from toolseam._runs import RunChange, RunStep, WaitingRun
    from toolseam._session import Arguments
    from toolseam._settings_keys import Mount
    from toolseam._state import Violation
    from toolseam._steps import Step
    from toolseam._trace import Listener

_CODE = "host code"
_OWN_STEPS = 256


class Host:
    """Plugins loaded, settings read, tools to be called; thread-safe, and a context manager.

    `Host.load()` finds installed plugins. `Host(tools=[...])` takes modules and objects that
    code hands over, and looks for nothing: for frozen applications, notebooks and tests.

    Args:
        tools: tool plugins, which counts as the operator's word for them: they are enabled.
        plugins: host plugins: wrappers, and hooks of `toolseam.plugins`.
        settings: keys of the operator's file.
        plugin_settings: instances of plugins' settings classes, instead of the files' tables.
        executors: by name, what `[runs_in]` may name beside the operator's `[executors]`; they
            stay the caller's to shut down.

    Raises `LoadError` for a plugin that is refused, `SettingsError` for a bad key.
    """

    def __init__(
        self,
        tools: Iterable[object] = (),
        plugins: Iterable[object] = (),
        *,
        settings: Mapping[str, Any] | None = None,
        plugin_settings: Iterable[object] = (),
        executors: Mapping[str, Executor] | None = None,
    ) -> None:
        self._build(coded_settings(settings), None, tools, plugins, plugin_settings, executors)

    @classmethod
    def load(  # noqa: PLR0913 - what a host is made of
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        set: str | None = None,  # noqa: A002 - the word of the settings file
        trust: Iterable[str] = (),
        settings: Mapping[str, Any] | None = None,
        operator_file: str | os.PathLike[str] | None = None,
        tools: Iterable[object] = (),
        plugins: Iterable[object] = (),
        plugin_settings: Iterable[object] = (),
        executors: Mapping[str, Executor] | None = None,
        mounts: bool = True,
    ) -> Self:
        """Return a host with the installed plugins; no tool is imported before it is wanted.

        Args:
            folder: the workspace, by default the current folder.
            set: one of the operator's `[sets]`.
            trust: distributions or entry points to trust besides those of the settings.
            settings: keys of the operator's file; they replace the file's.
            operator_file: instead of the operator's usual file.
            tools: further tools by code.
            plugins: further host plugins by code.
            plugin_settings: instances of plugins' settings classes.
            executors: by name, what `[runs_in]` may name; they stay the caller's to shut down.
            mounts: False connects to none of `[mounts]`.

        Raises `SettingsError` for a bad settings file, `LoadError` where `strict` is set and a
        plugin cannot be loaded.
        """
        place = Path.cwd() if folder is None else Path(folder)
        loaded = load_settings(place, operator_file=operator_file, overrides=settings)
        if trust:
            words = {**(settings or {}), "trust": [*loaded.operator.trust, *trust]}
            loaded = load_settings(place, operator_file=operator_file, overrides=words)
        if not mounts:
            unmounted = attrs.evolve(loaded.operator, mounts={})
            loaded = attrs.evolve(loaded, operator=unmounted)
        found = discover(loaded.selection(set), folder=str(place.absolute()))
        host = cls.__new__(cls)
        host._build(loaded, found, tools, plugins, plugin_settings, executors)  # noqa: SLF001 - ours
        return host

    def _build(
        self,
        settings: Settings,
        found: Discovery | None,
        tools: Iterable[object],
        plugins: Iterable[object],
        plugin_settings: Iterable[object],
        executors: Mapping[str, Executor] | None,
    ) -> None:
        self.settings = settings
        self.discovery = found
        own = PluginSettings(settings, {type(given): given for given in plugin_settings})
        records = () if found is None else found.records
        host_plugins = HostPlugins()
        self._plugin_records, owners = _load_plugins(records, host_plugins)
        for plugin in plugins:
            host_plugins.add(plugin, _CODE)

        self._runners = Runners(settings.operator, own, host_plugins, executors or {})
        runs_in, most_s = settings.operator.runs_in, settings.limits.timeout_s
        places = Places(runs_in, self._runners, own.words, most_s)

        def strengthen(tool: BoundTool) -> None:
            raise_claims(tool, settings.tools.get(tool.name), _floor(own, tool))
            places.put(tool)

        registry = Registry(
            [r for r in records if r.kind == "tool"],
            [Given(plugin, _CODE, "") for plugin in tools],
            strengthen,
        )
        # By code means by the operator's word; what plugins make at run time is off like any write.
        by_code = frozenset(t.name for t in registry.loaded())
        self._sources: list[ToolSource] = []
        self._closed = False
        try:
            self._give_tools(registry, host_plugins, owners)
            self._start(settings, registry, host_plugins, own, by_code)
        except BaseException:
            self._close_sources()
            raise

    def _start(
        self,
        settings: Settings,
        registry: Registry,
        host_plugins: HostPlugins,
        own: PluginSettings,
        by_code: frozenset[str],
    ) -> None:
        mounted = _mounted(settings.operator.mounts, registry.loaded())
        enabled = frozenset({*settings.operator.enable, *by_code, *mounted})
        self._state = HostState(
            registry=registry,
            policy=Policy(
                enabled=enabled,
                disabled=frozenset({*settings.operator.disable, *settings.workspace.disable}),
                disabled_groups=settings.disabled_groups,
                observe=settings.enforce == "observe",
            ),
            plugins=host_plugins,
            limits=settings.limits,
            timeout_s=settings.limits.timeout_s,
            threads=settings.limits.threads,
            waiting=settings.limits.waiting,
            settings_of=own.of,
            secrets=self._secret,
            stop_on_contract_error=settings.on_contract_error == "stop",
            rates=Rates(settings.limits.per_minute) if settings.limits.per_minute else None,
            four_eyes=settings.four_eyes,
            seam=(perform, aperform),
        )
        self._trace = RunTrace(self._state.listeners, keep=_OWN_STEPS)
        self._system = self._own(Actor.system)
        if settings.operator.strict or settings.workspace.strict:
            self._refuse_faults()
        for _, told in host_plugins.implementations("toolseam_step"):
            self._state.listeners.add(_teller(told))
        self._open_store(host_plugins)
        self._tell_plugins("toolseam_open")

    # -- calling -------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        actor: Actor | None = None,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """Call a tool from the host's own code: a session of its own, in the zone `local` (§5).

        Args:
            name: the tool's name or alias.
            arguments: a mapping, or JSON text of at most 1,000,000 bytes.
            actor: who acts; without one only tools of class `public_content` answer.
            approval: what `approve` gave for exactly this call; a write needs it.
            timeout: an explicit deadline in seconds, below 86,400.

        Raises `RuntimeError` for an async tool while an event loop runs here, `ValueError` for a
        timeout that no clock can wait for.
        """
        conversation = self._system if actor is Actor.system else self._own(actor)
        return perform(conversation, name, arguments, approval, timeout).result

    async def acall(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        actor: Actor | None = None,
        approval: Approval | None = None,
        timeout: float | None = None,
    ) -> ToolResult:
        """Await a tool; a sync one runs in a worker thread. Else like `call`."""
        conversation = self._system if actor is Actor.system else self._own(actor)
        return (await aperform(conversation, name, arguments, approval, timeout)).result

    def session(
        self,
        *,
        actor: Actor | None = None,
        tools: Iterable[str] | None = None,
        zone: Zone | str | None = None,
        keep: int | None = None,
    ) -> Session:
        """Return a new conversation.

        Args:
            actor: who acts.
            tools: an allow-list of names and `group:<name>`; None is no narrowing, empty is no
                tool.
            zone: where the receiver of wire text stands, by default the settings' `zone`.
            keep: steps that stay in `session.steps`, the last ones; None is all of them, for a
                conversation that ends.
        """
        if isinstance(tools, str):
            raise TypeError("tools are a collection of names, not one text")
        place = Zone(zone) if zone is not None else Zone(self.settings.operator.zone)
        allowed = None if tools is None else frozenset(tools)
        made = Conversation(self._state, actor=actor, zone=place, tools=allowed, keep=keep)
        return Session(made)

    def provider(
        self,
        name: str,
        *,
        base_url: str | None = None,
        zone: Zone | str | None = None,
        api_key_env: str | None = None,
        timeout_s: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Provider:
        """Return somebody whom a run can ask: `host.provider("openai:gpt-5")`.

        What is given here goes before the operator's `[providers.<name>]`.

        Args:
            name: `NAME:MODEL`, or a name whose settings say the model. A name is one of the
                settings, or a kind: `openai` (chat completions, which many servers speak),
                `openai_responses`, or what a host plugin gives.
            base_url: instead of the maker's own address.
            zone: where it stands; undeclared is `external_global`.
            api_key_env: the environment variable that holds the key, which a `base_url` is sent
                only if it is named; absent is the maker's usual one.
            timeout_s: seconds that an answer may take.
            options: of the kind's own, beside those of the settings.

        Raises `ProviderError` where nobody gives it, its extra is missing or its key is not set.
        """
        changes = {
            "base_url": base_url,
            "zone": zone,
            "api_key_env": api_key_env,
            "timeout_s": timeout_s,
            "options": options,
        }
        endpoint = endpoint_of(self.settings.operator.providers, name, changes)
        return provider_of(self._state.plugins, endpoint)

    def providers_of(self, waiting: WaitingRun) -> tuple[Provider, ...]:
        """Return whom a run that waits asked, made again at the same addresses.

        None of them comes back where one was not made by `provider`: whoever made it has to
        resume the run. Raises `ProviderError` as `provider` does.
        """
        made = [
            self.provider(name, **endpoint)
            for name, endpoint in zip(waiting.providers, waiting.endpoints, strict=True)
            if endpoint is not None
        ]
        return tuple(made) if len(made) == len(waiting.providers) else ()

    # -- approval ------------------------------------------------------------------------------

    def preview(
        self, name: str, arguments: Arguments = None, *, actor: Actor | None = None
    ) -> Preview:
        """Return what an approver has to see of a call, made under the identity of `actor`.

        Raises `ToolError` where the call would be refused before any approval.
        """
        return preview(self._own(actor), name, arguments)

    def approve(self, preview: Preview, *, actor: Actor) -> Approval:
        """Approve exactly the call of `preview`; it is used up by that call.

        Raises `ToolError` `permission_denied` if `actor` is a service account, or may not make
        the call himself; or if a session made the preview, he is its owner, and the operator
        wants somebody else (`four_eyes`).
        """
        return approve(self._state, preview, actor)

    # -- looking -------------------------------------------------------------------------------

    def tools(self) -> tuple[BoundTool, ...]:
        """Return every tool, loaded, by name; whether one is offered is the session's matter."""
        return self._state.registry.tools()

    def tool(self, name: str) -> BoundTool | None:
        """Return one tool by name or alias, loaded, or None."""
        return self._state.registry.get(name)

    def decide(self, tool: BoundTool, *, actor: Actor | None, zone: Zone | str) -> PolicyDecision:
        """Return the gate's answer for a tool, an actor and a zone."""
        return self._state.policy.decide(tool, Receiver(actor, Zone(zone)))

    def waiting_runs(self) -> tuple[WaitingRun, ...]:
        """Return the runs that wait for people here, who has waited longest first."""
        return waiting_runs(self._state)

    def held_runs(self) -> tuple[HeldRun, ...]:
        """Return the runs that are held since nobody knows what a write did, the oldest first."""
        return self._state.store.held_runs()

    @property
    def records(self) -> tuple[Record, ...]:
        """Every entry point that discovery found, with the status that it has by now."""
        return (*self._state.registry.records, *self._plugin_records)

    def health(self) -> tuple[tuple[str, str, str], ...]:
        """Return how mounts and the like stand: name, `ok`, `note` or `fault`, and a line each."""
        return tuple(line for source in self._sources for line in _health(source))

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Every breach of the contract since the start, oldest first."""
        return tuple(self._state.violations)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The last 256 attempts of the host's own code, oldest first."""
        return tuple(self._trace)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Tell `listener` every finished step and live note at once; returns what ends that."""
        return self._state.listeners.add(listener)

    def listen_to_runs(self, listener: Callable[[RunStep | RunChange], None]) -> Callable[[], None]:
        """Tell `listener` how each run stands, and its steps that are no calls, at once.

        Returns what ends that.
        """
        return self._state.run_listeners.add(listener)

    def readmit(self, name: str) -> None:
        """Take the withdrawal of a tool for the host's life back; sessions keep theirs.

        Raises `LookupError` for a name that is no tool's.
        """
        tool = self._state.registry.get(name)
        if tool is None:
            message = f"there is no tool {name!r}"
            raise LookupError(message)
        self._state.readmit(tool.key)

    # -- ending --------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the host has been closed."""
        return self._closed

    def close(self) -> None:
        """Close what tools opened and let the worker threads end; once is enough."""
        if self._closed:
            return
        self._closed = True
        self._tell_plugins("toolseam_close")
        self._close_sources()
        self._runners.close()  # how a write ended that was at work is kept
        try:
            self._state.store.close()
        finally:
            self._state.resources.close()
            self._state.workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------

    def _own(self, actor: Actor | None) -> Conversation:
        return Conversation(self._state, actor=actor, zone=Zone.LOCAL, trace=self._trace)

    def _tell_plugins(self, hook: str) -> None:
        """Call a hook of every host plugin; one that raises is reported, never felt."""
        for plugin, call in self._state.plugins.implementations(hook):
            try:
                call(host=self)
            except (Exception, SystemExit) as error:  # noqa: BLE001
                kinds = short(type(plugin).__name__), short(type(error).__name__)
                LOGGER.warning("%s of a %s raised %s", hook, *kinds)

    def _open_store(self, plugins: HostPlugins) -> None:
        """Ask the host plugins where runs are kept; what one raises stops the start."""
        offered = plugins.implementations("toolseam_run_store")
        stores = [store for _, give in offered if (store := give(host=self)) is not None]
        if len(stores) > 1:
            for store in stores:
                store.close()
            raise LoadError("several plugins keep runs; name one of them in `trust`")
        for store in stores:
            self._state.store = store
            self._state.listeners.add(_teller(store.step))

    def _give_tools(
        self, registry: Registry, plugins: HostPlugins, owners: Mapping[int, Record]
    ) -> None:
        """Register what host plugins make at run time: all of a plugin, or nothing (P17)."""
        for plugin, make in plugins.implementations("toolseam_tools"):
            owner = owners.get(id(plugin))
            name, version = (_CODE, "") if owner is None else (owner.distribution, owner.version)
            operator = self.settings.operator
            table = dict(operator.plugins.get(name, {}))
            try:
                made = make(settings=table, operator=operator)
                if isinstance(made, ToolSource):
                    self._sources.append(made)
                    _give_each(registry, made, name, version)
                else:
                    registry.give(Given(tool, name, version) for tool in made)
            except (Exception, SystemExit) as error:
                if owner is None:
                    raise
                plugins.remove(plugin)
                told = str(error) if isinstance(error, LoadError) else short(type(error).__name__)
                broken = owner.with_status("broken", "refused", f"toolseam_tools: {told}")
                kept = (r for r in self._plugin_records if r is not owner)
                self._plugin_records = (*kept, broken)

    def _close_sources(self) -> None:
        for source in self._sources:
            try:
                source.close()
            except (Exception, SystemExit) as error:  # noqa: BLE001
                kinds = short(type(source).__name__), short(type(error).__name__)
                LOGGER.warning("close of a %s raised %s", *kinds)

    def _secret(self, tool: BoundTool, name: str) -> str:
        """Return a secret that the operator maps to an environment variable."""
        variable = self.settings.operator.secrets.get(name)
        value = None if variable is None else os.environ.get(variable)
        if not value:
            message = f"The secret that {tool.name} needs is not configured."
            raise ToolError(message, ErrorCode.UNAVAILABLE, metadata={"reason": "no_secret"})
        return value

    def _refuse_faults(self) -> None:
        from toolseam._discovery import Discovery

        self._state.registry.load_all()
        notes = () if self.discovery is None else self.discovery.notes
        faults = Discovery(self.records, notes=notes).faults()
        if faults:
            message = "strict is set, and:\n" + "\n".join(faults)
            raise LoadError(message)


publish(globals(), "Host")


def _floor(own: PluginSettings, tool: BoundTool) -> DataClass | None:
    """Return the class to which the plugin's own settings raise its tool, if they do."""
    wanted = tool.spec.settings
    if wanted is None or not hasattr(wanted, "data_class_of"):
        return None
    return DataClass(own.of(tool).data_class_of(tool.spec))


def _health(source: ToolSource) -> list[tuple[str, str, str]]:
    try:
        return list(source.health())
    except (Exception, SystemExit) as error:  # noqa: BLE001
        kind, raised = short(type(source).__name__), short(type(error).__name__)
        return [(kind, "fault", f"health raised {raised}")]


def _give_each(registry: Registry, source: ToolSource, name: str, version: str) -> None:
    """Register what a source gives: one that is refused takes no other with it."""
    for tool in source:
        try:
            registry.give([Given(tool, name, version)])
        except (LoadError, SettingsError) as error:
            source.refused(tool, short(str(error), 400))


def _mounted(mounts: Mapping[str, Mount], tools: Iterable[BoundTool]) -> Iterator[str]:
    """Give the names of mounted tools that the operator enabled where he mounts their server."""
    for tool in tools:
        mount = mounts.get(tool.name.partition("__")[0])
        said = None if mount is None else mount.tools.get(tool.spec.remote_name or "")
        if said is not None and said.enabled and "__" in tool.name:
            yield tool.name


def _load_plugins(
    records: Iterable[Record], plugins: HostPlugins
) -> tuple[tuple[Record, ...], dict[int, Record]]:
    """Import the host plugins that the operator named; also return whose each one is."""
    judged: list[Record] = []
    owners: dict[int, Record] = {}
    for found in records:
        if found.kind != "plugin":
            continue
        record, plugin = load(found)
        if plugin is not None:
            try:
                plugins.add(plugin, record.distribution)
                owners[id(plugin)] = record
            except LoadError as error:
                record = record.with_status("broken", "refused", str(error))
        judged.append(record)
    return tuple(judged), owners


def _teller(told: Callable[..., object]) -> Listener:
    from toolseam._steps import Step

    def tell(what: object) -> None:
        if isinstance(what, Step):
            told(step=what)

    return tell
