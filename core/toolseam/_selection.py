"""Which plugins the operator wants: read from the settings before anything is imported.

The one place that knows what trust, allow, block, disable, prefer, sets and strict mean.
`toolseam list` passes through here, hence no attrs; `_settings` describes the same keys.
"""

from __future__ import annotations

import os

from toolseam._entrypoints import canonical
from toolseam._settings_files import (
    is_list,
    is_table,
    operator_file,
    settings_error,
    trust_file,
    workspace_file,
)

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any, Final

    from toolseam._entrypoints import Record
    from toolseam._settings_files import SettingsFile

OPERATOR_ONLY = (
    "allow",
    "ask",
    "enable",
    "executors",
    "mcp",
    "mounts",
    "plugins",
    "prefer",
    "process",
    "providers",
    "runs_in",
    "sandbox",
    "secrets",
    "sets",
    "trust",
    "trusted_workspaces",
    "zone",
)
"""Keys that a workspace file may not hold: each of them could widen what is allowed."""

WORKSPACE_KEYS = (
    "approval",
    "audit",
    "block",
    "disable",
    "enforce",
    "groups",
    "limits",
    "on_contract_error",
    "strict",
    "tables",
    "tools",
    "workspace",
)
"""Keys that a workspace file may hold; what it says with them may only narrow."""


MOUNTING = "mcp"
"""The host plugin of our own that mounts servers; `[mounts]` names it."""


class Selection:
    """The operator's word on plugins, narrowed by the workspace.

    Names are those of distributions or entry points, compared in their PEP 503 form. `allows`
    holds one group of names for each allow-list in force (none: no narrowing); `preferred` maps
    a tool to the distribution that may have its name; `places` are trusted path entries;
    `mounts` says that servers are mounted; `named` pairs each setting with the name it holds, to
    find those that nothing answers to; `ignored` pairs a workspace file with a key that it may not
    hold.
    """

    __slots__ = (
        "allows",
        "blocked",
        "disabled",
        "everything",
        "ignored",
        "mounts",
        "named",
        "places",
        "preferred",
        "strict",
        "trusted",
    )

    def __init__(
        self,
        *,
        trust: Iterable[str] = (),
        allow: Iterable[Iterable[str]] = (),
        block: Iterable[str] = (),
        disable: Iterable[str] = (),
        prefer: Mapping[str, str] | None = None,
        strict: bool = False,
        mounts: bool = False,
        ignored: Iterable[tuple[str, str]] = (),
    ) -> None:
        trust, block, disable = tuple(trust), tuple(block), tuple(disable)
        allow, prefer = tuple(tuple(names) for names in allow), prefer or {}
        self.places: Final = frozenset(name for name in trust if os.path.isabs(name))
        self.everything: Final = "*" in trust
        words = [name for name in trust if name != "*" and name not in self.places]
        self.trusted: Final = _canonical(words)
        self.allows: Final = tuple(_canonical(names) for names in allow)
        self.blocked: Final = _canonical(block)
        self.disabled: Final = _canonical(disable)
        self.preferred: Final = {
            canonical(tool): canonical(distribution) for tool, distribution in prefer.items()
        }
        self.strict: Final = strict
        self.mounts: Final = mounts
        self.ignored: Final = tuple(ignored)
        self.named: Final = (
            *(("trust", name) for name in words),
            *(("allow", name) for names in allow for name in names),
            *(("block", name) for name in block),
            *(("disable", name) for name in disable),
            *(("prefer", name) for pair in prefer.items() for name in pair),
        )

    def verdict(self, record: Record) -> Record:
        """Give a record that was found the status that the operator's words give it."""
        if record.status != "found":
            return record
        names = {canonical(record.name), record.distribution}
        return self._refused(record, names) or self._unwanted(record, names) or record

    def _refused(self, record: Record, names: set[str]) -> Record | None:
        if not names.isdisjoint(self.blocked):
            return record.with_status("disabled", "blocked", "named in `block`")
        if not names.isdisjoint(self.trusted):
            return None
        if record.kind == "plugin":
            # Whoever names a server to be mounted has named what mounts it.
            mounting = self.mounts and record.builtin and record.name == MOUNTING
            return None if mounting else _unnamed_plugin(record)
        if record.builtin or self.everything:
            return None
        return record.with_status("untrusted", "not_trusted", _how_to_trust(record))

    def _unwanted(self, record: Record, names: set[str]) -> Record | None:
        if any(names.isdisjoint(allowed) for allowed in self.allows):
            return record.with_status("disabled", "not_allowed", "not named in `allow`")
        if record.kind == "tool" and canonical(record.name) in self.disabled:
            return record.with_status("disabled", "disabled", "named in `disable`")
        return None


def read_selection(
    folder: str | None = None,
    *,
    config: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    plugin_set: str | None = None,
) -> Selection:
    """Read the selection alone, as `toolseam list` and `doctor` do.

    What the workspace file may not say is left out and listed in `ignored`, not refused.

    Args:
        folder: the workspace.
        config: the operator's file; by default `config.toml` in his own folder.
        overrides: what host code or the command line says, see `load_settings`.
        plugin_set: the name of one of `[sets]`.

    Raises:
        SettingsError: the operator's file cannot be read, or has no such set.
    """
    operator = operator_file(config)
    ignored: list[tuple[str, str]] = []
    narrowing: Mapping[str, Any] = {}
    try:
        workspace = workspace_file(folder)
        narrowing = workspace.table
        ignored += [(str(workspace.path), key) for key in _widening(narrowing)]
        _ = workspace_words(narrowing, str(workspace.path))
    except Exception as fault:
        from toolseam._errors import SettingsError  # imports enum: only when something is wrong

        if not isinstance(fault, SettingsError):
            raise
        narrowing = {}
        ignored.append((str(fault.file or folder), str(fault)))
    return make_selection(
        operator_table(operator, trust_file(operator), overrides),
        narrowing,
        file=operator.path,
        plugin_set=plugin_set,
        ignored=ignored,
    )


