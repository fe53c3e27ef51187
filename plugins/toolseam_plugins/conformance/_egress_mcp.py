"""MCP as a way out: all bytes that a client gets of our server, and a server of our mounts.

The client here is a few lines of JSON, no SDK: what is received is kept as it came.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from toolseam import Actor

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from toolseam_plugins.conformance._egress_traffic import Traffic

Message: TypeAlias = "dict[str, Any]"

_VERSION = "2025-06-18"
_SECONDS = 30.0
_TOKEN = "egress-proof-bearer"  # noqa: S105 - of a server on the loopback, for a moment
_ZONE = "external_global"


def mcp_sinks() -> dict[str, Callable[[Traffic], bytes]]:
    """Return the sinks of MCP: the server where its SDK is installed, and the mounts."""
    served = {} if find_spec("mcp") is None else {"mcp_stdio": _stdio, "mcp_http": _http}
    return {**served, "mcp_mount": _mount}


def _questions(traffic: Traffic) -> Iterator[Message]:
    """Ask for the list, and for every tool: as it should be, and with arguments that are wrong."""
    yield {"method": "tools/list", "params": {}}
    for name in (*traffic.names, "unknown"):
        for arguments in ({}, {"no": "such"}):
            meta = {"progressToken": f"{name} {len(arguments)}"}
            params = {"name": name, "arguments": arguments, "_meta": meta}
            yield {"method": "tools/call", "params": params}


_HELLO: Message = {
    "method": "initialize",
    "params": {
        "protocolVersion": _VERSION,
        "capabilities": {},
        "clientInfo": {"name": "egress-proof", "version": "1"},
    },
}
_READY: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def _encoded(message: Message, number: int | None = None) -> bytes:
    numbered = message if number is None else {"jsonrpc": "2.0", "id": number, **message}
    return json.dumps(numbered).encode()


# -- over standard streams ------------------------------------------------------------------------


def _stdio(traffic: Traffic) -> bytes:
    """Serve over two pipes that stand for the standard streams, and keep what comes out."""
    from toolseam_plugins.mcp import Wires, serve_stdio

    incoming, asking = os.pipe()
    hearing, outgoing = os.pipe()

    def serve() -> None:
        wires = Wires(incoming, outgoing)
        system, structured = Actor.system, traffic.names
        try:
            serve_stdio(traffic.host, actor=system, zone=_ZONE, structured=structured, wires=wires)
        finally:
            os.close(outgoing)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    try:
        heard = _asked(traffic, asking, hearing)
    finally:
        os.close(asking)
        server.join(_SECONDS)
    heard += _rest(hearing)
    for descriptor in (incoming, hearing):
        os.close(descriptor)
    return heard


def _asked(traffic: Traffic, asking: int, hearing: int) -> bytes:
    """Ask everything, one question after the other, and return every byte of the answers."""
    heard = b""
    for number, message in enumerate((_HELLO, *_questions(traffic))):
        os.write(asking, _encoded(message, number) + b"\n")
        answer = f'"id":{number},'.encode()
        until = monotonic() + _SECONDS
        while answer not in heard.replace(b" ", b"").replace(b"}", b","):
            if not select.select([hearing], [], [], until - monotonic())[0]:
                raise TimeoutError("the server over standard streams did not answer")
            heard += os.read(hearing, 65_536)
        if number == 0:
            os.write(asking, _encoded(_READY) + b"\n")
    return heard


def _rest(hearing: int) -> bytes:
    heard = b""
    while piece := os.read(hearing, 65_536):
        heard += piece
    return heard


# -- over HTTP ------------------------------------------------------------------------------------


def _http(traffic: Traffic) -> bytes:
    """Serve over HTTP on the loopback, and keep every byte of every response."""
    heard: list[bytes] = []
    with _serving(traffic) as port:
        hello = _posted(port, _encoded(_HELLO, 0))
        heard.append(hello)
        more = {"mcp-protocol-version": _VERSION, "mcp-session-id": _session_in(hello)}
        heard.append(_posted(port, _encoded(_READY), more))
        for number, message in enumerate(_questions(traffic), 1):
            heard.append(_posted(port, _encoded(message, number), more))
    return b"\n".join(heard)


def _session_in(response: bytes) -> str:
    for line in response.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"mcp-session-id":
            return value.strip().decode()
    raise AssertionError("the server over HTTP began no session")


@contextlib.contextmanager
def _serving(traffic: Traffic) -> Generator[int]:
    import uvicorn

    from toolseam_plugins.mcp import asgi

    app = asgi(traffic.host, token=_TOKEN, actor=Actor.system, zone=_ZONE, structured=traffic.names)
    taken = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([taken],), daemon=True)
    thread.start()
    try:
        yield cast("int", taken.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(_SECONDS)
        taken.close()


def _posted(port: int, body: bytes, more: dict[str, str] | None = None) -> bytes:
    """Post a message on a connection of its own and return all that comes back on it."""
    headers = {
        "host": f"127.0.0.1:{port}",
        "authorization": f"Bearer {_TOKEN}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "content-length": str(len(body)),
        "connection": "close",
        **(more or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    heard = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_SECONDS) as connection:
        connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        while piece := connection.recv(65_536):
            heard += piece
    return heard


# -- mounts: what a remote server gets ------------------------------------------------------------

_MOUNT, _REMOTE = "recorder", "look"
_TOOL: Message = {
    "name": _REMOTE,
    "description": "Looks.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}
_SERVER = """
import json, os, sys

