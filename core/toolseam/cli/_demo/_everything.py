"""A host that offers every builtin in the demo's workspace, and one call of each.

The operator who allows all of it is made up for the demo: his file lies in a folder of its own. The
site is served on loopback while the host is open, so that there is something to probe.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Actor, Host, Zone
from toolseam._trust import trust_workspace
from toolseam.cli._demo._questions import QUESTIONS, SITE, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from toolseam import Session, Step

_ADDRESS = "postgresql://site:made-up-Hq72@db.museum.example/site"
_ADMIN = Actor("ada", {"admin"})
_OPERATOR = """\
zone = "local"
enable = [{enabled}]

[tables]
allow = ["*"]

[plugins.toolseam.hosts."127.0.0.1"]
private = true
zone = "local"
ports = [{port}]
"""


@attrs.frozen
class Everything:
    """An open host with all builtins, the operator's session, and what they stand on.

    `site` is the address that is served, `state` the folder in which the index lies, `workspace`
    the settings of the builtins.
    """

    host: Host
    session: Session
    site: str
    state: Path
    workspace: Any

    def arguments(self, group: str, tool: str) -> dict[str, Any]:
        """Return the arguments of the question to a tool."""
        asked = json.dumps(QUESTIONS[group][tool]).replace(SITE, self.site)
        found: dict[str, Any] = json.loads(asked)
        return found

    def ask(self, group: str, tool: str) -> Answered:
        """Call a tool with its question; a write is previewed and approved."""
        arguments = self.arguments(group, tool)
        preview = self.session.preview(tool, arguments) if group == "editing" else None
        approval = None if preview is None else self.host.approve(preview, actor=_ADMIN)
        _, step = self.session.call_wire(tool, arguments, approval=approval)
        lines = () if preview is None else preview.lines
        return Answered(group, tool, arguments, lines, step)


@attrs.frozen
class Answered:
    """One call: what was asked, what a write's preview said, and the step that came of it."""

    group: str
    tool: str
    arguments: dict[str, Any]
    preview: tuple[str, ...]
    step: Step


@contextmanager
def everything(folder: Path) -> Generator[Everything]:
    """Open a host in the demo's workspace that offers every builtin to one admin."""
    from toolseam.cli._index import workspace_of
    from toolseam_builtin._index import build_index

    with (
        tempfile.TemporaryDirectory(prefix="toolseam-operator-") as own,
        _variables({VARIABLE: _ADDRESS, "XDG_STATE_HOME": own}),
        _served() as port,
    ):
        config = Path(own) / "config.toml"
        off = [*QUESTIONS["editing"], "get_env_raw", "get_python_info_raw", "list_users_raw"]
        enabled = ", ".join(f'"{name}"' for name in off)
        config.write_text(_OPERATOR.format(enabled=enabled, port=port), encoding="utf-8")
        trust_workspace(folder, config=config)
        with Host.load(folder, operator_file=config) as host:
            workspace = workspace_of(host)
            if workspace is not None:
                build_index(workspace)
            session = host.session(actor=_ADMIN, zone=Zone.LOCAL)
            site = f"http://127.0.0.1:{port}"
            yield Everything(host, session, site, Path(own), workspace)


def questions() -> Iterator[tuple[str, str]]:
    """Give each tool with its group, in the order in which they are told."""
    for group, tools in QUESTIONS.items():
        for tool in tools:
            yield group, tool


@contextmanager
def _variables(made_up: Mapping[str, str]) -> Generator[None]:
    """Set variables of the environment; the state folder is one that goes with the demo."""
    before = {name: os.environ.get(name) for name in made_up}
    os.environ.update(made_up)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


class _Site(BaseHTTPRequestHandler):
    """Answers as the museum's site does when it is asked how it is."""

    def do_GET(self) -> None:
        """Answer."""
        body = b'{"ok": true}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base names it so
        """Write nothing beside the transcript."""


@contextmanager
def _served() -> Generator[int]:
    """Serve the site on a free port of loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
