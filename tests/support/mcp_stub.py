"""MCP servers that do what a script says: child processes, and on loopback by HTTP."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from toolseam import Host
from toolseam_plugins.mcp import mounts
from toolseam_plugins.mcp._client_listing import Definition, define

HEAD = """\
import json
import os
import sys
import time

LOG, TOOLS = json.load(open(sys.argv[1]))
listings = 0


def send(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()


def reply(number, result):
    send({"jsonrpc": "2.0", "id": number, "result": result})


def fault(number, code, text, data=None):
    error = {"code": code, "message": text, "data": data}
    send({"jsonrpc": "2.0", "id": number, "error": error})


def text(number, words, **more):
    reply(number, {"content": [{"type": "text", "text": words}], **more})


def initialize(number, params):
    reply(number, {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "stub", "version": "1"},
    })


def tools_list(number, params):
    reply(number, {"tools": TOOLS})


def tools_call(number, name, arguments, params):
    text(number, f"{name}: {json.dumps(arguments)}")


def other(message):
    pass


"""
TAIL = """

with open(LOG, "a") as log:
    while line := sys.stdin.readline():
        message = json.loads(line)
        log.write(line)
        log.flush()
        method, number, params = (message.get(k) for k in ("method", "id", "params"))
        if method == "initialize":
            initialize(number, params)
        elif method == "tools/list":
            listings += 1
            tools_list(number, params or {})
        elif method == "tools/call":
            tools_call(number, params["name"], params["arguments"], params)
        else:
            other(message)
"""


def tool(name: str = "find", **more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": f"Do {name}.", "inputSchema": schema, **more}


@attrs.frozen
class Stub:
    """A server's script, and what it received."""

    folder: Path
    tools: Sequence[Any]

    @property
    def said(self) -> dict[str, Any]:
        """The keys of `[mounts.<name>]` that start it."""
        files = ("server.py", "given.json")
        return {"command": sys.executable, "args": [str(self.folder / name) for name in files]}

    @property
    def received(self) -> list[dict[str, Any]]:
        """Every message that it got, in order."""
        log = self.folder / "received.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def calls(self) -> list[dict[str, Any]]:
        """Return the parameters of every call that it got."""
        return [each["params"] for each in self.received if each.get("method") == "tools/call"]


def stub(folder: Path, code: str = "", tools: Sequence[Any] | None = None) -> Stub:
    """Write a server that lists `tools`; `code` may define `tools_list`, `tools_call` and so on."""
    folder.mkdir(exist_ok=True)
    offered = [tool()] if tools is None else tools
    (folder / "server.py").write_text(HEAD + code + TAIL)
    given = [str(folder / "received.jsonl"), list(offered)]
    (folder / "given.json").write_text(json.dumps(given))
    return Stub(folder, offered)


def pin(raw: Any) -> str:
    """Return the digest under which an operator declares a tool."""
    definition = define(raw)
    assert isinstance(definition, Definition)
    return definition.sha256


def declared(*tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Declare tools as harmless readers, by the definitions given."""
    open_ = {
        "enabled": True,
        "effect": "read_only",
        "data_class": "public_content",
        "requires_admin": False,
    }
    return {each["name"]: {**open_, "sha256": pin(each), **more} for each in tools}


def mounted(said: Mapping[str, Any], **settings: Any) -> Host:
    """Return a host that mounts what `said` names."""
    return Host(plugins=[mounts], settings={"mounts": dict(said), **settings})
