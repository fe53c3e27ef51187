"""The keys of the two settings files, one attrs class each; the reference page is made from them.

A key's line on that page and its range stand in the metadata of its field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from toolseam._levels import DataClass, Effect, Zone
from toolseam._settings_structure import Variables, between, shaped, wrong_value


def _key(default: Any, text: str, **bounds: float) -> Any:  # noqa: ANN401 - as attrs.field
    """Describe one key: `text` is its line on the reference page, `ge` and `le` its range."""
    validator = between(**bounds) if bounds else None
    notes = {"text": text, **bounds}
    if callable(default):
        return attrs.field(factory=default, validator=validator, metadata=notes)
    return attrs.field(default=default, validator=validator, metadata=notes)


@attrs.frozen
class PluginSet:
    """`[sets.<name>]`: a named selection, loaded with `Host.load(set="<name>")`."""

    allow: tuple[str, ...] | None = _key(None, "Only these distributions or tools.")
    block: tuple[str, ...] = _key((), "Never these, besides those of `block`.")
    prefer: Mapping[str, str] = _key(dict, "Tool to distribution, before those of `prefer`.")


@attrs.frozen
class Groups:
    """`[groups]`: whole groups of tools."""

    disable: tuple[str, ...] = _key((), "Groups of which no tool is offered.")


@attrs.frozen
class ToolRules:
    """`[tools.<name>]`: rules of one tool, which may only be made stricter."""

    data_class: DataClass | None = _key(None, "Raises the tool's data class.")
    effect: Effect | None = _key(None, "Raises the tool's effect.")
    requires_admin: bool = _key(False, "True: only admins may call it.")


@attrs.frozen
class DeniedTables:
    """`[tables]`: database tables that tools may not read; a workspace can say no more."""

    deny: tuple[str, ...] = _key((), "Tables that no tool reads.")


@attrs.frozen
class Tables(DeniedTables):
    """`[tables]` of the operator; deny wins over allow."""

    allow: tuple[str, ...] = _key((), 'Readable tables; `"*"` is all that nobody denies.')


@attrs.frozen
class Limits:
    """`[limits]`: bounds of contract §5 and §7, which settings may lower, never switch off."""

    timeout_s: float = _key(60.0, "Seconds that `acall` waits.", ge=0.001, le=86_400)
    threads: int = _key(8, "Worker threads for sync tools.", ge=1, le=1_000)
    waiting: int = _key(64, "Calls that may wait for a thread.", ge=0, le=100_000)
    content_bytes: int = _key(50_000, "Bytes of content.", ge=200, le=50_000)
    message_bytes: int = _key(2_000, "Bytes of a failure message.", ge=100, le=2_000)
    artifact_bytes: int = _key(50_000, "Bytes of all artifacts of a call.", ge=200, le=50_000)
    per_minute: Mapping[str, int] = _key(
        dict, "Calls of one actor in a minute, by tool, `group:<name>` or `*`; at least 1."
    )
    data_bytes: int = _key(50_000, "Bytes of data, and of metadata.", ge=200, le=50_000)


@attrs.frozen
class ApprovalRules:
    """`[approval]`: who may decide, beside the rules that always hold."""

    four_eyes: bool = _key(False, "True: nobody approves a call of his own run.")


@attrs.frozen
class AuditLevel:
    """`[audit]` of a workspace, which may only be stricter than the operator's."""

    level: str = _key(
        "metadata",
        "What is stored of content: `none`, `metadata`, `redacted` or `full`; any other word is"
        " `metadata`.",
    )


@attrs.frozen
class Audit(AuditLevel):
    """`[audit]` of the operator; the plugin `audit` keeps it once `trust` names it."""

    enabled: bool = _key(True, "False: nothing is stored, though the plugin is named.")
    database: str | None = _key(
        None, "`sqlite:///` and a path, or `postgresql://`; absent: a file in the state folder."
    )
    retention_days: int = _key(30, "Days after which a run is purged.", ge=1, le=36_500)
    key_env: str | None = _key(
        None, "The variable that holds the sealing key, 32 bytes in base64; absent: a key file."
    )


@attrs.frozen
class ProviderSettings:
    """`[providers.<name>]`: where `--provider <name>:MODEL` leads."""

    kind: str | None = _key(None, "Whose words it speaks; absent: the name itself.")
    model: str | None = _key(None, "The model where `:MODEL` is not written.")
    base_url: str | None = _key(None, "Instead of the maker's own address.")
    zone: Zone = _key(Zone.EXTERNAL_GLOBAL, "Where it stands; it gets data classes up to that.")
    api_key_env: str | None = _key(
        None, "The variable with the key; absent: the maker's usual one, and none for a `base_url`."
    )
    timeout_s: float = _key(120.0, "Seconds that an answer may take.", ge=0.1, le=3_600)
    options: Mapping[str, Any] = _key(dict, "Options of the kind's own.")