kept, planted = sys.argv[1:]
with open(planted, encoding="utf-8") as file:
    told = json.load(file)
with open(kept, "ab", buffering=0) as record:
    record.write(json.dumps(dict(os.environ)).encode())
    for line in sys.stdin.buffer:
        record.write(line)
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer = {}
        if asked["method"] == "initialize":
            version = asked["params"]["protocolVersion"]
            info = {"name": "recorder", "version": "1"}
            answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        elif asked["method"] == "tools/list":
            answer = {"tools": [told["tool"]]}
        elif asked["method"] == "tools/call":
            failed = asked["params"]["arguments"].get("word") == "fail"
            answer = {"content": [{"type": "text", "text": told["told"]}], "isError": failed}
            answer["structuredContent"] = {"data": told["data"]}
            answer["_meta"] = {"metadata": told["metadata"]}
        answer = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        sys.stdout.write(answer + "\\n")
        sys.stdout.flush()
"""


def _mount(traffic: Traffic) -> bytes:
    """Mount a server that keeps all it gets, its environment too, and answers with canaries.

    What the provider of the mounted tools is told comes with it.
    """
    from toolseam_plugins.mcp import mounts

    with tempfile.TemporaryDirectory(prefix="toolseam-egress-") as folder:
        kept, told = Path(folder, "kept"), Path(folder, "told")
        said: Message = {place: traffic.planted[place].text for place in ("data", "metadata")}
        said |= {"told": traffic.told.text, "tool": _TOOL}
        told.write_text(json.dumps(said), encoding="utf-8")
        command = {"command": sys.executable, "args": ["-c", _SERVER, str(kept), str(told)]}
        mount = {**command, "tools": {_REMOTE: _declared()}}
        mounted = traffic.elsewhere(mounts, mounts={_MOUNT: mount})
        try:
            session = mounted.session()
            wires = [session.call_wire(name)[0] for name in mounted.names]
            for word in ("see", "fail"):
                wire = session.call_wire(f"{_MOUNT}__{_REMOTE}", {"word": word})[0]
                wires.append(wire)
                if traffic.told.text not in wire:
                    raise AssertionError(f"what the mounted tool says was not heard: {wire}")
        finally:
            mounted.host.close()
        return "\n".join(wires).encode() + kept.read_bytes()


def _declared() -> dict[str, Any]:
    """Declare the tool of the server by the definition that it has."""
    from toolseam_plugins.mcp._client_listing import Definition, define

    tool = define(_TOOL)
    if not isinstance(tool, Definition):
        raise TypeError(tool)
    return {
        "sha256": tool.sha256,
        "enabled": True,
        "effect": "read_only",
        "data_class": "public_content",
        "requires_admin": False,
    }
