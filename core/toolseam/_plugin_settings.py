"""A plugin's own settings: its attrs class, filled from the files that may speak to it.

A third party's class gets `[plugins.<distribution>]` of the operator's file. The builtins' class
gets `[workspace]` of the workspace file, over which `[plugins.toolseam]` goes; a field whose
metadata says `operator` is taken from the latter alone. A field named like a fact of the host
(`folder`, `state`, `trusted`, `tables_allow`, `tables_deny`) is set by the host and by nobody else.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam._errors import SettingsError
from toolseam._jsontext import ARGUMENT_BYTES, TooLarge, Unencodable, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam._binding import BoundTool
    from toolseam._settings import Settings

BUILTIN = "toolseam"
OPERATOR = "operator"


class PluginSettings:
    """Structures each plugin's settings once, when they are first asked for; thread-safe."""

    def __init__(self, settings: Settings, given: Mapping[type, object]) -> None:
        self._settings = settings
        self._given = dict(given)
        self._turn = threading.Lock()
        self._made: dict[tuple[str, type], object] = {}
        self._words: dict[tuple[str, type], str] = {}

    def of(self, tool: BoundTool) -> Any:  # noqa: ANN401 - the plugin's own class
        """Return the settings of a tool's plugin, None if it has none; raises `SettingsError`."""
        wanted = tool.spec.settings
        if wanted is None:
            return None
        if wanted in self._given:
            return self._given[wanted]
        key = (tool.distribution, wanted)
        with self._turn:
            if key not in self._made:
                self._made[key] = self._make(tool.distribution, wanted)
            return self._made[key]

    def words(self, tool: BoundTool) -> str | None:
        """Return what the settings of a tool's plugin are made of, for wherever its body runs.

        JSON text: the table, the host's facts, the file and the key that errors name. None for a
        tool without settings; `SettingsError` for what no text can say.
        """
        wanted = tool.spec.settings
        if wanted is None:
            return None
        if wanted in self._given:
            raise SettingsError("settings given by code go to no other process")
        whose = (tool.distribution, wanted)
        if whose not in self._words:  # each call that runs apart asks
            self._words[whose] = self._text(*whose)
        return self._words[whose]

    def _text(self, distribution: str, wanted: type) -> str:
        own, facts, file, key = self._table(distribution, wanted)
        if "folder" in facts:
            facts["folder"] = str(facts["folder"])
        if "state" in facts:
            from toolseam.guards import state_folder

            # Here it can be found; elsewhere home and variables are others.
            facts["state"] = str(state_folder(Path(self._settings.folder or ".").resolve()))
        try:
            return encode([own, facts, file, key], limit=ARGUMENT_BYTES).decode()
        except (Unencodable, TooLarge):
            message = "settings that JSON cannot hold, say a date, go to no other process"
            raise SettingsError(message, key=key) from None

    def _make(self, distribution: str, wanted: type) -> object:
        from toolseam._settings_structure import structure

        own, facts, file, key = self._table(distribution, wanted)
        made: Any = structure(own, cast("type[Any]", wanted), file, key)
        return attrs.evolve(made, **facts) if facts else made

    def _table(
        self, distribution: str, wanted: type
    ) -> tuple[dict[str, Any], dict[str, object], str, str]:
        settings = self._settings
        own = dict(settings.operator.plugins.get(distribution, {}))
        facts: dict[str, object] = {}
        if distribution == BUILTIN:
            facts = self._facts(wanted)
            self._refuse(wanted, facts)
            described = dict(settings.workspace.workspace)
            own = described | own
        for key in facts:
            if key in own:
                raise SettingsError(f"{key} is set by the host", key=f"plugins.toolseam.{key}")
        file = str(settings.workspace_file or settings.operator_file)
        return own, facts, file, "workspace" if facts else f"plugins.{distribution}"

    def _facts(self, wanted: type) -> dict[str, object]:
        settings = self._settings
        facts: dict[str, object] = {
            "folder": settings.folder or Path.cwd(),
            "state": None,
            "trusted": settings.workspace_trusted,
            "tables_allow": settings.operator.tables.allow,
            "tables_deny": settings.denied_tables,
        }
        names = {a.name for a in attrs.fields(wanted)}
        return {name: fact for name, fact in facts.items() if name in names}

    def _refuse(self, wanted: type, facts: Mapping[str, object]) -> None:
        """Hold the workspace file to what it may describe."""
        fields = attrs.fields(wanted)
        reserved = {a.name for a in fields if a.metadata.get(OPERATOR)} | set(facts)
        for key in self._settings.workspace.workspace:
            if key in reserved:
                message = f"a workspace may not set {key}; it belongs in the operator's file"
                raise SettingsError(
                    message, file=self._settings.workspace_file, key=f"workspace.{key}"
                )