@attrs.frozen
class MountedTool:
    """`[mounts.<name>.tools.<remote name>]`: what the operator says of one tool of a mount.

    The server's own word for any of it is shown, and never believed.
    """

    sha256: str | None = attrs.field(
        default=None,
        validator=shaped("[0-9a-f]{64}", "64 hexadecimal digits, as `toolseam mount` prints them"),
        metadata={
            "text": "The definition that is meant, as `toolseam mount <name>` prints it; needed."
        },
    )
    enabled: bool = _key(False, "True: it is offered.")
    effect: Effect = _key(Effect.UNKNOWN, "What it does to the world; all but reading is approved.")
    data_class: DataClass = _key(DataClass.SECRET_ADJACENT, "How delicate its answers are.")
    requires_admin: bool = _key(True, "False: not only admins may call it.")
    requires_approval: bool = _key(False, "True: a reading tool needs approval too.")


@attrs.frozen
class Mount:
    """`[mounts.<name>]`: a server of the Model Context Protocol whose tools are mounted."""

    command: str | None = _key(None, "The program that is started, or else `url`.")
    args: tuple[str, ...] = _key((), "Its arguments.")
    env: Variables = _key(
        Variables, "What it gets besides `PATH`, `HOME` and `LANG`; the value is of this process."
    )
    url: str | None = _key(None, "The address of a server that is running.")
    token_env: str | None = _key(None, "The variable with the bearer token for `url`.")
    private: bool = _key(
        False, "True: `url` may lead to a private network; this machine's own names may at once."
    )
    authorities: str | None = _key(None, "A PEM file of authorities besides the system's.")
    zone: Zone = _key(Zone.EXTERNAL_GLOBAL, "Where arguments go; it gets data classes up to that.")
    timeout_s: float = _key(60.0, "Seconds that a call may take.", ge=0.1, le=3_600)
    tools: Mapping[str, MountedTool] = _key(dict, "What its tools are, by their names there.")

    def __attrs_post_init__(self) -> None:
        """Hold the keys to one of the two ways there are."""
        if (self.command is None) == (self.url is None):
            raise wrong_value("`command` or `url`, one of them")
        if self.url is None and (self.token_env or self.private or self.authorities):
            raise wrong_value("`url`: `token_env`, `private` and `authorities` are for one")
        if self.command is None and (self.args or self.env):
            raise wrong_value("`command`: `args` and `env` are for one")


@attrs.frozen
class Ask:
    """`[ask]`: whom `toolseam ask` asks, and as whom; a model makes the calls, not the person."""

    provider: str | None = _key(None, "`NAME:MODEL`, where `--provider` is not given.")
    actor: str | None = _key(None, "Who acts; absent: the account's own name.")
    roles: tuple[str, ...] = _key((), "Its roles, say `admin`; none unless they are named here.")


@attrs.frozen
class ServeMcp:
    """`[mcp]`: as whom `toolseam serve mcp` acts; a model makes the calls, not the person."""

    actor: str | None = _key(None, "Who acts; absent: the account's own name.")
    roles: tuple[str, ...] = _key((), "Its roles, say `admin`; none unless they are named here.")
    structured: tuple[str, ...] = _key(
        (), "Tools whose declared `data` goes to the client as `structuredContent`."
    )


@attrs.frozen
class ProcessLimits:
    """`[process]`: what a process may use in which the bodies of tools run; see `runs_in`."""

    workers: int = _key(2, "Processes at once, those in sandboxes among them.", ge=1, le=256)
    memory_mb: int = _key(512, "Address space of one.", ge=64, le=1_048_576)
    cpu_s: int = _key(60, "Seconds of processor time that one call may use.", ge=1, le=86_400)
    file_mb: int = _key(64, "The largest file that it may write.", ge=0, le=1_048_576)
    open_files: int = _key(256, "Files that it may have open.", ge=32, le=65_536)
    calls: int = _key(1_000, "Calls after which it is replaced.", ge=1, le=1_000_000)
    idle_s: int = _key(
        300, "Seconds without a call after which it ends; 0: never.", ge=0, le=86_400
    )
    env: Variables = _key(
        Variables, "What it gets besides `PATH`, `HOME` and `LANG`; the value is of this process."
    )


@attrs.frozen
class Grants:
    """`[sandbox.<tool>]` or `[sandbox."group:<name>"]`: what is let into a tool's sandbox."""

    network: bool = _key(False, "True: it may use the network.")
    read: tuple[str, ...] = _key((), "Absolute paths that it may read.")
    write: tuple[str, ...] = _key((), "Absolute paths that it may change.")

    def __attrs_post_init__(self) -> None:
        """Hold the paths to whole ones."""
        for path in (*self.read, *self.write):
            if not path.startswith("/"):
                raise wrong_value("absolute paths")


