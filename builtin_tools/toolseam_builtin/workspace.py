"""The workspace: what the builtin tools look at, as its `[workspace]` table describes it.

This is the settings class of the builtins. The workspace file describes, the operator decides:
`folder`, `trusted`, `tables_allow` and `tables_deny` are facts that the host sets, a field whose
metadata says `operator` is taken from the operator's file alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import attrs

from toolseam import Arg, DataClass, ErrorCode, ToolError, Zone

if TYPE_CHECKING:
    from pathlib import Path

    from toolseam import ToolSpec


@attrs.frozen
class TableSettings:
    """`[workspace.tables.<name>]`: what a table's columns mean."""

    label: Annotated[str | None, Arg("The column that names a record to people.")] = None
    parent: Annotated[str | None, Arg("The column that refers to the parent record.")] = None
    position: Annotated[str | None, Arg("The column that orders records below a parent.")] = None
    draft: Annotated[str | None, Arg("The column that marks a draft.")] = None
    language: Annotated[str | None, Arg("The column that holds the language.")] = None
    translation_of: Annotated[
        str | None, Arg("The column by which a translation refers to its original.")
    ] = None
    history: Annotated[str | None, Arg("The table that holds the record's history.")] = None
    editable: Annotated[tuple[str, ...], Arg("Columns that writers may change.")] = ()
    files: Annotated[tuple[str, ...], Arg("Columns that point to files.")] = ()
    alternative_text: Annotated[
        str | None, Arg("The column that describes the row's file to who cannot see it.")
    ] = None


@attrs.frozen
class AccountSettings:
    """`[workspace.accounts]`: tables of people; content and structure tools never read them."""

    users: Annotated[str | None, Arg("The table of users.")] = None
    groups: Annotated[str | None, Arg("The table of groups.")] = None


@attrs.frozen
class IndexSettings:
    """`[workspace.index]`: what the full-text index is built from."""

    folders: Annotated[tuple[str, ...], Arg("Folders of texts.")] = ()
    columns: Annotated[tuple[str, ...], Arg("Columns as `table.column`.")] = ()


@attrs.frozen
class HostSettings:
    """`[plugins.toolseam.hosts."<name>"]`: a host that may be probed; the operator's word alone."""

    zone: Annotated[Zone, Arg("Where the host stands: who sees what it is asked.")] = (
        Zone.EXTERNAL_GLOBAL
    )
    private: Annotated[bool, Arg("It may be in a private network, or this machine.")] = False
    ports: Annotated[
        tuple[int, ...], Arg("Ports that may be asked, if others than 80 for http and 443.")
    ] = ()
    authorities: Annotated[
        str | None, Arg("A PEM file of authorities that may sign the host's certificate too.")
    ] = None


def _no_tables() -> dict[str, TableSettings]:
    return {}


def _no_storages() -> dict[str, str]:
    return {}


def _no_hosts() -> dict[str, HostSettings]:
    return {}


def _fixed(pattern: str) -> str:
    """Return the part of a path before its first wildcard."""
    parts = pattern.split("/")
    free = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:free]) or "/"


def _text(path: str | os.PathLike[str]) -> str:
    return os.fspath(path)


