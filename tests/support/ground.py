"""A workspace with one secret at every door, a host that offers everything in it, and its ears."""

from __future__ import annotations

import base64
import gzip
import json
import os
import sqlite3
from contextlib import ExitStack, closing
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from support.databases import everything
from support.dist_info import write_dist
from support.doors import ENVIRONMENT, FILES, PAGE, TABLES, WORKSPACE
from support.logs import logged
from support.tools import plugin
from support.web import Server, page, serving
from toolseam import Actor, Host, ToolError, Zone, encode_result
from toolseam._steps import step_json
from toolseam._trust import trust_workspace
from toolseam.testing import Canary, canary
from toolseam_builtin._index import build_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from toolseam import Approval, ToolResult, ToolSpec

ADMIN, BOB = Actor("ada", {"admin"}), Actor("bob", {"support"})
REFUSALS = {"not_found", "permission_denied", "unavailable", "invalid_arguments", "conflict"}
DIGITS = "23456789"
"""In no name of the workspace: a guess is as like a shown name with one as with another."""
SITE, ELSEWHERE = "{site}", "{elsewhere}"
"""Stand for the two addresses that are served: one gives a page, the other leads on."""

EXAMPLES: dict[str, dict[str, Any]] = {
    "get_record_content": {"table": "page", "key": 1},
    "get_record_history": {"table": "page", "key": 1},
    "read_records": {"table": "page"},
    "count_records": {"table": "page", "group_by": "title"},
    "search_records": {"query": "see"},
    "update_record_metadata": {"table": "page", "key": 1, "values": {"title": "Start"}},
    "set_file_alternative_text": {"file": "harbour.svg", "text": "A harbour"},
    "move_record": {"table": "page", "key": 2, "parent": 3},
    "create_record_draft": {"table": "page", "values": {"title": "New"}},
    "create_translation_draft": {"table": "page", "key": 1, "language": "de"},
    "list_tables": {},
    "get_table_schema": {"table": "page"},
    "get_json_column_schema": {"table": "page", "column": "data"},
    "validate_schema": {},
    "get_record_tree": {"table": "page"},
    "resolve_url": {"url": "/pages/1?token=1"},
    "read_file_meta": {"file": "harbour.svg"},
    "get_config": {"file": "config.yaml"},
    "get_settings": {},
    "check_config": {},
    "get_workspace_config": {},
    "resolve_template": {"name": "base.html"},
    "get_last_exception": {},
    "read_source": {"path": "settings.py", "lines": 200},
    "search_code": {"pattern": "canary", "max_results": 100},
    "list_storages": {},
    "browse_folder": {"storage": "media"},
    "search_files": {"query": "e", "storage": "media"},
    "find_missing_files": {"storage": "media"},
    "get_file_references": {"file": "harbour.svg"},
    "fetch_logs": {"limit": 50},
    "list_deprecations": {},
    "get_env": {},
    "get_python_info": {},
    "get_system_status": {},
    "list_packages": {},
    "list_middlewares": {},
    "list_scheduled_tasks": {},
    "probe_url": {"url": SITE},
    "list_users": {},
    "list_groups": {},
    "rag_query": {"question": "Where do I sign in?"},
    "rag_fetch_source": {"source_id": "docs/guide.md"},
}
"""A question for each builtin but those that are meant to show what is there unmasked."""

WRITERS = (
    *("update_record_metadata", "set_file_alternative_text", "move_record"),
    *("create_record_draft", "create_translation_draft"),
)
SLOW = (
    *("resolve_url", "list_middlewares", "list_scheduled_tasks", "get_system_status"),
    "list_packages",
)
"""These start a process, or look at the machine or all that is installed."""

_OPERATOR = """\
enable = [{enabled}]
[tables]
allow = ["*"]
[plugins.toolseam.hosts."127.0.0.1"]
private = true
zone = "local"
ports = [{ports}]
"""


@cache
def builtins() -> dict[str, ToolSpec]:
    """Return what each builtin says of itself, by name."""
    points = entry_points(group="toolseam.tools")
    return {
        point.name: import_module(point.value).tool_spec()
        for point in points
        if point.value.startswith("toolseam_builtin.")
    }