def _widening(workspace: Mapping[str, Any]) -> Iterator[str]:
    """Give the keys of a workspace file that are not its to say, as far as they stand alone."""
    yield from (key for key in workspace if key not in WORKSPACE_KEYS)
    tables = workspace.get("tables")
    if is_table(tables) and "allow" in tables:
        yield "tables.allow"
    if workspace.get("enforce") == "observe":
        yield "enforce"


def operator_table(
    config: SettingsFile, trust: SettingsFile, overrides: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Join what the operator said in his file, through `toolseam trust`, and in host code.

    Trust given by the command is added to the file's. A key of `overrides` replaces the file's;
    where both are tables, name by name.
    """
    table = dict(config.table)
    where, there = config.path, trust.path
    _only(trust, "trust", "trusted_workspaces")
    if added := texts(trust.table, "trust", there):
        table["trust"] = [*texts(table, "trust", where), *added]
    if workspaces := texts_by_name(trust.table, "trusted_workspaces", there):
        table["trusted_workspaces"] = texts_by_name(table, "trusted_workspaces", where) | workspaces
    for key, value in (overrides or {}).items():
        both = is_table(value) and is_table(table.get(key))
        table[key] = {**table[key], **value} if both else value
    return table


def make_selection(
    operator: Mapping[str, Any],
    workspace: Mapping[str, Any],
    *,
    file: str | None = None,
    plugin_set: str | None = None,
    ignored: Iterable[tuple[str, str]] = (),
) -> Selection:
    """Make the selection out of the two tables; of the workspace's only what narrows is read.

    A set adds to `block` and `prefer`, and its `allow` narrows the one outside it further.

    Raises:
        SettingsError: a value has the wrong kind, or there is no such set.
    """
    chosen: Mapping[str, Any] = {}
    if plugin_set is not None:
        sets = table_of(operator, "sets", file)
        if plugin_set not in sets:
            known = ", ".join(sorted(sets)) or "none"
            message = f"no such set{near_miss(plugin_set, sets)}; there are: {known}"
            raise settings_error(message, file, f"sets.{plugin_set}")
        chosen = table_of(sets, plugin_set, file)
    block, disable, strict = workspace_words(workspace, None)
    return Selection(
        trust=texts(operator, "trust", file),
        allow=[texts(table, "allow", file) for table in (operator, chosen) if "allow" in table],
        block=(*texts(operator, "block", file), *texts(chosen, "block", file), *block),
        disable=(*texts(operator, "disable", file), *disable),
        prefer=texts_by_name(operator, "prefer", file) | texts_by_name(chosen, "prefer", file),
        strict=_switch(operator, "strict", file) or strict,
        mounts=bool(table_of(operator, "mounts", file)),
        ignored=ignored,
    )


def workspace_words(
    table: Mapping[str, Any], file: str | None
) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Read what a workspace may say about plugins: block, disable, strict."""
    return (
        texts(table, "block", file),
        texts(table, "disable", file),
        _switch(table, "strict", file),
    )


def near_miss(name: str, known: Collection[str]) -> str:
    """Say ``; did you mean 'x'?`` if a known name is close to `name`, else nothing."""
    from difflib import get_close_matches  # imports re; only for a mistake

    close = get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def texts(table: Mapping[str, Any], key: str, file: str | None) -> tuple[str, ...]:
    """Read a list of texts; absent is empty."""
    value = table.get(key, [])
    items = tuple(value) if is_list(value) else (None,)
    words = tuple(item for item in items if isinstance(item, str))
    if len(words) != len(items):
        raise settings_error("expected a list of texts", file, key)
    return words


def texts_by_name(table: Mapping[str, Any], key: str, file: str | None) -> dict[str, str]:
    """Read a table of texts; absent is empty."""
    value = table_of(table, key, file)
    if not all(isinstance(item, str) for item in value.values()):
        raise settings_error("expected a table of texts", file, key)
    return dict(value)


def table_of(table: Mapping[str, Any], key: str, file: str | None) -> Mapping[str, Any]:
    """Read a table; absent is empty."""
    value = table.get(key, {})
    if not is_table(value):
        raise settings_error("expected a table", file, key)
    return value


def _switch(table: Mapping[str, Any], key: str, file: str | None) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise settings_error("expected true or false", file, key)
    return value


def _only(file: SettingsFile, *keys: str) -> None:
    for key in file.table:
        if key not in keys:
            raise settings_error(f"unknown key{near_miss(key, keys)}", file.path, key)


def _canonical(names: Iterable[str]) -> frozenset[str]:
    return frozenset(canonical(name) for name in names)


def _how_to_trust(record: Record) -> str:
    return f"name it with `toolseam trust {record.distribution}`"


def _unnamed_plugin(record: Record) -> Record:
    """Leave a host plugin out until it is named: `"*"` opens tools, not what sees every call."""
    if record.builtin:
        return record.with_status("disabled", "not_named", f"name it in `trust`: '{record.name}'")
    return record.with_status("untrusted", "not_trusted", _how_to_trust(record))
