"""The operator's and the workspace's settings, joined: the workspace describes and may narrow.

What each file may hold is in `_settings_keys`, what the names of plugins mean in `_selection`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from toolseam._levels import Privacy
from toolseam._selection import OPERATOR_ONLY, Selection, make_selection, operator_table
from toolseam._settings_files import is_table, settings_error, trust_file
from toolseam._settings_files import operator_file as read_operator
from toolseam._settings_files import workspace_file as read_workspace
from toolseam._settings_keys import (
    Audit,
    AuditLevel,
    Limits,
    OperatorSettings,
    ToolRules,
    WorkspaceSettings,
)
from toolseam._settings_structure import structure

if TYPE_CHECKING:
    from toolseam._errors import SettingsError
    from toolseam._settings_files import SettingsFile

_RATES = "per_minute"


@attrs.frozen
class Settings:
    """What holds: both files and the host's own words together.

    `tools`, `limits`, `audit`, `enforce` and `on_contract_error` are the stricter of both files;
    `workspace_trusted` says that the operator trusted this folder with this very file; `words`
    are the two tables as they were written.
    """

    operator: OperatorSettings
    workspace: WorkspaceSettings
    folder: Path | None
    operator_file: Path | None
    workspace_file: Path | None
    workspace_trusted: bool
    tools: Mapping[str, ToolRules]
    limits: Limits
    audit: Audit
    on_contract_error: Literal["continue", "stop"]
    enforce: Literal["enforce", "observe"]
    words: tuple[Mapping[str, Any], Mapping[str, Any]] = attrs.field(repr=False)

    @property
    def disabled_groups(self) -> frozenset[str]:
        """Groups that either file disables."""
        return frozenset(self.operator.groups.disable + self.workspace.groups.disable)

    @property
    def four_eyes(self) -> bool:
        """Whether either file wants somebody else than the owner of a run to approve."""
        return self.operator.approval.four_eyes or self.workspace.approval.four_eyes

    @property
    def denied_tables(self) -> tuple[str, ...]:
        """Tables that either file denies."""
        return self.operator.tables.deny + self.workspace.tables.deny

    def selection(self, plugin_set: str | None = None) -> Selection:
        """Make the plugin selection, of one of `[sets]` if it is named.

        Raises:
            SettingsError: there is no such set.
        """
        operator, workspace = self.words
        file = None if self.operator_file is None else str(self.operator_file)
        return make_selection(operator, workspace, file=file, plugin_set=plugin_set)


def load_settings(
    folder: str | os.PathLike[str] | None = None,
    *,
    operator_file: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Read, check and join the operator's and the workspace's file.

    Args:
        folder: the workspace; None: there is none.
        operator_file: instead of `$XDG_CONFIG_HOME/toolseam/config.toml`; must exist.
        overrides: keys of the operator's file given by host code or the command line. They
            replace the file's; where both are tables, name by name.

    Raises:
        SettingsError: names file, dotted key and what was expected; for a key by which a
            workspace would widen what the operator allows, both files.
    """
    place = None if folder is None else os.fspath(Path(folder).absolute())
    config = read_operator(None if operator_file is None else os.fspath(operator_file))
    local = read_workspace(place)
    structure(overrides or {}, OperatorSettings, None)
    words = operator_table(config, trust_file(config), overrides)
    operator = structure(words, OperatorSettings, config.path)
    _refuse_operator_keys(local, config)
    workspace = structure(local.table, WorkspaceSettings, local.path)
    _refuse_widening(operator, workspace, local, config)
    answers = {operator.on_contract_error, workspace.on_contract_error}
    return Settings(
        operator=operator,
        workspace=workspace,
        folder=None if place is None else Path(place),
        operator_file=Path(str(config.path)),
        workspace_file=Path(str(local.path)) if local.exists else None,
        workspace_trusted=place is not None and _is_trusted(place, local, operator),
        tools=_strictest(operator.tools, workspace.tools),
        limits=_joined_limits(operator, workspace, local),
        audit=_joined_audit(operator.audit, *_said_level(workspace, local)),
        on_contract_error="stop" if "stop" in answers else "continue",
        enforce=operator.enforce,
        words=(words, local.table),
    )