@attrs.frozen
class Ground:
    """The workspace, the host in it, and the secret; `call` holds all that leaves against it."""

    folder: Path
    host: Host
    secret: Canary
    site: Server
    elsewhere: Server

    def filled(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Put the addresses that are served into arguments."""
        text = json.dumps(arguments)
        for word, server in ((SITE, self.site), (ELSEWHERE, self.elsewhere)):
            text = text.replace(word, f"http://127.0.0.1:{server.port}/")
        filled: dict[str, Any] = json.loads(text)
        return filled

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        *,
        actor: Actor | None = ADMIN,
        zone: Zone = Zone.LOCAL,
        approval: Approval | None = None,
    ) -> ToolResult:
        """Call a tool on the wire, and hold all that left against the secret."""
        session = self.host.session(actor=actor, zone=zone)
        with logged() as records:
            text, step = session.call_wire(name, self.filled(arguments), approval=approval)
        result = step.result
        assert result is not None
        told = (text, everything(result), repr(step), json.dumps(step_json(step)), *records)
        assert not self.leaks(*told, encode_result(result)), (name, arguments, text)
        return result

    def preview(self, name: str, arguments: dict[str, Any]) -> tuple[str, ...]:
        """Preview a write, and hold what is said of it, or why not, against the secret."""
        try:
            lines = self.host.preview(name, arguments, actor=ADMIN).lines
        except ToolError as failure:
            lines = (str(failure), repr(failure.metadata))
        assert not self.leaks(*lines), (name, arguments, lines)
        return lines

    def leaks(self, *outputs: str | bytes) -> bool:
        """Tell whether the secret, or eight of its digits, are in any of the outputs."""
        digits = self.secret.text.rpartition("-")[2]
        parts = {digits[start : start + 8] for start in range(len(digits) - 7)}
        texts = [o if isinstance(o, str) else o.decode() for o in outputs]
        return self.secret.is_in(*outputs) or any(part in text for text in texts for part in parts)


def explode(arguments: object) -> None:
    """Fail as a tool of somebody else's may, with all it knows in the text of the exception."""
    raise ConnectionError(f"postgresql://app:{os.environ['SHOP_PASSWORD']}@db/shop")


def write_ground(base: Path, secret: Canary) -> Path:
    """Write the workspace, and what lies outside of it, below a folder; return the workspace."""
    folder, outside = base / "shop", base / "outside"
    basic = base64.b64encode(f"app:{secret.text}".encode()).decode()
    for name, text in {**FILES, "toolseam.toml": WORKSPACE}.items():
        file = folder / name.replace("CAN", secret.text)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("CAN", secret.text).replace("BASIC", basic))
    log = FILES["logs/app.log"].replace("CAN", secret.text)
    (folder / "logs" / "app.log.1.gz").write_bytes(gzip.compress(log.encode()))
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{secret.text}\n")
    for place in (folder, folder / "media", folder / "templates", folder / "docs"):
        os.link(outside / "secret.txt", place / "linked.txt")
        (place / "out").symlink_to(outside)
        (place / "out.txt").symlink_to(outside / "secret.txt")
    with closing(sqlite3.connect(folder / "app.db")) as connection:
        connection.executescript(TABLES.replace("CAN", secret.text))
    info = write_dist(base / "lib", "acme_shop")
    with (info / "METADATA").open("a") as about:
        about.write(f"Summary: Shops at https://app:{secret.text}@host/x\n")
    return folder


@pytest.fixture
def ground(planted: Ground, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """The workspace for all tests of a module, with the state folder in which its index lies."""
    monkeypatch.setenv("XDG_STATE_HOME", str(planted.folder.parent / "state"))
    return planted


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The workspace for all tests of a module."""
    from toolseam.cli._index import workspace_of

    base, secret = tmp_path_factory.mktemp("ground"), canary()
    while secret.text[-1] not in DIGITS:
        secret = canary()
    folder, operator = write_ground(base, secret), base / "config.toml"
    (base / ".netrc").write_text(f"machine 127.0.0.1 login app password {secret.text}\n")
    cookie = f"Set-Cookie: sessionid={secret.text}; Path=/"
    body = PAGE.replace("CAN", secret.text).encode()
    leads = f"Location: /login?token={secret.text}#{secret.text}"
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.syspath_prepend(base / "lib")
        patch.setenv("HOME", str(base))
        patch.setenv("XDG_STATE_HOME", str(base / "state"))
        for name, text in ENVIRONMENT.items():
            patch.setenv(name, text.replace("CAN", secret.text))
        site = stack.enter_context(serving(page(body, cookie, kind="application/json")))
        elsewhere = stack.enter_context(serving(page(body, leads, cookie, status="302 Found")))
        enabled = ", ".join(f'"{name}"' for name in WRITERS)
        ports = f"{site.port}, {elsewhere.port}"
        operator.write_text(_OPERATOR.format(enabled=enabled, ports=ports))
        trust_workspace(folder, config=operator)
        broken = plugin(explode, name="explode")
        host = stack.enter_context(Host.load(folder, operator_file=operator, tools=[broken]))
        workspace = workspace_of(host)
        assert workspace is not None
        build_index(workspace)
        yield Ground(folder, host, secret, site, elsewhere)