@attrs.frozen(kw_only=True, repr=False)  # whose addresses hold passwords
class Workspace:
    """One application's database, files, sources, logs and configuration.

    Args:
        database: a path inside the folder, `sqlite:///path`, or, in a trusted workspace only, a
            `postgresql://` address. Absent means the one SQLite file in the folder.
        source_root: the folder of the sources, by default the workspace's own.
        folder: where the workspace is; paths are relative to it. Set by the host.
        state: the folder of what is made of the workspace, its index; absent means the usual one
            of whoever asks. Set by the host.
        trusted: the operator trusts this folder with this file. Set by the host.
        tables_allow: the operator's `[tables] allow`; empty lets all that is not denied pass.
        tables_deny: everybody's `[tables] deny`.
        allow_privileged_role: the operator insists on a PostgreSQL role that may do more than
            read.
        write_database: the address for the tools that edit, with a role that may write; the
            operator's word that this server is meant. Without it they write where `database` is,
            if that is a SQLite file.
        hosts: what `probe_url` may reach, by name or address; none by default.
    """

    database: Annotated[str | None, Arg("Path or address of the database.")] = None
    storages: Annotated[
        dict[str, str],
        Arg(
            "File storages by name: a folder, or in a trusted workspace an address of memory, zip,"
            " s3, gs, az or sftp. Without any, the folder is one."
        ),
    ] = attrs.field(factory=_no_storages)
    source_root: Annotated[str | None, Arg("Folder of the sources.")] = None
    logs: Annotated[tuple[str, ...], Arg("Log files, or patterns of them.")] = ()
    config_files: Annotated[tuple[str, ...], Arg("Configuration files.")] = ()
    settings_layers: Annotated[tuple[str, ...], Arg("Settings files, the weakest first.")] = ()
    templates: Annotated[tuple[str, ...], Arg("Template folders in loader order.")] = ()
    web_app: Annotated[str | None, Arg("`module:object` of the web application.")] = None
    web_routes: Annotated[
        str | None,
        Arg("`module:object` of pairs (pattern, endpoint), if the application lists no routes."),
    ] = None
    web_hosts: Annotated[
        tuple[str, ...], Arg("Names by which the web application is reached.")
    ] = ()
    scheduler: Annotated[str | None, Arg("`module:object` of the scheduler, or a file.")] = None
    index: IndexSettings = IndexSettings()
    tables: dict[str, TableSettings] = attrs.field(factory=_no_tables)
    accounts: AccountSettings = AccountSettings()

    folder: str = attrs.field(factory=os.getcwd, converter=_text)
    state: str | None = None
    trusted: bool = False
    tables_allow: tuple[str, ...] = ()
    tables_deny: tuple[str, ...] = ()
    allow_privileged_role: Annotated[
        bool, Arg("Accept a PostgreSQL role that may do more than read.")
    ] = attrs.field(default=False, metadata={"operator": True})
    write_database: Annotated[
        str | None, Arg("Address of the PostgreSQL database for the tools that edit.")
    ] = attrs.field(default=None, metadata={"operator": True})
    hosts: Annotated[dict[str, HostSettings], Arg("Hosts that may be probed, by name.")] = (
        attrs.field(factory=_no_hosts, metadata={"operator": True})
    )

    def data_class_of(self, spec: ToolSpec) -> DataClass:
        """Return the class to which the host raises a tool that reads content.

        Until the operator lists readable tables, whatever the database and the files hold counts
        as `system_diagnostics`, and so does how it is stored.
        """
        reads_content = spec.data_class is DataClass.EDITOR_CONTENT or spec.group == "structure"
        if reads_content and not self.tables_allow:
            return max(spec.data_class, DataClass.SYSTEM_DIAGNOSTICS, key=lambda each: each.rank)
        return spec.data_class

    def sandbox_needs(self, spec: ToolSpec) -> dict[str, object]:
        """Return what a tool needs of a sandbox: what the workspace names, no more.

        `network` for a database server and for hosts that may be probed; paths to `read`, the
        index too for those that ask it, and, for the tools that edit a SQLite file, the folder to
        `write`.
        """
        editing = spec.group == "editing"
        addresses = (self.database or "", (editing and self.write_database) or "")
        network = spec.name == "probe_url" or any(a.startswith("postgres") for a in addresses)
        named = (
            *(each or "" for each in (self.source_root, self.scheduler, *self.storages.values())),
            *(*self.logs, *self.config_files, *self.settings_layers, *self.templates),
        )
        folder = str(self.place)
        paths = dict.fromkeys([folder, *(_fixed(path) for path in named if path.startswith("/"))])
        apart = tuple(p for p in paths if p == folder or not p.startswith(folder + "/"))
        write = (folder,) if editing and not network else ()
        if spec.group == "rag":
            from toolseam_builtin._index._place import FILE, index_folder

            index = index_folder(self) / FILE
            apart = (*apart, str(index)) if index.exists() else apart
        return {"network": network, "read": apart, "write": write}

    @property
    def place(self) -> Path:
        """The folder as a path, links resolved."""
        from pathlib import Path  # a listing of the tools does without

        return Path(self.folder).resolve()

    @property
    def source_path(self) -> Path:
        """The folder of the sources, absolute.

        Raises `ToolError` `unavailable` if it is no folder, or if it leads out of a workspace
        that the operator has not trusted.
        """
        path = self.inside(self.source_root or ".", "source_root")
        if not path.is_dir():
            raise ToolError("workspace.source_root names no folder.", ErrorCode.UNAVAILABLE)
        return path

    def inside(self, name: str, setting: str) -> Path:
        """Return a path that a setting names, links resolved.

        Args:
            name: relative to the folder, or absolute.
            setting: the key, for the refusal.

        Raises `ToolError` `unavailable` where the path leads out of an untrusted workspace.
        """
        try:
            folder = self.place
            path = (folder / name).resolve()
        except (OSError, RuntimeError, ValueError):
            message = f"workspace.{setting} names no usable path."
            raise ToolError(message, ErrorCode.UNAVAILABLE) from None
        if not self.trusted and not path.is_relative_to(folder):
            raise ToolError(
                f"workspace.{setting} leads out of a folder that is not trusted;"
                " `toolseam trust .` allows it.",
                ErrorCode.UNAVAILABLE,
                metadata={"reason": "untrusted_workspace"},
            )
        return path

    def table_settings(self, name: str) -> TableSettings:
        """Return what the workspace says of a table, found by name whatever its case."""
        exact = self.tables.get(name)
        if exact is not None:
            return exact
        folded = name.casefold()
        found = (value for key, value in self.tables.items() if key.casefold() == folded)
        return next(found, TableSettings())