def coded_settings(words: Mapping[str, Any] | None = None) -> Settings:
    """Make settings of what host code says alone: no file is looked for.

    Raises:
        SettingsError: names the dotted key and what was expected.
    """
    operator = structure(words or {}, OperatorSettings, None)
    return Settings(
        operator=operator,
        workspace=WorkspaceSettings(),
        folder=None,
        operator_file=None,
        workspace_file=None,
        workspace_trusted=False,
        tools=operator.tools,
        limits=operator.limits,
        audit=_joined_audit(operator.audit),
        on_contract_error=operator.on_contract_error,
        enforce=operator.enforce,
        words=(words or {}, {}),
    )


def _is_trusted(place: str, local: SettingsFile, operator: OperatorSettings) -> bool:
    trusted = operator.trusted_workspaces.get(os.path.realpath(place))
    return trusted is not None and trusted == local.digest()


def _given_limits(workspace: WorkspaceSettings, local: SettingsFile) -> dict[str, Any]:
    return {name: getattr(workspace.limits, name) for name in local.table.get("limits", {})}


def _joined_limits(
    operator: OperatorSettings, workspace: WorkspaceSettings, local: SettingsFile
) -> Limits:
    given = _given_limits(workspace, local)
    given[_RATES] = {**operator.limits.per_minute, **workspace.limits.per_minute}
    return attrs.evolve(operator.limits, **given)


def _said_level(workspace: WorkspaceSettings, local: SettingsFile) -> tuple[str, ...]:
    """Return the level that a workspace's file says, if it does."""
    return (workspace.audit.level,) if "level" in local.table.get("audit", {}) else ()


def _joined_audit(operator: Audit, *words: str) -> Audit:
    return attrs.evolve(operator, level=Privacy.strictest(operator.level, *words).value)


def _refuse_operator_keys(local: SettingsFile, config: SettingsFile) -> None:
    for key in OPERATOR_ONLY:
        if key in local.table:
            raise _widens(key, local, config)
    tables = local.table.get("tables")
    if is_table(tables) and "allow" in tables:
        raise _widens("tables.allow", local, config)
    audit = local.table.get("audit")
    for key in attrs.fields_dict(Audit).keys() - attrs.fields_dict(AuditLevel).keys():
        if is_table(audit) and key in audit:
            raise _widens(f"audit.{key}", local, config)


def _refuse_widening(
    operator: OperatorSettings,
    workspace: WorkspaceSettings,
    local: SettingsFile,
    config: SettingsFile,
) -> None:
    for name, value in _given_limits(workspace, local).items():
        if name != _RATES and value > getattr(operator.limits, name):
            raise _widens(f"limits.{name}", local, config)
    for name, rate in workspace.limits.per_minute.items():
        if rate > operator.limits.per_minute.get(name, rate):
            raise _widens(f"limits.{_RATES}.{name}", local, config)
    if workspace.enforce == "observe":
        raise _widens("enforce", local, config)
    weaker = local.table.get("on_contract_error") == "continue"
    if weaker and operator.on_contract_error == "stop":
        raise _widens("on_contract_error", local, config)
    kept = Privacy.strictest(operator.audit.level).rank
    if any(Privacy.strictest(word).rank > kept for word in _said_level(workspace, local)):
        raise _widens("audit.level", local, config)
    _refuse_weaker_rules(operator, workspace, local, config)


def _refuse_weaker_rules(
    operator: OperatorSettings,
    workspace: WorkspaceSettings,
    local: SettingsFile,
    config: SettingsFile,
) -> None:
    for name, rules in workspace.tools.items():
        above = operator.tools.get(name, ToolRules())
        if rules.data_class and above.data_class and rules.data_class.rank < above.data_class.rank:
            raise _widens(f"tools.{name}.data_class", local, config)
        if rules.effect and above.effect and rules.effect.rank < above.effect.rank:
            raise _widens(f"tools.{name}.effect", local, config)


def _widens(key: str, local: SettingsFile, config: SettingsFile) -> SettingsError:
    message = f"a workspace may not widen what the operator allows; this belongs in {config.path}"
    return settings_error(message, local.path, key)


def _strictest(
    operator: Mapping[str, ToolRules], workspace: Mapping[str, ToolRules]
) -> dict[str, ToolRules]:
    joined = dict(operator)
    for name, rules in workspace.items():
        above = joined.get(name, ToolRules())
        joined[name] = ToolRules(
            data_class=rules.data_class or above.data_class,
            effect=rules.effect or above.effect,
            requires_admin=rules.requires_admin or above.requires_admin,
        )
    return joined
