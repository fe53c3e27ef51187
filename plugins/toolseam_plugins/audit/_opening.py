"""From the settings to an open store, or to one that is only read."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from toolseam.runs import Privacy
from toolseam_plugins.audit._database import NOTHING, AuditError, Unreachable
from toolseam_plugins.audit._retention import mark_interrupted
from toolseam_plugins.audit._seal import Seal
from toolseam_plugins.audit._store import AuditStore
from toolseam_plugins.audit._writer import Writer

if TYPE_CHECKING:
    from toolseam._settings import Settings
    from toolseam_plugins.audit._database import Database

_FILE = "sqlite:///"
_SERVERS = ("postgresql://", "postgres://", "postgresql+psycopg://")


def open_store(settings: Settings) -> AuditStore:
    """Return the store that the settings name, with what others left unfinished marked.

    Raises `AuditError` for what is no store of ours, cannot be kept private, or cannot be reached.
    """
    if find_spec("cryptography") is None:
        raise AuditError("The audit needs the extra `audit`: pip install 'toolseam[audit]'")
    audit = settings.audit
    writer = Writer(partial(connect, settings))
    level, seal = Privacy.strictest(audit.level), Seal(audit.key_env)
    store = AuditStore(writer, level, seal, audit.retention_days)
    try:
        writer.now(mark_interrupted)
        writer.now(store.purge_chunk)
    except Unreachable as fault:
        writer.close()
        raise AuditError(f"The audit store cannot be written ({fault}).") from None
    return store


def connect(settings: Settings, name: str = "") -> Database:
    """Connect to the database that the settings name; `name` is that of a store that writes.

    Without a name nothing is made.

    Raises `AuditError`.
    """
    where = settings.audit.database
    if where is not None and where.startswith(_SERVERS):
        from toolseam_plugins.audit._postgres import PostgresDatabase

        return PostgresDatabase(f"postgresql://{where.partition('://')[2]}", name)
    from toolseam_plugins.audit._sqlite import SqliteDatabase, made_private, make_file

    file = _file(where, settings.folder)
    if not os.path.lexists(file):
        if not name:
            raise AuditError(NOTHING)
        make_file(made_private(file, settings.folder))
    made_private(file, settings.folder)
    return SqliteDatabase(file, name)


def _file(where: str | None, folder: Path | None) -> Path:
    from toolseam_plugins.audit._sqlite import default_file

    if where is None:
        return default_file(folder)
    file = Path(where.removeprefix(_FILE))
    if not where.startswith(_FILE) or not file.is_absolute():
        message = "[audit] database: expected sqlite:////an/absolute/path or postgresql://…"
        raise AuditError(message)
    return file