@attrs.frozen
class ExecutorSettings:
    """`[executors.<name>]`: an engine that carries bodies, made by a host plugin."""

    kind: str | None = _key(None, "Who makes it; absent: the name itself.")
    address: str | None = _key(
        None, "Where it is; absent: one of this machine's own, started with the host's first call."
    )
    workers: int = _key(2, "Processes, where it is started here.", ge=1, le=256)
    threads: int = _key(4, "Threads of each, where it is started here.", ge=1, le=256)
    options: Mapping[str, Any] = _key(dict, "Options of the kind's own.")


@attrs.frozen
class CommonSettings:
    """Keys of both files; what the workspace's says may only narrow the operator's."""

    block: tuple[str, ...] = _key((), "Distributions or tools that are never imported.")
    strict: bool = _key(False, "True: a plugin that cannot be loaded stops the host's start.")
    disable: tuple[str, ...] = _key((), "Tools that are not offered.")
    groups: Groups = _key(Groups, "Groups of tools.")
    tools: Mapping[str, ToolRules] = _key(dict, "Stricter rules by tool.")
    limits: Limits = _key(Limits, "Bounds.")
    on_contract_error: Literal["continue", "stop"] = _key(
        "continue", "`stop` ends the run in which a tool broke the contract."
    )
    enforce: Literal["enforce", "observe"] = _key(
        "enforce", "`observe` records what the data-class rule would refuse, and offers it."
    )
    approval: ApprovalRules = _key(ApprovalRules, "Approval.")


@attrs.frozen
class OperatorSettings(CommonSettings):
    """`config.toml` of the operator: everything that decides."""

    trust: tuple[str, ...] = _key(
        (), 'Distributions or entry points that may be imported; path entries; `"*"` is all.'
    )
    allow: tuple[str, ...] | None = _key(None, "Only these distributions or tools; absent: all.")
    prefer: Mapping[str, str] = _key(dict, "Tool to distribution, where several offer it.")
    sets: Mapping[str, PluginSet] = _key(dict, "Named selections.")
    enable: tuple[str, ...] = _key((), "Tools that are off by default (every write) and wanted.")
    tables: Tables = _key(Tables, "Database tables.")
    audit: Audit = _key(Audit, "The audit store.")
    zone: Zone = _key(Zone.EXTERNAL_GLOBAL, "Where content goes if nobody says otherwise.")
    providers: Mapping[str, ProviderSettings] = _key(dict, "Who can be asked, by name.")
    ask: Ask = _key(Ask, "What `toolseam ask` acts as.")
    mcp: ServeMcp = _key(ServeMcp, "What `toolseam serve mcp` acts as, and says besides.")
    mounts: Mapping[str, Mount] = attrs.field(
        factory=dict[str, Mount],
        validator=shaped("[a-z][a-z0-9]{0,15}", "names of at most 16 small letters and digits"),
        metadata={"text": "MCP servers whose tools are mounted, by name."},
    )
    runs_in: Mapping[str, str] = _key(
        dict,
        "Where bodies run, by tool, else `group:<name>`, else `class:<data class>`, else `*`:"
        " `inline`, `thread`, `process`, `sandbox` or one of `executors`.",
    )
    process: ProcessLimits = _key(ProcessLimits, "Bounds of processes that run bodies.")
    sandbox: Mapping[str, Grants] = _key(dict, "What sandboxes let in, by tool or group.")
    executors: Mapping[str, ExecutorSettings] = attrs.field(
        factory=dict[str, ExecutorSettings],
        validator=shaped("[a-z][a-z0-9_]{0,31}", "names of small letters, digits and _"),
        metadata={"text": "Engines that carry bodies, by name."},
    )
    plugins: Mapping[str, Mapping[str, Any]] = _key(dict, "A plugin's settings, by distribution.")
    secrets: Mapping[str, str] = _key(dict, "A secret's name to its environment variable.")
    trusted_workspaces: Mapping[str, str] = _key(
        dict, "Folder to SHA-256 of its workspace file; written by `toolseam trust`."
    )


@attrs.frozen
class WorkspaceSettings(CommonSettings):
    """`toolseam.toml`, or `[tool.toolseam]` of `pyproject.toml`: describes, and may narrow."""

    tables: DeniedTables = _key(DeniedTables, "Database tables.")
    audit: AuditLevel = _key(AuditLevel, "The audit store.")
    workspace: Mapping[str, Any] = _key(dict, "What is here: settings of the builtin tools.")
