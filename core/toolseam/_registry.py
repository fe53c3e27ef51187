"""Names become bound tools: each is loaded when it is first wanted, all or nothing (§2)."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from toolseam._binding import BoundTool, bind
from toolseam._errors import LoadError, SettingsError
from toolseam._jsontext import encode
from toolseam._loading import load
from toolseam._spec import schema_text
from toolseam._text import mend, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolseam._entrypoints import Record

_SECRET_CHARACTERS = 8


class Given(NamedTuple):
    """A plugin that code handed over: a module or an object, and whose it is."""

    plugin: object
    distribution: str
    version: str


class Registry:
    """Which tools there are. Loading one changes nothing for the others; thread-safe.

    Args:
        records: what discovery found, one a tool entry point.
        given: plugins handed over by code; they are bound at once and a bad one raises.
        strengthen: makes a fresh tool as strict as the settings want it.
    """

    def __init__(
        self,
        records: Iterable[Record],
        given: Iterable[Given],
        strengthen: Callable[[BoundTool], None],
    ) -> None:
        self._turn = threading.RLock()
        self._strengthen = strengthen
        self._records: list[Record] = list(records)
        self._waiting = {r.name: i for i, r in enumerate(self._records) if r.status == "found"}
        self._bound: dict[str, BoundTool] = {}
        self._aliases: dict[str, BoundTool] = {}
        self.give(given)

    def give(self, given: Iterable[Given]) -> None:
        """Bind plugins that code hands over, all of them or none; raises `LoadError`."""
        plugins = list(given)
        if not plugins:
            return
        secrets = _environment_secrets()
        with self._turn:
            before = dict(self._bound), dict(self._aliases)
            try:
                for plugin, distribution, version in plugins:
                    tool = bind(plugin, name=None, distribution=distribution, version=version)
                    self._take(tool, secrets)
            except BaseException:
                self._bound, self._aliases = before
                raise

    def _take(self, tool: BoundTool, secrets: tuple[str, ...]) -> None:
        rival = self._bound.get(tool.name)
        if rival is not None and rival.key == tool.key:
            return
        if rival is not None or tool.name in self._waiting:
            message = f"two tools are named {tool.name!r}; give one of them another name"
            raise LoadError(message)
        self._accept(tool, secrets)

    def get(self, name: str) -> BoundTool | None:
        """Return the tool of a canonical name or alias, loading it if need be, or None."""
        tool = self._bound.get(name)
        if tool is not None:
            return tool
        with self._turn:
            if name in self._waiting:
                self._load(name, _environment_secrets())
                return self._bound.get(name)
            # An alias is known only once its tool is: the rare way, taken once a name.
            self.load_all()
            return self._bound.get(name) or self._aliases.get(name)

    def load_all(self) -> None:
        """Load everything that waits; a broken plugin stops nobody else."""
        with self._turn:
            secrets = _environment_secrets() if self._waiting else ()
            for name in sorted(self._waiting):
                self._load(name, secrets)

    def tools(self) -> tuple[BoundTool, ...]:
        """Return all tools, loaded, by name."""
        self.load_all()
        return self.loaded()

    def loaded(self) -> tuple[BoundTool, ...]:
        """Return the tools that are bound by now, by name."""
        bound = self._bound
        return tuple(bound[name] for name in sorted(bound))

    @property
    def records(self) -> tuple[Record, ...]:
        """What discovery found, with the status that each has by now."""
        return tuple(self._records)

    def _load(self, name: str, secrets: tuple[str, ...]) -> None:
        index = self._waiting.pop(name)
        record, plugin = load(self._records[index])
        if plugin is not None:
            try:
                tool = bind(
                    plugin,
                    name=record.name,
                    distribution=record.distribution,
                    version=record.version,
                )
                self._accept(tool, secrets)
            except LoadError as error:
                record = record.with_status("broken", "refused", str(error))
            except SettingsError as error:
                record = record.with_status("broken", "settings", short(str(error), 400))
            except Exception as error:  # noqa: BLE001 - a settings class may raise as it likes
                record = record.with_status("broken", "settings", short(type(error).__name__))
        self._records[index] = record

    def _accept(self, tool: BoundTool, secrets: tuple[str, ...]) -> None:
        _refuse_secrets(tool, secrets)
        for alias in tool.spec.aliases:
            taken = alias in self._waiting or alias in self._bound or alias in self._aliases
            if taken or any(alias == record.name for record in self._records):
                message = f"the alias {alias!r} is another tool's name"
                raise LoadError(message)
        if tool.name in self._aliases:
            message = f"the name {tool.name!r} is another tool's alias"
            raise LoadError(message)
        self._strengthen(tool)
        self._bound[tool.name] = tool
        self._aliases.update(dict.fromkeys(tool.spec.aliases, tool))


def _environment_secrets() -> tuple[str, ...]:
    """Return the values of sensitive environment variables, plain and as JSON text has them."""
    from toolseam.guards import is_sensitive_name

    values = {
        value
        for name, value in os.environ.items()
        if len(value) >= _SECRET_CHARACTERS and is_sensitive_name(name)
    }
    return (*values, *(encode(mend(value)).decode()[1:-1] for value in values))


def _refuse_secrets(tool: BoundTool, secrets: tuple[str, ...]) -> None:
    """Refuse a specification that would tell a secret to every provider (security-review H13)."""
    from toolseam.guards import mask_secrets

    told = f"{tool.spec.description}\n{schema_text(tool.spec).decode()}"
    _, masked = mask_secrets(told)
    if masked:
        message = "its specification holds something of a secret's shape"
        raise LoadError(message)
    if any(secret in told for secret in secrets):
        message = "its specification holds the value of a sensitive environment variable"
        raise LoadError(message)
